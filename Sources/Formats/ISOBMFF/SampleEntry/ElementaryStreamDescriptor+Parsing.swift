// SPDX-License-Identifier: MPL-2.0

internal import StereoVideo

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
      // Some writers leave the outer descriptor out.
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

  /// The next descriptor: its tag and its content (ISO/IEC 14496-1 8.3.3).
  private static func next(
    _ reader: inout BitReader
  ) throws(SyntaxError) -> (tag: Int, content: BitReader) {
    let tag = try reader.u(8, "tag")
    var size = 0
    for _ in 0..<4 {
      let goesOn = try reader.flag("nextByte")
      size = try size << 7 | reader.u(7, "sizeOfInstance")
      if !goesOn { break }
    }
    return (tag, try reader.part(size, "descriptor"))
  }
}
