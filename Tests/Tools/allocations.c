// SPDX-License-Identifier: MPL-2.0
// Counts what a program asks of the heap, for AllocationTests: preloaded, it prints the number of
// allocations when the program ends.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>

extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);

static atomic_long count;

void *malloc(size_t size) {
  atomic_fetch_add_explicit(&count, 1, memory_order_relaxed);
  return __libc_malloc(size);
}

void *calloc(size_t number, size_t size) {
  atomic_fetch_add_explicit(&count, 1, memory_order_relaxed);
  return __libc_calloc(number, size);
}

void *realloc(void *block, size_t size) {
  atomic_fetch_add_explicit(&count, 1, memory_order_relaxed);
  return __libc_realloc(block, size);
}

void *aligned_alloc(size_t alignment, size_t size) {
  atomic_fetch_add_explicit(&count, 1, memory_order_relaxed);
  return __libc_memalign(alignment, size);
}

int posix_memalign(void **block, size_t alignment, size_t size) {
  atomic_fetch_add_explicit(&count, 1, memory_order_relaxed);
  *block = __libc_memalign(alignment, size);
  return *block ? 0 : 12;
}

__attribute__((destructor)) static void report(void) {
  fprintf(stderr, "allocations: %ld\n", atomic_load(&count));
}
