// SPDX-License-Identifier: MPL-2.0

#include "CX265.h"

#if __has_include(<x265.h>)

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// x265.h 4.0 defines a variable that is unused here; the compiler warns about it unless the header
// is in a system folder.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-variable"
#include <x265.h>
#pragma GCC diagnostic pop

#define TEXT(macro) TEXT_OF(macro)
#define TEXT_OF(text) #text

#define FILE_NAME "libx265.so." TEXT(X265_BUILD)
// x265.h defines macros that give the getter this name.
#define GETTER "x265_api_get_" TEXT(X265_BUILD)

// x265 4.0, and builds of later sources until this was reverted, return an array of coded pictures,
// one per layer; all others return a single one.
#define RETURNS_LAYER_ARRAY \
  __builtin_types_compatible_p( \
      __typeof__(((x265_api *)0)->encoder_encode), \
      int (*)(x265_encoder *, x265_nal **, uint32_t *, x265_picture *, x265_picture **))
// The maximum number of layers in any build of x265 4.0.
#define MAX_CODED_PICTURES 2

_Static_assert(
    CX265_TYPE_AUTO == X265_TYPE_AUTO && CX265_TYPE_IDR == X265_TYPE_IDR &&
        CX265_TYPE_I == X265_TYPE_I && CX265_TYPE_P == X265_TYPE_P &&
        CX265_TYPE_BREF == X265_TYPE_BREF && CX265_TYPE_B == X265_TYPE_B,
    "picture types");
_Static_assert(
    CX265_BAD_NAME == X265_PARAM_BAD_NAME && CX265_BAD_VALUE == X265_PARAM_BAD_VALUE, "results");

struct cx265_parameters {
  const x265_api *api;
  x265_param *values;
};

struct cx265_encoder {
  const x265_api *api;
  x265_encoder *encoder;
  x265_picture *input;
  x265_picture *output;
  /// The sizes of the NAL units returned last.
  uint32_t *sizes;
  uint32_t sizes_capacity;
};

static const cx265_library *load(int32_t bit_depth, char *reason, size_t size) {
  // Never closed: x265's threads would lose their code.
  static void *library;
  if (!library) library = dlopen(FILE_NAME, RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    const char *error = dlerror();
    // If the loader does not find the library, its message begins with the name that it was given,
    // otherwise with a path or with the name of a library that libx265 requires.
    const char absent[] = FILE_NAME ": ";
    if (error && strncmp(error, absent, sizeof absent - 1) == 0) error = "";
    snprintf(reason, size, "%s", error ? error : FILE_NAME " cannot be opened");
    return NULL;
  }
  // In POSIX, dlsym returns functions as pointers to data.
  const x265_api *(*get)(int) = NULL;
  *(void **)&get = dlsym(library, GETTER);
  if (!get) {
    snprintf(reason, size, "%s", FILE_NAME " has no function " GETTER);
    return NULL;
  }
  const x265_api *api = get(bit_depth);
  if (!api) {
    snprintf(reason, size, FILE_NAME " has no %d-bit encoder", (int)bit_depth);
    return NULL;
  }
  if (api->api_build_number != X265_BUILD || api->bit_depth != bit_depth ||
      api->sizeof_param != sizeof(x265_param) || api->sizeof_picture != sizeof(x265_picture) ||
      api->sizeof_stats != sizeof(x265_stats)) {
    snprintf(
        reason, size, FILE_NAME " does not match the x265.h this was compiled with (it is x265 %s)",
        api->version_str ? api->version_str : "of unknown version");
    return NULL;
  }
  return (const cx265_library *)api;
}

static void parameters_free(cx265_parameters *parameters) {
  if (!parameters) return;
  if (parameters->values) parameters->api->param_free(parameters->values);
  free(parameters);
}

