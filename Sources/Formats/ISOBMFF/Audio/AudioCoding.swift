// SPDX-License-Identifier: MPL-2.0

internal import StereoVideo

/// How the samples of an audio track are coded, with the bytes a decoder needs first.
public enum AudioCoding: Equatable, Sendable {
  /// MPEG-4 AAC: the AudioSpecificConfig (ISO/IEC 14496-3 1.6.2.1).
  case aac(audioSpecificConfig: [UInt8])
  /// MPEG-1 or MPEG-2 layer III.
  case mp3
  case pcm(PCMFormat)
  /// AC-3: the content of `dac3` (ETSI TS 102 366 F.4).
  case ac3(dac3: [UInt8])
  /// Enhanced AC-3: the content of `dec3` (ETSI TS 102 366 F.6).
  case eac3(dec3: [UInt8])
  /// Opus: the content of `dOps` (Encapsulation of Opus in ISO base media, 4.3.2).
  case opus(dOps: [UInt8])
  /// FLAC: the content of `dfLa` behind version and flags, that is, the metadata blocks with
  /// STREAMINFO first (Encapsulation of FLAC in ISO base media, 3.3.2).
  case flac(metadataBlocks: [UInt8])
  /// Apple Lossless: the ALACSpecificConfig of 24 bytes, or 48 with channel layout.
  case alac(magicCookie: [UInt8])
  /// Any other, by the type of its sample entry; its boxes are among the entry's `otherBoxes`.
  case other(FourCC)
}

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

/// How uncompressed audio is stored.
public struct PCMFormat: Equatable, Sendable {
  /// 8, 16, 24 or 32 for integers, 32 or 64 for floating point.
  public var bitsPerSample: UInt16
  /// Floating point (IEEE 754) rather than integers.
  public var isFloat: Bool
  /// The most significant byte comes first.
  public var isBigEndian: Bool
  /// Integers below zero exist; only 8-bit integers may be without, and not in MP4.
  public var isSigned: Bool

  public init(
    bitsPerSample: UInt16, isFloat: Bool = false, isBigEndian: Bool = false,
    isSigned: Bool = true
  ) {
    self.bitsPerSample = bitsPerSample
    self.isFloat = isFloat
    self.isBigEndian = isBigEndian
    self.isSigned = isSigned
  }

  /// The bytes of one channel's sample.
  public var bytesPerSample: UInt32 { (UInt32(bitsPerSample) + 7) / 8 }

  /// `formatSpecificFlags` of a version 2 sound description (QuickTime File Format, "LPCM flag
  /// values"); always packed.
  var lpcmFlags: UInt32 {
    (isFloat ? 1 : 0) | (isBigEndian ? 2 : 0) | (isSigned && !isFloat ? 4 : 0) | 8
  }
}

/// Which loudspeakers the channels are for: a `chnl` box that names each (ISO/IEC 14496-12
/// 12.2.4, positions of ISO/IEC 23091-3).
enum ChannelPositions {
  /// Positions by the bits of QuickTime's bitmap, in the order in which channels come: side
  /// channels, bits 9 and 10, behind the rear ones.
  private static let positions: [(bit: UInt32, position: UInt8)] = [
    (0, 0), (1, 1), (2, 2), (3, 3), (4, 8), (5, 9), (6, 6), (7, 7), (8, 10), (9, 4), (10, 5),
  ]
  /// Left and right side surround, which films call left and right surround.
  private static let others: [UInt8: UInt32] = [13: 9, 14: 10]

  /// The bitmap of a box's content; nil where the channels are in another order, or for
  /// loudspeakers that have no bit.
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

  /// Writes the box for a bitmap; nothing where a bit has no position.
  static func write(bitmap: UInt32, to writer: inout BoxWriter) {
    guard bitmap != 0, bitmap >> 11 == 0 else { return }
    writer.fullBox("chnl") {
      $0.write(UInt8(1))
      $0.write(UInt8(0))
      for (bit, position) in positions where bitmap >> bit & 1 == 1 { $0.write(position) }
    }
  }
}
