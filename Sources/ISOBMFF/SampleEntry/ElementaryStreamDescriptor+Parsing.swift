extension ElementaryStreamDescriptor {
  /// Reads the content of an `esds` box.
  init(_ box: BoxReader) throws(ISOBMFFError) {
    var box = box
    _ = try box.readVersion()
    objectTypeIndication = 0
    maximumBitRate = 0
    averageBitRate = 0
    let (tag, end) = try Self.readHeader(&box, end: box.end)
    if tag == Self.esTag {
      try box.skip(2, "ES_ID")
      let flags: UInt8 = try box.read("stream flags")
      try box.skip(flags & 0x80 != 0 ? 2 : 0, "dependsOn_ES_ID")
      if flags & 0x40 != 0 {
        try box.skip(Int(try box.read("URLlength", as: UInt8.self)), "URLstring")
      }
      try box.skip(flags & 0x20 != 0 ? 2 : 0, "OCR_ES_Id")
    } else {
      // Some writers leave the outer descriptor out.
      box = box.rewound(to: 4)
    }
    while box.position < end {
      let (tag, childEnd) = try Self.readHeader(&box, end: end)
      if tag == Self.decoderConfigTag {
        try readDecoderConfig(&box, end: childEnd)
        return
      }
      try box.skip(max(0, childEnd - box.position), "descriptor")
    }
    throw box.error("the ES descriptor has no decoder configuration")
  }

  private mutating func readDecoderConfig(
    _ box: inout BoxReader, end: Int
  ) throws(ISOBMFFError) {
    objectTypeIndication = try box.read("objectTypeIndication")
    try box.skip(4, "streamType and bufferSizeDB")
    maximumBitRate = try box.read("maxBitrate")
    averageBitRate = try box.read("avgBitrate")
    while box.position < end {
      let (tag, childEnd) = try Self.readHeader(&box, end: end)
      let content = try box.readBytes(max(0, childEnd - box.position), "descriptor")
      if tag == Self.decoderSpecificInfoTag {
        decoderSpecificInfo = content
        return
      }
    }
  }

  /// A descriptor's tag and size (ISO/IEC 14496-1 8.3.3): where its content ends.
  private static func readHeader(
    _ box: inout BoxReader, end: Int
  ) throws(ISOBMFFError) -> (tag: UInt8, end: Int) {
    let tag: UInt8 = try box.read("descriptor tag")
    var size = 0
    for _ in 0..<4 {
      let byte: UInt8 = try box.read("descriptor size")
      size = size << 7 | Int(byte & 0x7F)
      if byte & 0x80 == 0 { break }
    }
    guard size <= end - box.position else {
      throw box.error(
        "descriptor \(tag) is \(size) bytes long, but only \(end - box.position) are left")
    }
    return (tag, box.position + size)
  }
}
