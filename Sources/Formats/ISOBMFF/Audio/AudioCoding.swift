// SPDX-License-Identifier: MPL-2.0

internal import StereoVideo

/// The coding of an audio track, with the configuration that its decoder needs.
public enum AudioCoding: Equatable, Sendable {
  /// MPEG-4 AAC: the AudioSpecificConfig (ISO/IEC 14496-3 1.6.2.1).
  case aac(audioSpecificConfig: [UInt8])
  /// MPEG-1 or MPEG-2 layer III.
  case mp3
  /// MPEG-1 or MPEG-2 layer I or II. MP4 does not tell it from layer III.
  case mp2
  /// Uncompressed samples.
  case pcm(PCMFormat)
  /// AC-3: the content of `dac3` (ETSI TS 102 366 F.4).
  case ac3(dac3: [UInt8])
  /// Enhanced AC-3: the content of `dec3` (ETSI TS 102 366 F.6).
  case eac3(dec3: [UInt8])
  /// Opus: the content of `dOps` (Encapsulation of Opus in ISO base media, 4.3.2).
  case opus(dOps: [UInt8])
  /// FLAC: the content of `dfLa` after version and flags, i.e. the metadata blocks with STREAMINFO
  /// first (Encapsulation of FLAC in ISO base media, 3.3.2).
  case flac(metadataBlocks: [UInt8])
  /// Apple Lossless: the ALACSpecificConfig, 24 bytes, or 48 with the channel layout.
  case alac(magicCookie: [UInt8])
  /// Any other coding, by the type of its sample entry; its boxes are in the entry's `otherBoxes`.
  case other(FourCC)
}

/// The audio format that a codec's configuration record states.
public struct AudioFormat: Equatable, Sendable {
  /// In hertz.
  public var sampleRate: UInt32
  /// Number of channels, including LFE.
  public var channelCount: UInt32
  /// Bits per sample of one channel; nil for codings without a fixed sample width.
  public var bitsPerSample: UInt32?
}

extension AudioCoding {
  /// The format according to the record of ALAC, FLAC, AC-3 or E-AC-3; nil for other codings and if
  /// the record is too short or invalid.
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

  /// STREAMINFO (RFC 9639 8.2) after its block header.
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
      // All are pairs except Cs, Ts, Cvh and LFE2.
      let singles = 1 << 2 | 1 << 3 | 1 << 7 | 1 << 8
      channels += 2 * locations.nonzeroBitCount - (locations & singles).nonzeroBitCount
    }
    return format(fscod: fscod, channelCount: channels)
  }

  /// Returns the number of channels that `acmod` and `lfeon` stand for.
  private static func channelCount(_ reader: inout BitReader) throws(SyntaxError) -> Int {
    try [2, 1, 2, 3, 3, 4, 4, 5][reader.u(3, "acmod")] + reader.u(1, "lfeon")
  }

  private static func format(fscod: Int, channelCount: Int) -> AudioFormat {
    AudioFormat(
      sampleRate: [48_000, 44_100, 32_000][fscod], channelCount: UInt32(channelCount),
      bitsPerSample: nil)
  }
}

extension AudioCoding {
  /// The `codecs` parameter (RFC 6381), such as `mp4a.40.2`; nil for codings that have none.
  public var codecParameter: String? {
    switch self {
    case .aac(let configuration):
      guard configuration.count >= 2 else { return nil }
      // ISO/IEC 14496-3 1.6.2.1: five bits, or the escape value 31 and six more bits.
      let type = Int(configuration[0] >> 3)
      let escaped = 32 + (Int(configuration[0] & 7) << 3 | Int(configuration[1] >> 5))
      return "mp4a.40.\(type == 31 ? escaped : type)"
    case .mp3, .mp2: return "mp4a.6B"
    case .ac3: return "ac-3"
    case .eac3: return "ec-3"
    case .opus: return "Opus"
    case .flac: return "fLaC"
    case .alac: return "alac"
    case .pcm, .other: return nil
    }
  }
}

/// The storage format of uncompressed audio.
public struct PCMFormat: Equatable, Sendable {
  /// 8, 16, 24 or 32 for integers, 32 or 64 for floating point.
  public var bitsPerSample: UInt16
  /// Whether samples are floating point (IEEE 754) rather than integers.
  public var isFloat: Bool
  /// Whether the most significant byte comes first.
  public var isBigEndian: Bool
  /// Whether integers are signed. Only 8-bit integers may be unsigned, and not in MP4.
  public var isSigned: Bool

  /// Creates a format; by default, signed little-endian integers.
  public init(
    bitsPerSample: UInt16, isFloat: Bool = false, isBigEndian: Bool = false,
    isSigned: Bool = true
  ) {
    self.bitsPerSample = bitsPerSample
    self.isFloat = isFloat
    self.isBigEndian = isBigEndian
    self.isSigned = isSigned
  }

  /// Bytes per sample of one channel.
  public var bytesPerSample: UInt32 { (UInt32(bitsPerSample) + 7) / 8 }

  /// `formatSpecificFlags` of a version 2 sound description (QuickTime File Format, "LPCM flag
  /// values"); always packed.
  var lpcmFlags: UInt32 {
    (isFloat ? 1 : 0) | (isBigEndian ? 2 : 0) | (isSigned && !isFloat ? 4 : 0) | 8
  }
}

/// The channel layout in a `chnl` box that lists each loudspeaker position (ISO/IEC 14496-12
/// 12.2.4, positions of ISO/IEC 23091-3).
enum ChannelPositions {
  /// Positions by their bit in QuickTime's channel bitmap, in channel order: the side channels,
  /// bits 9 and 10, come after the rear ones.
  private static let positions: [(bit: UInt32, position: UInt8)] = [
    (0, 0), (1, 1), (2, 2), (3, 3), (4, 8), (5, 9), (6, 6), (7, 7), (8, 10), (9, 4), (10, 5),
  ]
  /// Left and right side surround, which cinema layouts call left and right surround.
  private static let others: [UInt8: UInt32] = [13: 9, 14: 10]

  /// Returns the bitmap for the content of a `chnl` box; nil if the channels are in another order
  /// or a loudspeaker has no bit.
  static func bitmap(_ box: BoxReader, channelCount: UInt32) throws(ISOBMFFError) -> UInt32? {
    var box = box
    guard try box.readVersion().version == 0, try box.read("stream_structure", as: UInt8.self) == 1,
      try box.read("definedLayout", as: UInt8.self) == 0, channelCount <= 16
    else { return nil }
    var bitmap: UInt32 = 0
    for _ in 0..<channelCount {
      let position: UInt8 = try box.read("speaker_position")
      let known = positions.first { $0.position == position }?.bit ?? others[position]
      guard let bit = known, bitmap >> bit == 0 else { return nil }
      bitmap |= 1 << bit
    }
    return bitmap
  }

  /// Writes the box for a bitmap; writes nothing if a bit has no position.
  static func write(bitmap: UInt32, to writer: inout BoxWriter) {
    guard bitmap != 0, bitmap >> 11 == 0 else { return }
    writer.fullBox("chnl") {
      $0.write(UInt8(1))
      $0.write(UInt8(0))
      for (bit, position) in positions where bitmap >> bit & 1 == 1 { $0.write(position) }
    }
  }
}
