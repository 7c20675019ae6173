// SPDX-License-Identifier: MPL-2.0

internal import StereoVideo

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
    case .ac3(let dac3): Self.format(dac3: dac3)
    case .eac3(let dec3): Self.format(dec3: dec3)
    default: nil
    }
  }

  /// ALACSpecificConfig.
  private static func format(alac cookie: [UInt8]) -> AudioFormat? {
    guard let rate = cookie.bigEndian(at: 20, as: UInt32.self), rate > 0, cookie[9] > 0 else {
      return nil
    }
    return AudioFormat(
      sampleRate: rate, channelCount: UInt32(cookie[9]), bitsPerSample: UInt32(cookie[5]))
  }

  /// STREAMINFO (RFC 9639 8.2) behind its block header.
  private static func format(flac blocks: [UInt8]) -> AudioFormat? {
    var reader = BitReader(blocks, structure: "STREAMINFO", position: 14 * 8)
    guard let rate = try? reader.u(20, "sample rate", in: 1...0xF_FFFF),
      let channels = try? reader.u(3, "channels"), let bits = try? reader.u(5, "bits per sample")
    else { return nil }
    return AudioFormat(
      sampleRate: UInt32(rate), channelCount: UInt32(channels + 1),
      bitsPerSample: UInt32(bits + 1))
  }

  /// The content of `dac3` (ETSI TS 102 366 F.4).
  private static func format(dac3 record: [UInt8]) -> AudioFormat? {
    var reader = BitReader(record, structure: "AC3SpecificBox")
    guard let fscod = try? reader.u(2, "fscod", in: 0...2),
      (try? reader.skip(8, "bsid and bsmod")) != nil,
      let channels = try? Self.channelCount(&reader)
    else { return nil }
    return format(fscod: fscod, channelCount: channels)
  }

  /// The first, or only, independent substream of `dec3` (ETSI TS 102 366 F.6).
  private static func format(dec3 record: [UInt8]) -> AudioFormat? {
    var reader = BitReader(record, structure: "EC3SpecificBox", position: 16)
    guard let fscod = try? reader.u(2, "fscod", in: 0...2),
      (try? reader.skip(10, "bsid, asvc and bsmod")) != nil,
      var channels = try? Self.channelCount(&reader)
    else { return nil }
    if (try? reader.skip(3, "reserved")) != nil, let dependents = try? reader.u(4, "num_dep_sub"),
      dependents > 0, let locations = try? reader.u(9, "chan_loc")
    {
      // Pairs but for Cs, Ts, Cvh and LFE2.
      let singles = 1 << 2 | 1 << 3 | 1 << 7 | 1 << 8
      channels += 2 * locations.nonzeroBitCount - (locations & singles).nonzeroBitCount
    }
    return format(fscod: fscod, channelCount: channels)
  }

  /// Of `acmod` and `lfeon`.
  private static func channelCount(_ reader: inout BitReader) throws(SyntaxError) -> Int {
    try [2, 1, 2, 3, 3, 4, 4, 5][reader.u(3, "acmod")] + reader.u(1, "lfeon")
  }

  private static func format(fscod: Int, channelCount: Int) -> AudioFormat {
    AudioFormat(
      sampleRate: [48_000, 44_100, 32_000][fscod], channelCount: UInt32(channelCount),
      bitsPerSample: nil)
  }
}
