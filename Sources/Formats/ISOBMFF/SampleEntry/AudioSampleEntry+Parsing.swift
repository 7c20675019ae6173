// SPDX-License-Identifier: MPL-2.0

extension AudioSampleEntry {
  /// The fields of a sound description that are needed to interpret its boxes.
  private struct Fields {
    var sampleSize: UInt16 = 0
    /// `formatSpecificFlags` of version 2.
    var lpcmFlags: UInt32?
  }

  /// Parses an audio sample entry of either container. Defects of its boxes are added to `issues`;
  /// if the coding depends on a broken box, it is ``AudioCoding/other(_:)``.
  ///
  /// - Parameter isISOVersion1: whether version 1 of the entry is ISO's (`stsd` version 1), which
  ///   adds no fields, rather than QuickTime's.
  init(
    _ box: BoxReader, isISOVersion1: Bool, issues: inout IssueLog
  ) throws(ISOBMFFError) {
    var box = box
    coding = .other(box.type)
    channelCount = 0
    sampleRate = 0
    framesPerSample = 0
    let fields = try readFields(&box, isISOVersion1: isISOVersion1)
    var configuration: [BoxReader] = []
    Self.collect(box, isWave: false, into: &configuration, others: &otherBoxes, issues: &issues)
    let known = issues.optional { () throws(ISOBMFFError) in
      try readCoding(box.type, fields, configuration)
    }
    for child in configuration {
      issues.optional { () throws(ISOBMFFError) in try readCommon(child) }
    }
    if known != true {
      // The boxes of an unknown coding cannot be interpreted, so all of them are kept unparsed.
      otherBoxes = Self.children(of: box)
      (averageBitRate, maximumBitRate, channelBitmap) = (0, 0, nil)
    }
  }

  private mutating func readFields(
    _ box: inout BoxReader, isISOVersion1: Bool
  ) throws(ISOBMFFError) -> Fields {
    var fields = Fields()
    try box.skip(8, "reserved and data_reference_index")
    let version: UInt16 = try box.read("version")
    try box.skip(6, "revision and vendor")
    channelCount = UInt32(try box.read("channelcount", as: UInt16.self))
    fields.sampleSize = try box.read("samplesize")
    try box.skip(4, "compression id and packet size")
    sampleRate = try box.read("samplerate", as: UInt32.self) >> 16
    switch version {
    case 1 where !isISOVersion1:
      framesPerSample = try box.read("samples per packet")
      try box.skip(12, "bytes per packet, frame and sample")
    case 2:
      try box.skip(4, "sizeOfStructOnly")
      let rate = Double(bitPattern: try box.read("audioSampleRate"))
      sampleRate = UInt32(exactly: rate.rounded()) ?? 0
      channelCount = try box.read("numAudioChannels")
      try box.skip(4, "always7F000000")
      fields.sampleSize = UInt16(
        clamping: try box.read("constBitsPerChannel", as: UInt32.self))
      fields.lpcmFlags = try box.read("formatSpecificFlags")
      try box.skip(4, "constBytesPerAudioPacket")
      framesPerSample = try box.read("constLPCMFramesPerAudioPacket")
    default:
      break
    }
    return fields
  }

  private static let configurationTypes: Set<FourCC> = [
    "esds", "dac3", "dec3", "dOps", "dfLa", "alac", "pcmC", "enda", "srat", "btrt", "chan",
    "chnl",
  ]

  /// Sorts the boxes of an entry and of its `wave` into those to parse and those to keep.
  private static func collect(
    _ box: BoxReader, isWave: Bool, into configuration: inout [BoxReader],
    others: inout [OpaqueBox], issues: inout IssueLog
  ) {
    var box = box
    while let child = issues.optional({ () throws(ISOBMFFError) in try box.nextBox() }) ?? nil {
      if child.type == "wave", !isWave {
        collect(child, isWave: true, into: &configuration, others: &others, issues: &issues)
      } else if configurationTypes.contains(child.type) {
        configuration.append(child)
      } else if !isWave {
        others.append(child.opaque)
      }
    }
  }

  private static func children(of box: BoxReader) -> [OpaqueBox] {
    var box = box
    var children: [OpaqueBox] = []
    while let child = try? box.nextBox() {
      children.append(child.opaque)
    }
    return children
  }

