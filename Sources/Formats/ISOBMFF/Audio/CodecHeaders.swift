// SPDX-License-Identifier: MPL-2.0

/// Conversion between the bare ALAC configuration and the `alac` box that holds it inside a sample
/// entry, the form that decoders expect.
public enum ALACBox {
  /// Returns the `alac` box for a configuration (ALACSpecificConfig).
  public static func box(magicCookie cookie: [UInt8]) -> [UInt8] {
    OpaqueBox("alac", payload: [0, 0, 0, 0] + cookie).bytes
  }

  /// Returns the configuration, unwrapped if `data` is the box; nil if it is too short.
  public static func magicCookie(_ data: [UInt8]) -> [UInt8]? {
    let isBox = data.count >= 12 && data[4..<8].elementsEqual("alac".utf8)
    let cookie = isBox ? Array(data[12...]) : data
    return cookie.count >= 24 ? cookie : nil
  }
}

/// Conversion between the FLAC configuration in `dfLa` and the Ogg header packets that GStreamer's
/// caps hold.
public enum FLACHeaders {
  /// Returns the header packets (RFC 9639 10.1), one for each metadata block; empty if there are
  /// none.
  ///
  /// - Parameter blocks: concatenated metadata blocks (RFC 9639 8). A truncated one is dropped.
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
    headers[0] = start + first
    return headers
  }

  /// Returns the concatenated metadata blocks, the last one marked as such; nil if the first is not
  /// STREAMINFO.
  ///
  /// - Parameter packets: the header packets of FLAC in Ogg, or the headers of a native FLAC file.
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

/// Conversion between the Opus configuration in `dOps` and the Ogg identification header that
/// GStreamer's caps and decoders use.
public enum OpusHead {
  /// Returns the header (RFC 7845 5.1) for the content of a `dOps` box (Encapsulation of Opus in
  /// ISO Base Media File Format 4.3.2), whose numbers are big-endian; nil if that is too short.
  public static func header(dOps: [UInt8]) -> [UInt8]? {
    guard dOps.count >= 11 else { return nil }
    return Array("OpusHead".utf8) + [1] + swapped(dOps[1...])
  }

  /// Returns the content of a `dOps` box for the header; nil if `header` is not one or is too
  /// short.
  public static func dOps(header: [UInt8]) -> [UInt8]? {
    guard header.count >= 19, header.starts(with: "OpusHead".utf8) else { return nil }
    return [0] + swapped(header[9...])
  }

  /// Reverses the bytes of each number: PreSkip, InputSampleRate, OutputGain. `bytes` start at the
  /// channel count.
  private static func swapped(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
    let start = bytes.startIndex
    return [bytes[start]] + bytes[start + 1..<start + 3].reversed()
      + bytes[start + 3..<start + 7].reversed() + bytes[start + 7..<start + 9].reversed()
      + bytes[(start + 9)...]
  }
}
