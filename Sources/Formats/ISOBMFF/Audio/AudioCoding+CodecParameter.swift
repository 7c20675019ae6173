// SPDX-License-Identifier: MPL-2.0

extension AudioCoding {
  /// The codecs parameter of RFC 6381: `mp4a.40.2`. Nil for codings that have none.
  public var codecParameter: String? {
    switch self {
    case .aac(let configuration):
      guard configuration.count >= 2 else { return nil }
      // ISO/IEC 14496-3 1.6.2.1: five bits, or 31 and six bits.
      let type = Int(configuration[0] >> 3)
      let escaped = 32 + (Int(configuration[0] & 7) << 3 | Int(configuration[1] >> 5))
      return "mp4a.40.\(type == 31 ? escaped : type)"
    case .mp3: return "mp4a.6B"
    case .ac3: return "ac-3"
    case .eac3: return "ec-3"
    case .opus: return "Opus"
    case .flac: return "fLaC"
    case .alac: return "alac"
    case .pcm, .other: return nil
    }
  }
}
