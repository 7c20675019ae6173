// SPDX-License-Identifier: MPL-2.0

/// Where one build of libx265 keeps what is used of its structures.
///
/// Every build of x265 has structures of its own; these tables take the place of its headers, so
/// that one program can use several builds. Names are those of x265.h. scripts/x265-builds writes
/// the tables; ``X265Library`` checks a library against its table before it is used.
package struct X265Layout: Sendable {
  /// `X265_BUILD`, which is the number in the library's file name.
  package var build: Int32
  /// x265's version.
  package var version: String
  /// Debian's release that has this build.
  package var release: String
  package var parameters: Parameters
  package var picture: Picture
  package var nalUnit: NALUnit
  package var statistics: Statistics
  package var functions: Functions

  /// `x265_param`
  package struct Parameters: Sendable {
    package var size: Int
    package var frameNumThreads: Field<Int32>
    package var sourceWidth: Field<Int32>
    package var sourceHeight: Field<Int32>
    package var fpsNum: Field<UInt32>
    package var fpsDenom: Field<UInt32>
    package var bframes: Field<Int32>
    package var bBPyramid: Field<Int32>
    package var bFrameAdaptive: Field<Int32>
    package var lookaheadDepth: Field<Int32>
    package var scenecutThreshold: Field<Int32>
    package var bHistBasedSceneCut: Field<Int32>
    package var bOpenGOP: Field<Int32>
    package var bEnableFades: Field<Int32>
    package var bIntraRefresh: Field<Int32>
    package var bEnableFrameDuplication: Field<Int32>
    package var gopLookahead: Field<Int32>
    package var maxCUSize: Field<UInt32>
    package var maxTUSize: Field<UInt32>
    package var aqMode: Field<Int32>
    package var aqStrength: Field<Double>
    package var hevcAq: Field<Int32>
    package var bitrate: Field<Int32>
    package var vbvMaxBitrate: Field<Int32>
    package var vbvBufferSize: Field<Int32>
    package var rfConstant: Field<Double>
  }

  /// `x265_picture`
  package struct Picture: Sendable {
    package var size: Int
    package var pts: Field<Int64>
    /// The first of three.
    package var planes: Field<UnsafeMutableRawPointer?>
    /// The first of three.
    package var stride: Field<Int32>
    package var sliceType: Field<Int32>
    package var forceqp: Field<Int32>
    package var quantOffsets: Field<UnsafeMutableRawPointer?>
    /// `frameData.qp`
    package var averageQP: Field<Double>
    package var rcData: Field<UnsafeMutableRawPointer?>
  }

  /// `x265_nal`
  package struct NALUnit: Sendable {
    package var size: Int
    package var sizeBytes: Field<UInt32>
    package var payload: Field<UnsafeMutableRawPointer?>
  }

  /// `x265_stats`
  package struct Statistics: Sendable {
    package var size: Int
    package var globalPsnr: Field<Double>
    package var globalSsim: Field<Double>
    package var encodedPictureCount: Field<UInt32>
    package var statsI: SliceStatistics
    package var statsP: SliceStatistics
    package var statsB: SliceStatistics
  }

  /// `x265_sliceType_stats`
  package struct SliceStatistics: Sendable {
    package var avgQp: Field<Double>
    package var numPics: Field<UInt32>
  }

  /// `x265_api`: the offsets of its functions. What stands in front of them is the same in all
  /// builds.
  package struct Functions: Sendable {
    package var param_alloc: Int
    package var param_free: Int
    package var param_parse: Int
    package var param_default_preset: Int
    package var picture_alloc: Int
    package var picture_free: Int
    package var picture_init: Int
    package var encoder_open: Int
    package var encoder_parameters: Int
    package var encoder_reconfig: Int
    package var encoder_headers: Int
    package var encoder_encode: Int
    package var encoder_get_stats: Int
    package var encoder_close: Int
  }
}

/// A field of a structure of C's: its type, and how many bytes of the structure are in front of it.
package struct Field<Value: BitwiseCopyable>: Sendable {
  package let offset: Int

  package init(_ offset: Int) { self.offset = offset }

  /// The element at `index` of the array that begins with this field.
  subscript(index: Int) -> Field {
    Field(offset + index * MemoryLayout<Value>.stride)
  }
}

extension UnsafeMutableRawPointer {
  /// A field of the structure at this address.
  subscript<Value>(field: Field<Value>) -> Value {
    get { load(fromByteOffset: field.offset, as: Value.self) }
    nonmutating set { storeBytes(of: newValue, toByteOffset: field.offset, as: Value.self) }
  }
}
