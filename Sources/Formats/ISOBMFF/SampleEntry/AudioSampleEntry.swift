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

extension AudioSampleEntry {
  func write(to writer: inout BoxWriter, container: MovieContainer) {
    writer.box(type(in: container)) {
      $0.write(zeros: 6)
      $0.write(UInt16(1))
      switch (container, coding) {
      // QuickTime has no form of its own for Opus and FLAC; readers know theirs by ISO's.
      case (.mp4, _), (.quickTime, .opus), (.quickTime, .flac):
        writeISOFields(to: &$0)
        writeConfiguration(to: &$0)
        writeBitRate(to: &$0)
      case (.quickTime, .pcm(let format)) where classicType(of: format) != nil:
        writeSoundDescription(version: 0, to: &$0)
      case (.quickTime, .pcm(let format)):
        writeVersion2SoundDescription(format, to: &$0)
      case (.quickTime, .other("alaw")), (.quickTime, .other("ulaw")):
        writeSoundDescription(version: 0, to: &$0)
      case (.quickTime, .mp3), (.quickTime, .other):
        writeSoundDescription(version: 1, to: &$0)
      case (.quickTime, _):
        writeSoundDescription(version: 1, to: &$0)
        writeWave(to: &$0)
      }
      switch (container, coding) {
      case (.quickTime, _): writeChannelLayout(to: &$0)
      case (.mp4, .pcm): ChannelPositions.write(bitmap: channelBitmap ?? 0, to: &$0)
      case (.mp4, _): break
      }
      for box in otherBoxes {
        $0.box(box)
      }
    }
  }

  /// The 16.16 rate field; 0 where the rate does not fit, as the codec's own record has it.
  private var fixedPointRate: UInt32 {
    sampleRate <= 0xFFFF ? sampleRate << 16 : 0
  }

  private var sampleSize: UInt16 {
    if case .pcm(let format) = coding { format.bitsPerSample } else { 16 }
  }

  private func writeISOFields(to writer: inout BoxWriter) {
    writer.write(zeros: 8)
    writer.write(UInt16(clamping: channelCount))
    writer.write(sampleSize)
    writer.write(zeros: 4)
    writer.write(fixedPointRate)
  }

  /// Version 0, or version 1 of compressed audio whose packet size varies (compression id -2).
  private func writeSoundDescription(version: UInt16, to writer: inout BoxWriter) {
    writer.write(version)
    writer.write(zeros: 6)
    writer.write(UInt16(clamping: channelCount))
    writer.write(UInt16(16))
    writer.write(version == 1 ? -2 : 0 as Int16)
    writer.write(UInt16(0))
    writer.write(fixedPointRate)
    if version == 1 {
      writer.write(framesPerSample)
      writer.write(UInt32(0))
      writer.write(UInt32(0))
      writer.write(UInt32(2))
    }
  }

  /// QuickTime File Format, "Sound sample description (version 2)".
  private func writeVersion2SoundDescription(_ format: PCMFormat, to writer: inout BoxWriter) {
    writer.write(UInt16(2))
    writer.write(zeros: 6)
    writer.write(UInt16(3))
    writer.write(UInt16(16))
    writer.write(Int16(-2))
    writer.write(UInt16(0))
    writer.write(UInt32(0x1_0000))
    writer.write(UInt32(72))
    writer.write(Double(sampleRate).bitPattern)
    writer.write(channelCount)
    writer.write(UInt32(0x7F00_0000))
    writer.write(UInt32(format.bitsPerSample))
    writer.write(format.lpcmFlags)
    writer.write(packet?.bytes ?? 0)
    writer.write(UInt32(1))
  }

  /// QuickTime's `wave`: the format once more, what the decoder needs, and a terminator.
  private func writeWave(to writer: inout BoxWriter) {
    writer.box("wave") {
      $0.box("frma") { $0.write(type(in: .quickTime)) }
      if case .aac = coding {
        // The box that QuickTime looks for in front of esds.
        $0.box("mp4a") { $0.write(UInt32(0)) }
      }
      writeConfiguration(to: &$0)
      $0.write(UInt32(8))
      $0.write(UInt32(0))
    }
  }

  private func writeConfiguration(to writer: inout BoxWriter) {
    switch coding {
    case .aac(let config):
      elementaryStreamDescriptor(objectType: 0x40, config: config).write(to: &writer)
    case .mp3:
      elementaryStreamDescriptor(objectType: 0x6B, config: nil).write(to: &writer)
    case .pcm(let format):
      writer.fullBox("pcmC") {
        $0.write(format.isBigEndian ? 0 : 1 as UInt8)
        $0.write(UInt8(clamping: format.bitsPerSample))
      }
    case .ac3(let content): writer.box("dac3") { $0.write(content) }
    case .eac3(let content): writer.box("dec3") { $0.write(content) }
    case .opus(let content): writer.box("dOps") { $0.write(content) }
    case .flac(let blocks): writer.fullBox("dfLa") { $0.write(blocks) }
    case .alac(let cookie): writer.fullBox("alac") { $0.write(cookie) }
    case .other: break
    }
  }

  private func elementaryStreamDescriptor(
    objectType: UInt8, config: [UInt8]?
  ) -> ElementaryStreamDescriptor {
    ElementaryStreamDescriptor(
      objectTypeIndication: objectType, maximumBitRate: maximumBitRate,
      averageBitRate: averageBitRate, decoderSpecificInfo: config)
  }

  private func writeBitRate(to writer: inout BoxWriter) {
    guard averageBitRate > 0 || maximumBitRate > 0 else { return }
    writer.box("btrt") {
      $0.write(UInt32(0))
      $0.write(maximumBitRate)
      $0.write(averageBitRate)
    }
  }

  /// `chan` with the layout tag "use channel bitmap".
  private func writeChannelLayout(to writer: inout BoxWriter) {
    guard let channelBitmap else { return }
    writer.fullBox("chan") {
      $0.write(UInt32(0x1_0000))
      $0.write(channelBitmap)
      $0.write(UInt32(0))
    }
  }
}
