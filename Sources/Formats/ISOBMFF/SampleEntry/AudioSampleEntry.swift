// SPDX-License-Identifier: MPL-2.0

/// The sample entry of an audio track in `stsd` (ISO/IEC 14496-12 12.2.3, QuickTime File Format
/// "Sound sample description").
public struct AudioSampleEntry: Equatable, Sendable {
  /// The coding, with the configuration that the decoder needs.
  public var coding: AudioCoding
  /// Number of channels according to the entry; the codec's own configuration takes precedence.
  public var channelCount: UInt32
  /// In hertz.
  public var sampleRate: UInt32
  /// Number of audio frames per sample of the track: 1024 for AAC, 1 for PCM, 0 if unknown or
  /// variable.
  public var framesPerSample: UInt32
  /// In bits per second; 0 if unknown.
  public var averageBitRate: UInt32 = 0
  /// In bits per second; 0 if unknown.
  public var maximumBitRate: UInt32 = 0
  /// Channel layout as the channel bitmap of QuickTime's `chan` box (bit 0 left, 1 right, 2 centre,
  /// 3 low frequency, 4 left surround, 5 right surround...).
  public var channelBitmap: UInt32?
  /// All other boxes of the entry, in file order.
  public var otherBoxes: [OpaqueBox] = []

  /// Creates an entry without bit rates, channel layout and further boxes.
  public init(
    coding: AudioCoding, channelCount: UInt32, sampleRate: UInt32, framesPerSample: UInt32 = 0
  ) {
    self.coding = coding
    self.channelCount = channelCount
    self.sampleRate = sampleRate
    self.framesPerSample = framesPerSample
  }

  /// A packet of a coding with constant packet size: the smallest decodable unit, with all
  /// channels.
  public struct Packet: Equatable, Sendable {
    /// Size of the packet in bytes.
    public let bytes: UInt32
    /// Number of audio frames in the packet.
    public let frames: UInt32
  }

  /// The packets of PCM, G.711 and QuickTime's IMA ADPCM; nil for codings with variable packet
  /// size.
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

  /// Returns the type of the sample entry for the coding in a container.
  public func type(in container: MovieContainer) -> FourCC {
    switch (coding, container) {
    case (.aac, _), (.mp3, .mp4), (.mp2, .mp4): "mp4a"
    case (.mp3, .quickTime): ".mp3"
    case (.mp2, .quickTime): ".mp2"
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
  /// Returns the type for a format in QuickTime's version 0 sound description; nil if the format
  /// needs version 2.
  private func classicType(of format: PCMFormat) -> FourCC? {
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
      // QuickTime does not define Opus and FLAC; readers recognise them in ISO's form.
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
      case (.quickTime, .mp3), (.quickTime, .mp2), (.quickTime, .other):
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

  /// The 16.16 rate field; 0 if the rate does not fit, since the codec's own configuration states
  /// it too.
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

  /// Writes version 0, or version 1 for compressed audio with variable packet size (compression id
  /// -2).
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

  /// Writes the fields of QuickTime File Format, "Sound sample description (version 2)".
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

  /// Writes QuickTime's `wave`: the format again, the decoder configuration, and a terminator.
  private func writeWave(to writer: inout BoxWriter) {
    writer.box("wave") {
      $0.box("frma") { $0.write(type(in: .quickTime)) }
      if case .aac = coding {
        // QuickTime expects this box before esds.
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
    case .mp3, .mp2:
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

  /// Writes `chan` with the layout tag "use channel bitmap".
  private func writeChannelLayout(to writer: inout BoxWriter) {
    guard let channelBitmap else { return }
    writer.fullBox("chan") {
      $0.write(UInt32(0x1_0000))
      $0.write(channelBitmap)
      $0.write(UInt32(0))
    }
  }
}
