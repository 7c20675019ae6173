// SPDX-License-Identifier: MPL-2.0

// libx265 as a table of functions, whose types do not depend on `x265.h`.
//
// Each release of x265 has its own structures. The only file that uses them is CX265.c, which is
// compiled for each release against that release's header: into the program, if the header was
// available when that was built, and into shared objects (adapters), `x265-N.so`, each for one
// `libx265.so.N`.

#ifndef CX265_H
#define CX265_H

#include <stddef.h>
#include <stdint.h>

/// The version of the declarations below; to be raised with every change.
#define CX265_ABI 1

/// `parameters_parse`: x265 has no option of this name.
#define CX265_BAD_NAME (-1)
/// `parameters_parse`: x265 does not accept this value.
#define CX265_BAD_VALUE (-2)

/// `encoder_encode` and `encoder_headers`: out of memory for the sizes of the NAL units.
#define CX265_NO_MEMORY (-1001)
/// `encoder_encode` and `encoder_headers`: the NAL units are not contiguous, although x265.h
/// promises it.
#define CX265_NOT_CONTIGUOUS (-1002)

/// The type of a picture (`X265_TYPE_*`).
#define CX265_TYPE_AUTO 0
#define CX265_TYPE_IDR 1
#define CX265_TYPE_I 2
#define CX265_TYPE_P 3
#define CX265_TYPE_BREF 4
#define CX265_TYPE_B 5

/// The QP of a picture whose QP x265 chooses.
#define CX265_QP_AUTO (-1)

/// The functions of one libx265 for one bit depth (`x265_api`).
typedef struct cx265_library cx265_library;

/// The parameters of an encoder (`x265_param`).
typedef struct cx265_parameters cx265_parameters;

/// An encoder (`x265_encoder`), with its structures for an input and an output picture.
typedef struct cx265_encoder cx265_encoder;

/// The values of parameters, named as in `x265_param`.
typedef struct {
  double aqStrength;
  double rfConstant;
  double ipFactor;
  double pbFactor;
  uint32_t fpsNum;
  uint32_t fpsDenom;
  uint32_t maxCUSize;
  uint32_t maxTUSize;
  int32_t sourceWidth;
  int32_t sourceHeight;
  int32_t frameNumThreads;
  int32_t bframes;
  int32_t bBPyramid;
  int32_t bFrameAdaptive;
  int32_t lookaheadDepth;
  int32_t gopLookahead;
  int32_t scenecutThreshold;
  int32_t bHistBasedSceneCut;
  int32_t bOpenGOP;
  int32_t bEnableFades;
  int32_t bIntraRefresh;
  int32_t bEnableFrameDuplication;
  int32_t aqMode;
  int32_t hevcAq;
  int32_t cuTree;
} cx265_values;

/// The planes of a picture: luma, Cb, Cr.
typedef struct {
  const void *address[3];
  /// The distance from one row to the next, in bytes.
  int32_t stride[3];
} cx265_planes;

/// An input picture. It is copied before `encoder_encode` returns.
typedef struct {
  cx265_planes planes;
  /// Returned with the coded picture.
  int64_t pts;
  /// `CX265_TYPE_*`
  int32_t type;
  /// At least 0, before adaptive quantization; or `CX265_QP_AUTO`.
  int32_t qp;
  /// Added to the QP of each block of 16x16 samples (8x8 if the option `qg-size` is 8), row by row;
  /// NULL for none. Read before `encoder_encode` returns.
  const float *quant_offsets;
} cx265_picture;

/// Contiguous NAL units, valid until the next call for the same encoder.
typedef struct {
  const uint8_t *bytes;
  /// The size of each NAL unit, in bytes.
  const uint32_t *sizes;
  uint32_t count;
} cx265_units;

