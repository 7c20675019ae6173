// SPDX-License-Identifier: MPL-2.0
// A slow disk, for kill_streams.py: preloaded, each write() of more than a line takes half of what it is
// given, after a hundredth of a second.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <unistd.h>

ssize_t write(int file, const void *bytes, size_t count) {
  static ssize_t (*next)(int, const void *, size_t);
  if (!next) next = (ssize_t(*)(int, const void *, size_t))dlsym(RTLD_NEXT, "write");
  if (count > 100) {
    usleep(10000);
    count = (count + 1) / 2;
  }
  return next(file, bytes, count);
}