static cx265_parameters *parameters_new(
    const cx265_library *library, const char *preset, const char *tune) {
  cx265_parameters *parameters = calloc(1, sizeof *parameters);
  if (!parameters) return NULL;
  parameters->api = (const x265_api *)library;
  parameters->values = parameters->api->param_alloc();
  // Before 4.1, x265 leaves the structure uninitialized until a preset has set everything.
  if (parameters->values &&
      parameters->api->param_default_preset(parameters->values, preset, tune) == 0)
    return parameters;
  parameters_free(parameters);
  return NULL;
}

static int32_t parameters_parse(cx265_parameters *parameters, const char *name, const char *value) {
  int result = parameters->api->param_parse(parameters->values, name, value);
  return result == 0 || result == X265_PARAM_BAD_NAME ? result : CX265_BAD_VALUE;
}

static cx265_values parameters_values(const cx265_parameters *parameters) {
  const x265_param *values = parameters->values;
  return (cx265_values){
      .aqStrength = values->rc.aqStrength,
      .rfConstant = values->rc.rfConstant,
      .ipFactor = values->rc.ipFactor,
      .pbFactor = values->rc.pbFactor,
      .fpsNum = values->fpsNum,
      .fpsDenom = values->fpsDenom,
      .maxCUSize = values->maxCUSize,
      .maxTUSize = values->maxTUSize,
      .sourceWidth = values->sourceWidth,
      .sourceHeight = values->sourceHeight,
      .frameNumThreads = values->frameNumThreads,
      .bframes = values->bframes,
      .bBPyramid = values->bBPyramid,
      .bFrameAdaptive = values->bFrameAdaptive,
      .lookaheadDepth = values->lookaheadDepth,
      .gopLookahead = values->gopLookahead,
      .scenecutThreshold = values->scenecutThreshold,
      .bHistBasedSceneCut = values->bHistBasedSceneCut,
      .bOpenGOP = values->bOpenGOP,
      .bEnableFades = values->bEnableFades,
      .bIntraRefresh = values->bIntraRefresh,
      .bEnableFrameDuplication = values->bEnableFrameDuplication,
      .aqMode = values->rc.aqMode,
      .hevcAq = values->rc.hevcAq,
      .cuTree = values->rc.cuTree,
  };
}

static void encoder_close(cx265_encoder *encoder) {
  if (!encoder) return;
  if (encoder->encoder) encoder->api->encoder_close(encoder->encoder);
  if (encoder->input) encoder->api->picture_free(encoder->input);
  if (encoder->output) encoder->api->picture_free(encoder->output);
  free(encoder->sizes);
  free(encoder);
}

static cx265_encoder *encoder_open(cx265_parameters *parameters) {
  const x265_api *api = parameters->api;
  cx265_encoder *encoder = calloc(1, sizeof *encoder);
  if (!encoder) return NULL;
  encoder->api = api;
  encoder->encoder = api->encoder_open(parameters->values);
  encoder->input = api->picture_alloc();
  encoder->output = api->picture_alloc();
  if (!encoder->encoder || !encoder->input || !encoder->output) {
    encoder_close(encoder);
    return NULL;
  }
  api->encoder_parameters(encoder->encoder, parameters->values);
  api->picture_init(parameters->values, encoder->input);
  api->picture_init(parameters->values, encoder->output);
  return encoder;
}

/// Describes NAL units without x265's types. Returns 0 or an error.
static int32_t give(
    cx265_encoder *encoder, const x265_nal *nals, uint32_t count, cx265_units *units) {
  if (count > encoder->sizes_capacity) {
    uint32_t *sizes = realloc(encoder->sizes, (size_t)count * sizeof *sizes);
    if (!sizes) return CX265_NO_MEMORY;
    encoder->sizes = sizes;
    encoder->sizes_capacity = count;
  }
  for (uint32_t index = 0; index < count; index++) {
    encoder->sizes[index] = nals[index].sizeBytes;
    // Each begins with its length in four bytes.
    if (nals[index].sizeBytes < 4) return CX265_NOT_CONTIGUOUS;
    if (index > 0 && nals[index].payload != nals[index - 1].payload + nals[index - 1].sizeBytes)
      return CX265_NOT_CONTIGUOUS;
  }
  *units = (cx265_units){
      .bytes = count > 0 ? nals[0].payload : NULL, .sizes = encoder->sizes, .count = count};
  return 0;
}