/// A coded picture, valid until the next call for the same encoder.
typedef struct {
  cx265_units units;
  int64_t pts;
  /// `CX265_TYPE_*`
  int32_t type;
  /// The mean QP of its blocks.
  double average_qp;
  /// The rate factor used (`x265_frame_stats.rateFactor`).
  double rate_factor;
  /// The decoded picture.
  cx265_planes reconstruction;
} cx265_coded;

/// Statistics of the coded pictures of one slice type.
typedef struct {
  double average_qp;
  uint32_t pictures;
} cx265_type_statistics;

/// Statistics of all coded pictures so far.
typedef struct {
  uint32_t pictures;
  /// PSNR in dB; 0 if it is not measured.
  double psnr;
  /// SSIM; 0 if it is not measured.
  double ssim;
  /// For I, P and B pictures.
  cx265_type_statistics types[3];
} cx265_statistics;

/// The functions that encode with one libx265.
///
/// `load`, `parameters_parse` and `encoder_open` write to memory that all encoders of the process
/// share: two of these calls must not be made at the same time. All other functions affect only the
/// object they are called with.
typedef struct {
  /// `CX265_ABI`. If it differs from the caller's, nothing else may be read.
  int32_t abi;
  /// `X265_BUILD`, the number in the name of its libx265.
  int32_t build;
  /// The file name of its libx265.
  const char *file_name;

  /// Returns the functions of its libx265 for samples of `bit_depth` bits. The first call opens
  /// libx265, which stays open.
  ///
  /// Returns NULL if it cannot be used; `reason` then says why, in at most `size` bytes including
  /// the final zero. It is empty if the loader does not find the library.
  const cx265_library *(*load)(int32_t bit_depth, char *reason, size_t size);

  /// Creates parameters from a preset and a tuning, which may be NULL.
  ///
  /// Returns NULL if x265 does not know one of them, or memory runs out.
  cx265_parameters *(*parameters_new)(const cx265_library *, const char *preset, const char *tune);
  /// Sets an option as x265's command line does; a value of NULL switches it on.
  ///
  /// Returns 0, `CX265_BAD_NAME` or `CX265_BAD_VALUE`.
  int32_t (*parameters_parse)(cx265_parameters *, const char *name, const char *value);
  cx265_values (*parameters_values)(const cx265_parameters *);
  void (*parameters_free)(cx265_parameters *);

  /// Opens an encoder with these parameters, which x265 then adjusts to the values in use.
  ///
  /// Returns NULL if x265 refuses them, or memory runs out.
  cx265_encoder *(*encoder_open)(cx265_parameters *);
  /// Returns the parameter sets in `cx265_units`.
  ///
  /// The result is 0, or less than 0 after an error.
  int32_t (*encoder_headers)(cx265_encoder *, cx265_units *);
  /// Submits a picture, or NULL after the last one, and returns the next coded picture.
  ///
  /// The result is 1 if there is a coded picture, 0 if there is none (after the last picture: none
  /// is left), and less than 0 after an error; then only `encoder_close` may be called for this
  /// encoder.
  int32_t (*encoder_encode)(cx265_encoder *, const cx265_picture *, cx265_coded *);
  cx265_statistics (*encoder_statistics)(cx265_encoder *);
  void (*encoder_close)(cx265_encoder *);
} cx265_adapter;

/// The only symbol of an adapter: returns its table, which is valid for the lifetime of the
/// process; NULL if it was compiled without `x265.h`.
const cx265_adapter *cx265_get_adapter(void);

/// Returns the file name of the shared object or program that contains this, as the loader knows
/// it: for a program it may be a bare name. NULL if the loader does not know. Not in adapters.
const char *cx265_own_file(void);

/// Reads the processors of a thread of this process, or of the calling one for 0, as a bit for each;
/// returns 0 on success. Not in adapters.
int32_t cx265_get_affinity(int32_t thread, void *mask, size_t size);

/// Sets the processors of a thread of this process; returns 0 on success. Not in adapters.
int32_t cx265_set_affinity(int32_t thread, const void *mask, size_t size);

#endif
