// SPDX-License-Identifier: MPL-2.0

/// The configuration of ALAC alone, and in the box `alac` that it has within a sample entry, which is
/// what decoders want.
public enum ALACBox {
  /// The box around a configuration (ALACSpecificConfig).
  public static func box(magicCookie cookie: [UInt8]) -> [UInt8] {
    OpaqueBox("alac", payload: [0, 0, 0, 0] + cookie).bytes
  }

  /// The configuration, of which there may be the box around it; nil where it is too short.
  public static func magicCookie(_ data: [UInt8]) -> [UInt8]? {
    let isBox = data.count >= 12 && data[4..<8].elementsEqual("alac".utf8)
    let cookie = isBox ? Array(data[12...]) : data
    return cookie.count >= 24 ? cookie : nil
  }
}

/// The configuration of FLAC as `dfLa` has it, and as the header packets of Ogg do, which is what
/// GStreamer's caps know.
public enum FLACHeaders {
  /// The header packets (RFC 9639 10.1), one for each metadata block; none where there is no block.
  ///
  /// - Parameter blocks: metadata blocks one behind the other (RFC 9639 8). What is cut off is left out.
  public static func packets(metadataBlocks blocks: [UInt8]) -> [[UInt8]] {
    var headers: [[UInt8]] = []
    var rest = blocks[...]
    while rest.count >= 4 {
      let bytes = Array(rest.prefix(4))
      let length = Int(bytes[1]) << 16 | Int(bytes[2]) << 8 | Int(bytes[3])
      guard rest.count - 4 >= length else { break }
      headers.append(Array(rest.prefix(4 + length)))
      rest = rest.dropFirst(4 + length)
    }
    guard let first = headers.first else { return [] }
    let others = headers.count - 1
    let start: [UInt8] =
      [0x7F] + Array("FLAC".utf8)
      + [1, 0, UInt8(truncatingIfNeeded: others >> 8), UInt8(truncatingIfNeeded: others)]
      + Array("fLaC".utf8)
    return [start + first] + headers.dropFirst()
  }

  /// The metadata blocks one behind the other, the last of them marked; nil where the first is not
  /// STREAMINFO.
  ///
  /// - Parameter packets: the headers of FLAC in Ogg, or of a file of its own.
  public static func metadataBlocks(packets: [[UInt8]]) -> [UInt8]? {
    var blocks: [[UInt8]] = []
    for packet in packets {
      var bytes = packet[...]
      if bytes.starts(with: [0x7F] + Array("FLAC".utf8)) { bytes = bytes.dropFirst(9) }
      if bytes.starts(with: "fLaC".utf8) { bytes = bytes.dropFirst(4) }
      if bytes.count >= 4 { blocks.append(Array(bytes)) }
    }
    guard let first = blocks.first, first[0] & 0x7F == 0, first.count >= 38 else { return nil }
    for index in blocks.indices {
      let isLast = index == blocks.count - 1
      blocks[index][0] = blocks[index][0] & 0x7F | (isLast ? 0x80 : 0)
    }
    return blocks.flatMap { $0 }
  }
}

/// The configuration of Opus as `dOps` has it, and as the identification header of Ogg does, which is
/// what GStreamer's caps and decoders know.
public enum OpusHead {
  /// The header (RFC 7845 5.1) of the content of a `dOps` box (Encapsulation of Opus in ISO Base Media
  /// File Format 4.3.2), whose numbers are big-endian; nil where that is too short.
  public static func header(dOps: [UInt8]) -> [UInt8]? {
    guard dOps.count >= 11 else { return nil }
    return Array("OpusHead".utf8) + [1] + swapped(dOps[1...])
  }

  /// The content of a `dOps` box of the header; nil where that is none, or too short.
  public static func dOps(header: [UInt8]) -> [UInt8]? {
    guard header.count >= 19, header.starts(with: "OpusHead".utf8) else { return nil }
    return [0] + swapped(header[9...])
  }

  /// From the channel count on, with each number's bytes the other way around: PreSkip, then
  /// InputSampleRate, then OutputGain.
  private static func swapped(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
    let start = bytes.startIndex
    return [bytes[start]] + bytes[start + 1..<start + 3].reversed()
      + bytes[start + 3..<start + 7].reversed() + bytes[start + 7..<start + 9].reversed()
      + bytes[(start + 9)...]
  }
}
