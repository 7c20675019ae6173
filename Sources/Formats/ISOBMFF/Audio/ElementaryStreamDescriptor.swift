// SPDX-License-Identifier: MPL-2.0

internal import StereoVideo

/// The ES_Descriptor of a track: the `esds` box (ISO/IEC 14496-1 7.2.6.5, 14496-14 5.6).
struct ElementaryStreamDescriptor: Equatable {
  /// 0x40 for MPEG-4 audio, 0x6B for MPEG-1 audio and so on (ISO/IEC 14496-1 table 5).
  var objectTypeIndication: UInt8
  var maximumBitRate: UInt32
  var averageBitRate: UInt32
  var decoderSpecificInfo: [UInt8]?

  // Tags of descriptors (ISO/IEC 14496-1 table 1).
  private static let esTag = 3
  private static let decoderConfigTag = 4
  private static let decoderSpecificInfoTag = 5
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

extension ElementaryStreamDescriptor {
  /// Reads the content of an `esds` box.
  init(_ box: BoxReader) throws(ISOBMFFError) {
    var box = box
    _ = try box.readVersion()
    do throws(SyntaxError) {
      try self.init(box.bits("ES_Descriptor"))
    } catch {
      throw box.error(error)
    }
  }

  private init(_ reader: BitReader) throws(SyntaxError) {
    objectTypeIndication = 0
    maximumBitRate = 0
    averageBitRate = 0
    var outer = reader
    var (tag, content) = try Self.next(&outer)
    if tag == Self.esTag {
      try content.skip(16, "ES_ID")
      let dependsOnOther = try content.flag("streamDependenceFlag")
      let hasURL = try content.flag("URL_Flag")
      let hasClock = try content.flag("OCRstreamFlag")
      try content.skip(5, "streamPriority")
      if dependsOnOther { try content.skip(16, "dependsOn_ES_ID") }
      if hasURL { try content.skip(content.u(8, "URLlength") * 8, "URLstring") }
      if hasClock { try content.skip(16, "OCR_ES_Id") }
    } else {
      // Some writers omit the outer descriptor.
      content = reader
    }
    while content.remaining > 0 {
      let (tag, configuration) = try Self.next(&content)
      guard tag == Self.decoderConfigTag else { continue }
      try readDecoderConfig(configuration)
      return
    }
    throw content.failure("decConfigDescr", .missing("a DecoderConfigDescriptor"))
  }

  private mutating func readDecoderConfig(_ reader: BitReader) throws(SyntaxError) {
    var reader = reader
    objectTypeIndication = UInt8(truncatingIfNeeded: try reader.u(8, "objectTypeIndication"))
    try reader.skip(32, "streamType, upStream and bufferSizeDB")
    maximumBitRate = UInt32(truncatingIfNeeded: try reader.u(32, "maxBitrate"))
    averageBitRate = UInt32(truncatingIfNeeded: try reader.u(32, "avgBitrate"))
    while reader.remaining > 0 {
      var (tag, content) = try Self.next(&reader)
      if tag == Self.decoderSpecificInfoTag {
        decoderSpecificInfo = try content.bytes(content.remaining / 8, "DecoderSpecificInfo")
        return
      }
    }
  }

  /// Returns the tag and content of the next descriptor (ISO/IEC 14496-1 8.3.3).
  private static func next(
    _ reader: inout BitReader
  ) throws(SyntaxError) -> (tag: Int, content: BitReader) {
    let tag = try reader.u(8, "tag")
    var size = 0
    for _ in 0..<4 {
      let continues = try reader.flag("nextByte")
      size = try size << 7 | reader.u(7, "sizeOfInstance")
      if !continues { break }
    }
    return (tag, try reader.part(size, "descriptor"))
  }
}

extension VisualSampleEntry {
  /// The object type (ISO/IEC 14496-1 table 5) and the decoder's configuration in `esds`, which
  /// entries of type `mp4v` have; nil if there is no such box or it is damaged.
  public var elementaryStream: (objectType: UInt8, configuration: [UInt8])? {
    guard let box = (configuration + extensions).first(where: { $0.type == "esds" }),
      let descriptor = try? ElementaryStreamDescriptor(
        BoxReader(box.payload, type: "esds", path: "esds"))
    else { return nil }
    return (descriptor.objectTypeIndication, descriptor.decoderSpecificInfo ?? [])
  }
}
