// SPDX-License-Identifier: MPL-2.0
// Prints where the x265.h that this is compiled with keeps the fields that Sources/Machines/StereoEncoder
// uses, as one element of X265Layout.known. Used by scripts/x265-builds, which gives the names of
// the Debian release and of x265's version.
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <x265.h>

// What the Swift code takes to be the same in all builds.
_Static_assert(X265_LOG_NONE == -1 && X265_PARAM_BAD_NAME == -1, "codes");
_Static_assert(X265_TYPE_AUTO == 0 && X265_TYPE_IDR == 1 && X265_TYPE_I == 2, "slice types");
_Static_assert(X265_TYPE_P == 3 && X265_TYPE_BREF == 4 && X265_TYPE_B == 5, "slice types");
_Static_assert(
    offsetof(x265_api, api_build_number) == 4 && offsetof(x265_api, sizeof_param) == 8 &&
        offsetof(x265_api, sizeof_picture) == 12 && offsetof(x265_api, sizeof_stats) == 24 &&
        offsetof(x265_api, bit_depth) == 28 && offsetof(x265_api, version_str) == 32,
    "the head of x265_api");

#define FIELD(type, structure, field, end) NAMED(type, structure, field, field, end)
#define NAMED(type, structure, field, name, end) \
  _Static_assert(__builtin_types_compatible_p(typeof(((structure *)0)->field), type), #field); \
  printf(#name ": .init(%zu)" end, offsetof(structure, field))
#define SLICES(name, end) \
  printf(#name ": .init("); \
  NAMED(double, x265_stats, name.avgQp, avgQp, ", "); \
  NAMED(uint32_t, x265_stats, name.numPics, numPics, ")" end)
#define FUNCTION(name, end) printf(#name ": %zu" end, offsetof(x265_api, name))

int main(int count, char **arguments) {
  if (count != 3) return 2;
  printf("X265Layout(build: %d, version: \"%s\", release: \"%s\",\n", X265_BUILD, arguments[2],
         arguments[1]);
  printf("parameters: .init(size: %zu, ", sizeof(x265_param));
  FIELD(int, x265_param, frameNumThreads, ", ");
  FIELD(int, x265_param, sourceWidth, ", ");
  FIELD(int, x265_param, sourceHeight, ", ");
  FIELD(uint32_t, x265_param, fpsNum, ", ");
  FIELD(uint32_t, x265_param, fpsDenom, ", ");
  FIELD(int, x265_param, bframes, ", ");
  FIELD(int, x265_param, bBPyramid, ", ");
  FIELD(int, x265_param, bFrameAdaptive, ", ");
  FIELD(int, x265_param, lookaheadDepth, ", ");
  FIELD(int, x265_param, scenecutThreshold, ", ");
  FIELD(int, x265_param, bHistBasedSceneCut, ", ");
  FIELD(int, x265_param, bOpenGOP, ", ");
  FIELD(int, x265_param, bEnableFades, ", ");
  FIELD(int, x265_param, bIntraRefresh, ", ");
  FIELD(int, x265_param, bEnableFrameDuplication, ", ");
  FIELD(int, x265_param, gopLookahead, ", ");
  FIELD(uint32_t, x265_param, maxCUSize, ", ");
  FIELD(uint32_t, x265_param, maxTUSize, ", ");
  NAMED(int, x265_param, rc.aqMode, aqMode, ", ");
  NAMED(double, x265_param, rc.aqStrength, aqStrength, ", ");
  NAMED(int, x265_param, rc.hevcAq, hevcAq, ", ");
  NAMED(int, x265_param, rc.bitrate, bitrate, ", ");
  NAMED(int, x265_param, rc.vbvMaxBitrate, vbvMaxBitrate, ", ");
  NAMED(int, x265_param, rc.vbvBufferSize, vbvBufferSize, ", ");
  NAMED(double, x265_param, rc.rfConstant, rfConstant, "),\n");
  printf("picture: .init(size: %zu, ", sizeof(x265_picture));
  FIELD(int64_t, x265_picture, pts, ", ");
  NAMED(void *, x265_picture, planes[0], planes, ", ");
  NAMED(int, x265_picture, stride[0], stride, ", ");
  FIELD(int, x265_picture, sliceType, ", ");
  FIELD(int, x265_picture, forceqp, ", ");
  FIELD(float *, x265_picture, quantOffsets, ", ");
  NAMED(double, x265_picture, frameData.qp, averageQP, ", ");
  FIELD(void *, x265_picture, rcData, "),\n");
  printf("nalUnit: .init(size: %zu, ", sizeof(x265_nal));
  FIELD(uint32_t, x265_nal, sizeBytes, ", ");
  FIELD(uint8_t *, x265_nal, payload, "),\n");
  printf("statistics: .init(size: %zu, ", sizeof(x265_stats));
  FIELD(double, x265_stats, globalPsnr, ", ");
  FIELD(double, x265_stats, globalSsim, ", ");
  FIELD(uint32_t, x265_stats, encodedPictureCount, ", ");
  SLICES(statsI, ", ");
  SLICES(statsP, ", ");
  SLICES(statsB, "),\n");
  printf("functions: .init(");
  FUNCTION(param_alloc, ", ");
  FUNCTION(param_free, ", ");
  FUNCTION(param_parse, ", ");
  FUNCTION(param_default_preset, ", ");
  FUNCTION(picture_alloc, ", ");
  FUNCTION(picture_free, ", ");
  FUNCTION(picture_init, ", ");
  FUNCTION(encoder_open, ", ");
  FUNCTION(encoder_parameters, ", ");
  FUNCTION(encoder_reconfig, ", ");
  FUNCTION(encoder_headers, ", ");
  FUNCTION(encoder_encode, ", ");
  FUNCTION(encoder_get_stats, ", ");
  FUNCTION(encoder_close, ")),\n");
}
