// SPDX-License-Identifier: MPL-2.0

internal import HEVC
internal import StereoVideo

/// Finds the second view of H.264 MVC in movies whose sample entry does not name it.
///
/// FFmpeg and others copy MVC into MP4 as if it were plain H.264: there is no box `mvcC`. Its
/// record is left at the end of `avcC`, or the subset SPS is among the SPSs of `avcC` or in the
/// samples.
public struct SecondViewProbe: Sendable {
  /// Number of samples after which no second view is expected. Splitters that do not know MVC put
  /// the first picture's second view into the second sample.
  public static let sampleCount = 4

  private var records: MVCRecords
  private let framing: NALUnitFraming
  private var hasPicture = false

  /// Creates a probe; nil if the content of `avcC` is damaged.
  public init?(avcC: [UInt8]) {
    records = MVCRecords(avcC)
    guard let configuration = try? MVCDecoderConfiguration(.avcC, bytes: records.avcC) else {
      return nil
    }
    framing = configuration.framing
    records.addRecord(fromSample: [UInt8]().span.bytes, framing: framing)
  }

  /// Looks at the next sample in decoding order.
  public mutating func add(_ sample: RawSpan) {
    records.addRecord(fromSample: sample, framing: framing)
    hasPicture = hasPicture || MVCRecords.hasDependentView(sample: sample, framing: framing)
  }

  /// The content of `mvcC`, as the movie should have it; nil if no second view has been found.
  public var mvcC: [UInt8]? { hasPicture ? records.mvcC : nil }
}
