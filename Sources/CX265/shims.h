// What Swift cannot import of x265.h: a versioned symbol, and the name of the library that has it.
#pragma once
#include <dlfcn.h>
#include <stdint.h>
#include <x265.h>

#define CX265_QUOTED(name) #name
#define CX265_TEXT(macro) CX265_QUOTED(macro)

/// The file that holds the libx265 this was compiled for.
static const char *const cx265_library_name = "libx265.so." CX265_TEXT(X265_BUILD);

typedef const x265_api *(*cx265_api_getter)(int bit_depth);

/// Loads libx265, which stays, and gives its x265_api_get; x265.h names the symbol for this use.
/// Null where it cannot be loaded: `dlerror` says why.
static inline cx265_api_getter cx265_load(void) {
  void *library = dlopen(cx265_library_name, RTLD_NOW | RTLD_LOCAL);
  return library ? (cx265_api_getter)dlsym(library, CX265_TEXT(x265_api_get)) : 0;
}
