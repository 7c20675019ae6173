// SPDX-License-Identifier: MPL-2.0

// The affinity of threads, which Swift's Glibc does not have.

#define _GNU_SOURCE
#include "CX265.h"

#ifdef __linux__
#include <sched.h>

int32_t cx265_get_affinity(int32_t thread, void *mask, size_t size) {
  return sched_getaffinity(thread, size, mask);
}

int32_t cx265_set_affinity(int32_t thread, const void *mask, size_t size) {
  return sched_setaffinity(thread, size, mask);
}
#else
int32_t cx265_get_affinity(int32_t thread, void *mask, size_t size) {
  (void)thread, (void)mask, (void)size;
  return -1;
}

int32_t cx265_set_affinity(int32_t thread, const void *mask, size_t size) {
  (void)thread, (void)mask, (void)size;
  return -1;
}
#endif
