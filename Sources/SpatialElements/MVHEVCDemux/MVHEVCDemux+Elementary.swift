import CGStreamer
import GStreamer
import HEVC
import StereoVideo

extension MVHEVCDemux {
  /// Bytes to pull of a stream without an index at once.
  private static let pieceSize: UInt32 = 64 * 1024

  /// What new caps of upstream mean for a stream that has begun.
  func setElementaryCaps(_ caps: Caps?) throws {
    guard case .elementaryStream(let old) = input, let caps,
      old.caps.map({ !$0.isEqual(to: caps) })
        ?? true
    else { return }
    let sets = try Self.elementaryInput(caps).parameterSets
    try old.eyes?.add(parameterSets: sets)
  }

  func beginElementary() throws {
    guard let upstreamCaps else { return }
    let elementary = try Self.elementaryInput(upstreamCaps)
    elementary.segment = push.elementarySegment
    input = .elementaryStream(elementary)
  }

  private static func elementaryInput(_ caps: Caps) throws -> ElementaryInput {
    guard let structure = caps.first, structure.string("stream-format") != "byte-stream",
      let data = structure.buffer("codec_data")
    else { return ElementaryInput(framing: .annexB, caps: caps) }
    do {
      let record = try HEVCDecoderConfigurationRecord(bytes: data.bytes)
      let layered = try structure.buffer(LayeredCaps.layeredCodecData).map {
        try LHEVCDecoderConfigurationRecord(bytes: $0.bytes)
      }
      return ElementaryInput(
        framing: .lengthPrefixed(lengthSize: record.lengthSize),
        parameterSets: record.nalUnits + (layered?.nalUnits ?? []), caps: caps)
    } catch {
      throw ElementError(
        .format, "The stream's codec_data is not a decoder configuration record.",
        debug: "\(error)")
    }
  }

  func pullElementaryStream() throws {
    guard case .elementaryStream(let elementary) = input else { throw FlowReturn.error }
    do {
      let buffer = try sink.pullRange(offset: elementary.offset, size: Self.pieceSize)
      elementary.offset += UInt64(buffer.size)
      buffer.pts = nil
      buffer.dts = nil
      try receiveElementary(buffer)
    } catch let flow as FlowReturn where flow == .eos {
      try finishElementary()
      throw FlowReturn.eos
    }
  }

  func receiveElementary(_ buffer: Buffer) throws {
    guard case .elementaryStream(let elementary) = input else { throw FlowReturn.error }
    let units = elementary.framing == .annexB ? try elementary.append(buffer) : [buffer]
    for unit in units { try hand(unit, elementary) }
  }

  func finishElementary() throws {
    guard case .elementaryStream(let elementary) = input else { return }
    for unit in elementary.finish() { try hand(unit, elementary) }
  }

  private func hand(_ unit: Buffer, _ elementary: ElementaryInput) throws {
    if !elementary.hasBegun {
      guard !unit.flags.contains(.deltaUnit) else { return }
      try begin(elementary, first: unit)
    }
    elementary.number(unit)
    if elementary.needsSegment {
      elementary.needsSegment = false
      for stream in elementaryStreams {
        stream.pad.push(.segment(elementary.segment(from: unit)))
        if stream.pad.stickyEvent(GST_EVENT_TAG) == nil { stream.pad.push(.tags(stream.tags)) }
      }
    }
    status.withLock { $0.position = unit.pts ?? unit.dts ?? $0.position }
    for stream in elementaryStreams {
      guard stream.pad.isLinked else {
        stream.waitsForSync = true
        try combine(stream, .notLinked)
        continue
      }
      if case .eye(let eye) = stream.role {
        try hand(eye, of: unit, elementary, to: stream)
      } else {
        let buffer = unit.writable()
        buffer.flags.formUnion(stream.takeDiscontinuity())
        try combine(stream, stream.pad.push(buffer))
      }
    }
  }

  private func hand(
    _ eye: Eye, of unit: Buffer, _ elementary: ElementaryInput, to stream: DemuxStream
  ) throws {
    if stream.waitsForSync {
      guard !unit.flags.contains(.deltaUnit) else { return }
      stream.waitsForSync = false
    }
    let split: EyeOutput.Split?
    do {
      split = try unit.withBytes { bytes in
        let span = RawSpan(_unsafeBytes: bytes)
        let units = try elementary.framing.nalUnits(in: span)
        return try elementary.eyes?.split(unit, span, nalUnits: units, for: eye)
      }
    } catch {
      warn("A frame of the \(eye) eye is damaged and left out.", debug: "\(error)")
      stream.isDiscontinuous = true
      return
    }
    guard let split else { return }
    try push(split, like: unit, frame: unit.duration, to: stream, eye, elementary.description)
  }

  private func begin(_ elementary: ElementaryInput, first: Buffer) throws {
    elementary.hasBegun = true
    hasPlayed = true
    elementary.description.frameRate = elementary.caps?.first?.fraction("framerate")
    let isByteStream = elementary.framing == .annexB
    var whole = (elementary.caps ?? Caps("video/x-h265")).with([
      "stream-format": isByteStream ? "byte-stream" : "hvc1", "alignment": "au",
    ])
    // Only streams that are all there are shown, and taken away in the end.
    var streams: [DemuxStream] = []
    switch LayeredTrack(
      parameterSets: elementary.parameterSets, framing: elementary.framing, first: first)
    {
    case .plain: break
    case .unreadable(let warning): warn(warning)
    case .layers(let content, let sets, let warning):
      if let warning { warn(warning) }
      elementary.eyes = content.eyes
      elementary.description.isMono = content.viewCount == 1
      var depth: Int?
      for eye in Eye.allCases {
        guard let eyeSets = sets[eye] else { continue }
        let caps = try DemuxVideoCaps.eye(eye, eyeSets, elementary.description)
        elementary.description.frameRate = caps.first?.fraction("framerate")
        depth = caps.first?.int("bit-depth-luma")
        streams.append(
          try makeStream(
            role: .eye(eye), template: eye.rawValue, name: eye.rawValue, idSuffix: eye.rawValue,
            caps: caps, type: GST_STREAM_TYPE_VIDEO, tags: TagList()))
      }
      whole = whole.with(["parsed": true])
      if content.viewCount > 1 {
        whole = whole.with([
          "views": .int(Int32(clamping: content.viewCount)),
          "profile": .string(LayeredCaps.profiles[depth ?? 8 > 8 ? 2 : 0]),
        ])
      }
    }
    streams.append(
      try makeStream(
        role: .samples, template: "video_%u", name: "video_0", idSuffix: "0", caps: whole,
        type: GST_STREAM_TYPE_VIDEO, tags: TagList()))
    elementaryStreams = streams
    publish()
  }
}
