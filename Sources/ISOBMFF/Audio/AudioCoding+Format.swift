/// What the codec's own record says of the sound.
public struct AudioFormat: Equatable, Sendable {
  /// In hertz.
  public var sampleRate: UInt32
  public var channelCount: UInt32
  /// Of one channel; nil where the coding has no such width.
  public var bitsPerSample: UInt32?
}

extension AudioCoding {
  /// What the record of ALAC, FLAC, AC-3 or E-AC-3 says; nil for other codings, and where the
  /// record is too short or says nothing.
  public var recordedFormat: AudioFormat? {
    switch self {
    case .alac(let cookie): Self.format(alac: cookie)
    case .flac(let blocks): Self.format(flac: blocks)
    case .ac3(let dac3): Self.format(ac3: dac3, skipping: 0)
    case .eac3(let dec3): Self.format(ac3: dec3, skipping: 16)
    default: nil
    }
  }

  /// ALACSpecificConfig.
  private static func format(alac cookie: [UInt8]) -> AudioFormat? {
    guard cookie.count >= 24 else { return nil }
    let rate = cookie[20..<24].reduce(0) { $0 << 8 | UInt32($1) }
    guard rate > 0, cookie[9] > 0 else { return nil }
    return AudioFormat(
      sampleRate: rate, channelCount: UInt32(cookie[9]), bitsPerSample: UInt32(cookie[5]))
  }

  /// STREAMINFO (RFC 9639 8.2) behind its block header.
  private static func format(flac blocks: [UInt8]) -> AudioFormat? {
    var field = BitField(Array(blocks.dropFirst(14).prefix(8)))
    guard let rate = field.read(20), rate > 0, let channels = field.read(3),
      let bits = field.read(5)
    else { return nil }
    return AudioFormat(
      sampleRate: UInt32(rate), channelCount: UInt32(channels + 1),
      bitsPerSample: UInt32(bits + 1))
  }

  /// The first, or only, independent substream.
  private static func format(ac3 record: [UInt8], skipping start: Int) -> AudioFormat? {
    var field = BitField(record)
    let isEnhanced = start > 0
    guard field.read(start) != nil, let fscod = field.read(2), fscod < 3,
      field.read(isEnhanced ? 10 : 8) != nil, let acmod = field.read(3), let lfeon = field.read(1)
    else { return nil }
    var channels = [2, 1, 2, 3, 3, 4, 4, 5][acmod] + lfeon
    if isEnhanced, field.read(3) != nil, field.read(4) ?? 0 > 0, let locations = field.read(9) {
      // chan_loc: pairs but for Cs, Ts, Cvh and LFE2.
      let singles = 1 << 2 | 1 << 3 | 1 << 7 | 1 << 8
      channels += 2 * locations.nonzeroBitCount - (locations & singles).nonzeroBitCount
    }
    return AudioFormat(
      sampleRate: [48_000, 44_100, 32_000][fscod], channelCount: UInt32(channels),
      bitsPerSample: nil)
  }
}
