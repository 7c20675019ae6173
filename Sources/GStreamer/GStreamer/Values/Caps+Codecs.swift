// SPDX-License-Identifier: MPL-2.0

internal import CGStreamer

/// What the configurations of codecs say: `gst_codec_utils`.
extension Caps {
  /// These caps with profile, tier and level of H.265 as a decoder configuration record (hvcC)
  /// states them; the caps themselves where the record is too short, or they are of something else.
  public func withH265ProfileTierLevel(of record: [UInt8]) -> Caps {
    guard mediaType == "video/x-h265", record.count >= 13 else { return self }
    let result = with()
    let profileTierLevel = Array(record[1..<13])
    gst_codec_utils_h265_caps_set_level_tier_and_profile(
      result.pointer, profileTierLevel, guint(profileTierLevel.count))
    return result
  }

  /// These caps with profile and level of AAC as an AudioSpecificConfig (ISO/IEC 14496-3) states
  /// them; the caps themselves where that is too short.
  public func withAACProfileAndLevel(of configuration: [UInt8]) -> Caps {
    guard configuration.count >= 2 else { return self }
    let result = with()
    gst_codec_utils_aac_caps_set_level_and_profile(
      result.pointer, configuration, guint(clamping: configuration.count))
    return result
  }

  /// The caps of Opus by the header that Ogg has (RFC 7845 5.1); nil where that is none.
  public static func opus(header: [UInt8]) -> Caps? {
    let header = Buffer(header)
    return withExtendedLifetime(header) {
      gst_codec_utils_opus_create_caps_from_header($0.pointer, nil)
    }.map { Caps(adopting: $0) }
  }

  /// The header that Ogg has for Opus of these caps (RFC 7845 5.1); nil where they are none.
  public var opusHeader: [UInt8]? {
    var (rate, channels, family, streams, coupled): (UInt32, UInt8, UInt8, UInt8, UInt8) =
      (0, 0, 0, 0, 0)
    var mapping = [UInt8](repeating: 0, count: 256)
    guard
      gst_codec_utils_opus_parse_caps(
        pointer, &rate, &channels, &family, &streams, &coupled, &mapping) != 0,
      let header = gst_codec_utils_opus_create_header(
        rate, channels, family, streams, coupled, mapping, 0, 0)
    else { return nil }
    return Buffer(adopting: header).bytes
  }
}

/// What an AudioSpecificConfig (ISO/IEC 14496-3 1.6.2.1) says.
public struct AACConfiguration: Sendable {
  /// In Hz; nil where it is not known.
  public let sampleRate: UInt32?
  /// nil where it is not known.
  public let channelCount: UInt32?

  public init(_ bytes: [UInt8]) {
    let length = guint(clamping: bytes.count)
    let rate = length >= 2 ? gst_codec_utils_aac_get_sample_rate(bytes, length) : 0
    let channels = length >= 2 ? gst_codec_utils_aac_get_channels(bytes, length) : 0
    sampleRate = rate > 0 ? rate : nil
    channelCount = channels > 0 ? channels : nil
  }
}

extension Fraction {
  /// The usual rate of frames that last so long on average; nil where there is none near to it.
  public init?(guessedFromFrameDuration duration: ClockTime) {
    var (numerator, denominator): (Int32, Int32) = (0, 1)
    guard gst_video_guess_framerate(GstClockTime(duration), &numerator, &denominator) != 0 else {
      return nil
    }
    self.init(numerator, denominator)
  }
}