  /// Reads the coding; returns whether it is one that ``AudioCoding`` has a case for.
  private mutating func readCoding(
    _ type: FourCC, _ fields: Fields, _ boxes: [BoxReader]
  ) throws(ISOBMFFError) -> Bool {
    func content(_ type: FourCC, from offset: Int = 0) -> [UInt8]? {
      boxes.first { $0.type == type }.map { $0.rewound(to: offset).opaque.payload }
    }
    switch type {
    case "mp4a":
      guard let esds = boxes.first(where: { $0.type == "esds" }) else { return false }
      return try readElementaryStream(esds)
    case ".mp3", FourCC(rawValue: 0x6D73_0055):
      coding = .mp3
    case ".mp2":
      coding = .mp2
    case "ac-3":
      coding = .ac3(dac3: content("dac3") ?? [])
    case "ec-3":
      coding = .eac3(dec3: content("dec3") ?? [])
    case "Opus":
      guard let dOps = content("dOps") else { return false }
      coding = .opus(dOps: dOps)
    case "fLaC":
      guard let blocks = content("dfLa", from: 4) else { return false }
      coding = .flac(metadataBlocks: blocks)
    case "alac":
      guard let cookie = content("alac", from: 4) else { return false }
      coding = .alac(magicCookie: cookie)
    default:
      guard let format = try PCMFormat(type, fields.sampleSize, fields.lpcmFlags, boxes) else {
        return false
      }
      coding = .pcm(format)
      framesPerSample = 1
    }
    return true
  }

  private mutating func readElementaryStream(_ box: BoxReader) throws(ISOBMFFError) -> Bool {
    let descriptor = try ElementaryStreamDescriptor(box)
    switch descriptor.objectTypeIndication {
    case 0x40, 0x66, 0x67, 0x68:
      coding = .aac(audioSpecificConfig: descriptor.decoderSpecificInfo ?? [])
    case 0x69, 0x6B:
      coding = .mp3
    default:
      return false
    }
    averageBitRate = descriptor.averageBitRate
    maximumBitRate = descriptor.maximumBitRate
    return true
  }

  private mutating func readCommon(_ child: BoxReader) throws(ISOBMFFError) {
    var child = child
    switch child.type {
    case "srat":
      _ = try child.readVersion()
      sampleRate = try child.read("sampling_rate")
    case "btrt":
      try child.skip(4, "bufferSizeDB")
      maximumBitRate = try child.read("maxBitrate")
      averageBitRate = try child.read("avgBitrate")
    case "chan":
      _ = try child.readVersion()
      let tag: UInt32 = try child.read("channel layout tag")
      let bitmap: UInt32 = try child.read("channel bitmap")
      if tag == 0x1_0000 {
        channelBitmap = bitmap
      } else {
        otherBoxes.append(child.rewound(to: 0).opaque)
      }
    case "chnl":
      channelBitmap = try ChannelPositions.bitmap(child, channelCount: channelCount)
      if channelBitmap == nil { otherBoxes.append(child.opaque) }
    default:
      break
    }
  }
}

extension PCMFormat {
  /// Creates the format for QuickTime's and ISO's uncompressed audio types; nil for any other type.
  fileprivate init?(
    _ type: FourCC, _ sampleSize: UInt16, _ lpcmFlags: UInt32?, _ boxes: [BoxReader]
  ) throws(ISOBMFFError) {
    var isLittleEndian = false
    if var enda = boxes.first(where: { $0.type == "enda" }) {
      isLittleEndian = try enda.read("endianness", as: UInt16.self) & 1 != 0
    }
    switch type {
    case "sowt": self.init(bitsPerSample: sampleSize == 8 ? 8 : 16)
    case "twos": self.init(bitsPerSample: sampleSize == 8 ? 8 : 16, isBigEndian: true)
    case "raw ", "NONE":
      self.init(
        bitsPerSample: sampleSize == 16 ? 16 : 8, isBigEndian: true, isSigned: sampleSize == 16)
    case "in24": self.init(bitsPerSample: 24, isBigEndian: !isLittleEndian)
    case "in32": self.init(bitsPerSample: 32, isBigEndian: !isLittleEndian)
    case "fl32": self.init(bitsPerSample: 32, isFloat: true, isBigEndian: !isLittleEndian)
    case "fl64": self.init(bitsPerSample: 64, isFloat: true, isBigEndian: !isLittleEndian)
    case "lpcm":
      let flags = lpcmFlags ?? 0xC
      self.init(
        bitsPerSample: sampleSize, isFloat: flags & 1 != 0, isBigEndian: flags & 2 != 0,
        isSigned: flags & 5 != 0)
    case "ipcm", "fpcm":
      guard var pcmC = boxes.first(where: { $0.type == "pcmC" }) else { return nil }
      _ = try pcmC.readVersion()
      let flags: UInt8 = try pcmC.read("format_flags")
      let bits: UInt8 = try pcmC.read("PCM_sample_size")
      self.init(
        bitsPerSample: UInt16(bits), isFloat: type == "fpcm", isBigEndian: flags & 1 == 0)
    default: return nil
    }
    guard [8, 16, 24, 32, 64].contains(bitsPerSample) else { return nil }
  }
}
