// SPDX-License-Identifier: MPL-2.0

/// What the samples of an audio track are: a sample entry of `stsd` (ISO/IEC 14496-12 12.2.3,
/// QuickTime File Format "Sound sample description").
public struct AudioSampleEntry: Equatable, Sendable {
  /// How the samples are coded, with what the decoder needs.
  public var coding: AudioCoding
  /// As the entry has it; the record of the codec decides where they differ.
  public var channelCount: UInt32
  /// In hertz.
  public var sampleRate: UInt32
  /// Audio frames in one sample of the track: 1024 for AAC, 1 for PCM, 0 where it is not known
  /// or changes.
  public var framesPerSample: UInt32
  /// In bits per second, 0 where it is not known.
  public var averageBitRate: UInt32 = 0
  /// In bits per second, 0 where it is not known.
  public var maximumBitRate: UInt32 = 0
  /// Which loudspeakers the channels belong to, as the channel bitmap of QuickTime's `chan` box
  /// (bit 0 left, 1 right, 2 centre, 3 low frequency, 4 left surround, 5 right surround...).
  public var channelBitmap: UInt32?
  /// Every other box of the entry, in the file's order.
  public var otherBoxes: [OpaqueBox] = []

  public init(
    coding: AudioCoding, channelCount: UInt32, sampleRate: UInt32, framesPerSample: UInt32 = 0
  ) {
    self.coding = coding
    self.channelCount = channelCount
    self.sampleRate = sampleRate
    self.framesPerSample = framesPerSample
  }

  /// A packet of a coding whose packets are all of one size: the least that can be decoded, all channels.
  public struct Packet: Equatable, Sendable {
    public let bytes: UInt32
    /// The audio frames in it.
    public let frames: UInt32
  }

  /// What PCM, G.711 and QuickTime's IMA ADPCM consist of; nil for codings whose packets are not
  /// all of one size.
  public var packet: Packet? {
    let bytesPerChannel: UInt32
    var frames: UInt32 = 1
    switch coding {
    case .pcm(let format): bytesPerChannel = format.bytesPerSample
    case .other("alaw"), .other("ulaw"): bytesPerChannel = 1
    case .other("ima4"): (bytesPerChannel, frames) = (34, 64)
    default: return nil
    }
    let (bytes, overflow) = bytesPerChannel.multipliedReportingOverflow(by: channelCount)
    return overflow || bytes == 0 ? nil : Packet(bytes: bytes, frames: frames)
  }

  /// The type of the sample entry that the coding has in a container.
  public func type(in container: MovieContainer) -> FourCC {
    switch (coding, container) {
    case (.aac, _), (.mp3, .mp4): "mp4a"
    case (.mp3, .quickTime): ".mp3"
    case (.pcm(let format), .quickTime): classicType(of: format) ?? "lpcm"
    case (.pcm(let format), .mp4): format.isFloat ? "fpcm" : "ipcm"
    case (.ac3, _): "ac-3"
    case (.eac3, _): "ec-3"
    case (.opus, _): "Opus"
    case (.flac, _): "fLaC"
    case (.alac, _): "alac"
    case (.other(let type), _): type
    }
  }
}

extension AudioSampleEntry {
  /// The type by which QuickTime's version 0 sound description knows a format; nil for those
  /// that need version 2.
  func classicType(of format: PCMFormat) -> FourCC? {
    guard format.bitsPerSample == 16, !format.isFloat, format.isSigned, channelCount <= 2,
      sampleRate <= 0xFFFF
    else { return nil }
    return format.isBigEndian ? "twos" : "sowt"
  }
}
