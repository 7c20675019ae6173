// SPDX-License-Identifier: MPL-2.0

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
