/// The ES_Descriptor of an audio track: the `esds` box (ISO/IEC 14496-1 7.2.6.5, 14496-14 5.6).
struct ElementaryStreamDescriptor: Equatable {
  /// 0x40 MPEG-4 audio, 0x6B MPEG-1 audio and so on (ISO/IEC 14496-1 table 5).
  var objectTypeIndication: UInt8
  var maximumBitRate: UInt32
  var averageBitRate: UInt32
  var decoderSpecificInfo: [UInt8]?

  static let esTag: UInt8 = 3
  static let decoderConfigTag: UInt8 = 4
  static let decoderSpecificInfoTag: UInt8 = 5
  private static let slConfigTag: UInt8 = 6

  func write(to writer: inout BoxWriter) {
    var specificInfo = BoxWriter()
    if let decoderSpecificInfo {
      Self.descriptor(
        Self.decoderSpecificInfoTag, content: decoderSpecificInfo, to: &specificInfo)
    }
    var config = BoxWriter()
    config.write(objectTypeIndication)
    // streamType 5 (audio), upStream 0, reserved 1; no buffer size.
    config.write(UInt8(0x15))
    config.write(zeros: 3)
    config.write(maximumBitRate)
    config.write(averageBitRate)
    config.write(specificInfo.bytes)

    var stream = BoxWriter()
    stream.write(UInt16(0))
    stream.write(UInt8(0))
    Self.descriptor(Self.decoderConfigTag, content: config.bytes, to: &stream)
    // Predefined 2: the values that MP4 files use.
    Self.descriptor(Self.slConfigTag, content: [2], to: &stream)
    writer.fullBox("esds") { Self.descriptor(Self.esTag, content: stream.bytes, to: &$0) }
  }

  /// A descriptor with its size in the four-byte form (ISO/IEC 14496-1 8.3.3).
  private static func descriptor(_ tag: UInt8, content: [UInt8], to writer: inout BoxWriter) {
    let size = UInt32(clamping: min(content.count, 0xFFF_FFFF))
    writer.write(tag)
    for shift in [21, 14, 7] as [UInt32] {
      writer.write(UInt8(truncatingIfNeeded: size >> shift) & 0x7F | 0x80)
    }
    writer.write(UInt8(truncatingIfNeeded: size) & 0x7F)
    writer.write(content)
  }
}
