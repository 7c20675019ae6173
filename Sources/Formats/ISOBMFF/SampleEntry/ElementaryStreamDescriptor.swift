// SPDX-License-Identifier: MPL-2.0

internal import StereoVideo

/// The ES_Descriptor of an audio track: the `esds` box (ISO/IEC 14496-1 7.2.6.5, 14496-14 5.6).
struct ElementaryStreamDescriptor: Equatable {
  /// 0x40 MPEG-4 audio, 0x6B MPEG-1 audio and so on (ISO/IEC 14496-1 table 5).
  var objectTypeIndication: UInt8
  var maximumBitRate: UInt32
  var averageBitRate: UInt32
  var decoderSpecificInfo: [UInt8]?

  // Tags of descriptors (ISO/IEC 14496-1 table 1).
  static let esTag = 3
  static let decoderConfigTag = 4
  static let decoderSpecificInfoTag = 5
  private static let slConfigTag = 6

  func write(to writer: inout BoxWriter) {
    var config = BitWriter()
    config.u(Int(objectTypeIndication), 8)
    // streamType 5 (audio), upStream 0, reserved 1; no buffer size.
    config.u(0x15, 8)
    config.u(0, 24)
    config.u(Int(maximumBitRate), 32)
    config.u(Int(averageBitRate), 32)
    if let decoderSpecificInfo {
      Self.write(Self.decoderSpecificInfoTag, content: decoderSpecificInfo, to: &config)
    }
    var stream = BitWriter()
    // ES_ID, flags and priority.
    stream.u(0, 24)
    Self.write(Self.decoderConfigTag, content: config.bytes, to: &stream)
    // Predefined 2: the values that MP4 files use.
    Self.write(Self.slConfigTag, content: [2], to: &stream)
    var descriptor = BitWriter()
    Self.write(Self.esTag, content: stream.bytes, to: &descriptor)
    writer.fullBox("esds") { $0.write(descriptor.bytes) }
  }

  /// A descriptor with its size in the four-byte form (ISO/IEC 14496-1 8.3.3).
  private static func write(_ tag: Int, content: [UInt8], to writer: inout BitWriter) {
    writer.u(tag, 8)
    for shift in [21, 14, 7, 0] {
      writer.flag(shift > 0)
      writer.u(content.count >> shift, 7)
    }
    writer.write(content)
  }
}