static int32_t encoder_headers(cx265_encoder *encoder, cx265_units *units) {
  x265_nal *nals = NULL;
  uint32_t count = 0;
  int result = encoder->api->encoder_headers(encoder->encoder, &nals, &count);
  return result < 0 ? result : give(encoder, nals, count, units);
}

static int32_t encoder_encode(
    cx265_encoder *encoder, const cx265_picture *picture, cx265_coded *coded) {
  x265_picture *input = NULL;
  if (picture) {
    input = encoder->input;
    input->pts = picture->pts;
    input->sliceType = picture->type;
    // X265_QP_AUTO is 0, so x265 counts QPs from 1 here.
    input->forceqp = picture->qp == CX265_QP_AUTO ? X265_QP_AUTO : picture->qp + 1;
    // x265 only reads the offsets, although its structure has no const for them.
    input->quantOffsets = (float *)picture->quant_offsets;
    for (int plane = 0; plane < 3; plane++) {
      input->planes[plane] = (void *)picture->planes.address[plane];
      input->stride[plane] = picture->planes.stride[plane];
    }
  }
  x265_nal *nals = NULL;
  uint32_t count = 0;
  x265_picture *outputs[MAX_CODED_PICTURES] = {encoder->output};
  void *output = RETURNS_LAYER_ARRAY ? (void *)outputs : encoder->output;
  int result = encoder->api->encoder_encode(encoder->encoder, &nals, &count, input, output);
  if (result < 0) return result;
  if (result == 0 || count == 0) return 0;
  const x265_picture *given = encoder->output;
  *coded = (cx265_coded){
      .pts = given->pts,
      .type = given->sliceType,
      .average_qp = given->frameData.qp,
      .rate_factor = given->frameData.rateFactor,
  };
  for (int plane = 0; plane < 3; plane++) {
    coded->reconstruction.address[plane] = given->planes[plane];
    coded->reconstruction.stride[plane] = given->stride[plane];
  }
  int32_t error = give(encoder, nals, count, &coded->units);
  return error ? error : 1;
}

static cx265_type_statistics type_statistics(const x265_sliceType_stats *stats) {
  return (cx265_type_statistics){.average_qp = stats->avgQp, .pictures = stats->numPics};
}

static cx265_statistics encoder_statistics(cx265_encoder *encoder) {
  x265_stats stats = {0};
  encoder->api->encoder_get_stats(encoder->encoder, &stats, sizeof stats);
  return (cx265_statistics){
      .pictures = stats.encodedPictureCount,
      .psnr = stats.globalPsnr,
      .ssim = stats.globalSsim,
      .types = {
          type_statistics(&stats.statsI), type_statistics(&stats.statsP),
          type_statistics(&stats.statsB)}};
}

__attribute__((visibility("default"))) const cx265_adapter *cx265_get_adapter(void) {
  static const cx265_adapter adapter = {
      .abi = CX265_ABI,
      .build = X265_BUILD,
      .file_name = FILE_NAME,
      .load = load,
      .parameters_new = parameters_new,
      .parameters_parse = parameters_parse,
      .parameters_values = parameters_values,
      .parameters_free = parameters_free,
      .encoder_open = encoder_open,
      .encoder_headers = encoder_headers,
      .encoder_encode = encoder_encode,
      .encoder_statistics = encoder_statistics,
      .encoder_close = encoder_close,
  };
  return &adapter;
}

#else

const cx265_adapter *cx265_get_adapter(void) { return NULL; }

#endif
