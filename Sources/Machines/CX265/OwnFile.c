// SPDX-License-Identifier: MPL-2.0

#define _GNU_SOURCE
#include "CX265.h"

#include <dlfcn.h>

const char *cx265_own_file(void) {
  Dl_info info;
  return dladdr((const void *)&cx265_own_file, &info) ? info.dli_fname : NULL;
}
