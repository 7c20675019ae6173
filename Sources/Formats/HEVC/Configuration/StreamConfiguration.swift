// SPDX-License-Identifier: MPL-2.0

public import StereoVideo

/// What is said of a stream beside its access units: how NAL units are told apart in these, and the
/// parameter sets and SEI of its decoder configuration records.
public struct StreamConfiguration: Sendable {
  public let framing: NALUnitFraming
  /// NAL units of the records of all layers.
  public let parameterSets: [[UInt8]]
  /// Why the record of the dependent layer cannot be read, whose NAL units are missing then; nil where
  /// it can, or where there is none.
  public let layeredRecordError: SyntaxError?

  /// A byte stream, which has its parameter sets inside.
  public static let byteStream = StreamConfiguration(framing: .annexB)

  /// A stream without records.
  public init(framing: NALUnitFraming) {
    self.framing = framing
    parameterSets = []
    layeredRecordError = nil
  }

  /// A stream with length prefixes.
  ///
  /// - Parameters:
  ///   - hvcC: the record of the base layer: the content of the box, which is `codec_data` in
  ///     GStreamer.
  ///   - lhvC: that of the dependent layer, where there is one.
  /// - Throws: where the record of the base layer cannot be read.
  public init(hvcC: [UInt8], lhvC: [UInt8]? = nil) throws(SyntaxError) {
    let base = try HEVCDecoderConfigurationRecord(bytes: hvcC)
    framing = .lengthPrefixed(lengthSize: base.lengthSize)
    do {
      let dependent = try lhvC.map { bytes throws(SyntaxError) in
        try LHEVCDecoderConfigurationRecord(bytes: bytes)
      }
      parameterSets = base.nalUnits + (dependent?.nalUnits ?? [])
      layeredRecordError = nil
    } catch {
      parameterSets = base.nalUnits
      layeredRecordError = error
    }
  }
}
