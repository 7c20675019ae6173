// SPDX-License-Identifier: MPL-2.0

extension HEVCDecoderConfigurationRecord {
  /// What the base layer's first sequence parameter set says of its pictures beside their coding
  /// (E.2.1); nil where it says nothing, or cannot be read.
  public var videoUsability: VideoUsabilityInformation? {
    let sets = nalUnits.filter {
      let header = NALUnitHeader($0.span.bytes)
      return header?.type == .sequenceParameterSet && header?.layerID == 0
    }
    return sets.first.flatMap { try? SequenceParameterSet(nalUnit: $0) }?.vui
  }

  /// Whether the samples of the pictures use the whole range of their bits, as a record's sequence
  /// parameter set says it; nil where it does not.
  public static func isFullRange(_ record: [UInt8]) -> Bool? {
    (try? HEVCDecoderConfigurationRecord(bytes: record))?.videoUsability?.signalType?.fullRange
  }
}
