// Macros of x265.h that Swift cannot import. No logic.
#pragma once
#include <stdint.h>
#include <x265.h>

/// x265_api_get is a macro over a versioned symbol.
static inline const x265_api *cx265_api_get(int bit_depth) { return x265_api_get(bit_depth); }
