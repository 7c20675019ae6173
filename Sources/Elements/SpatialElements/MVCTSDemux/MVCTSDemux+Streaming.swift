// SPDX-License-Identifier: MPL-2.0

import AVC
import GStreamer
import StereoVideo
import TransportStream

extension MVCTSDemux {
  /// A source pad.
  struct Output {
    let pad: Pad
    let identity: ElementaryStream.Identity
    /// The stream's own tags.
    let tags: TagList
    /// Whether the segment has been sent.
    var hasBegun = false
    /// Whether the next buffer follows an interruption.
    var isDiscontinuous = true
  }

  struct Streaming {
    private let element: MVCTSDemux
    private var demuxer: MVCTransportDemuxer
    private let combiner = FlowCombiner()
    /// The group of the upstream stream.
    var group: UInt32?
    private(set) var outputs: [Output] = []
    private var description: MVCDescription?
    /// Audio that came before the description of the video.
    private var heldAudio: [ElementaryPacket] = []
    private var heldByteCount = 0
    /// The time at which running time begins, in ticks of 90 kHz.
    private var origin: Int64?
    private var said: Set<String> = []
    /// Number of access units of the base view without a second one.
    private var loneCount = 0

    /// Tags of the whole input, for pads to come.
    private var tags: [Event] = []
    private var hasData = false

    /// Maximum number of tag events that are kept.
    private static let tagLimit = 100
    /// Maximum size of the audio that waits for the video, in bytes.
    private static let heldLimit = 16 << 20

    init(_ element: MVCTSDemux, program: Int?) {
      self.element = element
      demuxer = MVCTransportDemuxer(program: program)
    }

    mutating func receive(_ bytes: RawSpan) throws {
      hasData = true
      let events: [MVCTransportDemuxer.Event]
      do {
        events = try demuxer.push(bytes)
      } catch {
        throw ElementError(.demux, "This cannot be read: \(error).")
      }
      try process(events)
    }

    mutating func end(_ event: Event) throws {
      guard hasData else {
        throw ElementError(.demux, "The stream ended before its first byte.")
      }
      let events: [MVCTransportDemuxer.Event]
      do {
        events = try demuxer.end()
      } catch {
        throw ElementError(.demux, "This cannot be read: \(error).")
      }
      try process(events)
      guard !outputs.isEmpty else {
        let reason = demuxer.failure.map { "\($0)" } ?? "no picture has the parameter sets"
        throw ElementError(.demux, "There is no video to read: \(reason).")
      }
      for output in outputs { output.pad.push(event) }
    }

    /// Discards what is in progress, after a flush.
    mutating func flush() {
      demuxer.flush()
      combiner.reset()
      heldAudio = []
      for index in outputs.indices {
        (outputs[index].hasBegun, outputs[index].isDiscontinuous) = (false, true)
      }
    }

    /// Pushes an event on all pads.
    mutating func push(_ event: Event) {
      let isTags = if case .tags = event.kind { true } else { false }
      if isTags, tags.count < Self.tagLimit { tags.append(event) }
      // Tags come after the segment.
      for output in outputs where output.hasBegun || !isTags { output.pad.push(event) }
    }

    private mutating func process(_ events: [MVCTransportDemuxer.Event]) throws {
      for event in events {
        switch event {
        case .program(let program): tellOmissions(program)
        case .accessUnit(let unit): try send(unit)
        case .audio(let packet): try send(packet)
        case .notice(let notice): say(notice)
        }
      }
    }

    // MARK: Messages

    /// Says what is left out.
    private mutating func tellOmissions(_ program: TransportProgram) {
      let left = program.streams.filter { stream in
        switch stream.coding {
        case .subtitles, .otherVideo: true
        default: stream.coding.isAudio && stream.caps == nil
        }
      }
      guard !left.isEmpty else { return }
      let names = left.map { "\($0.coding.name) on PID \($0.pid)" }.joined(separator: ", ")
      warn(names, "These streams are left out: \(names).")
    }

    private mutating func say(_ notice: TransportNotice) {
      switch notice.kind {
      case .loneBase:
        // At its start, a stream may have one view alone.
        loneCount += 1
        if loneCount > 16 {
          warn("lone", "Pictures have no second view; the first one continues alone.")
        }
      case .loneDependent, .clockWrapped: element.log.info(element, "\(notice)")
      default: warn("\(notice.kind)".prefix { $0 != "(" }.description, "\(notice).")
      }
    }

    private mutating func warn(_ subject: String, _ message: String) {
      guard said.insert(subject).inserted else { return element.log.warning(element, message) }
      element.postWarning(ElementError(.demux, message))
    }

    // MARK: Pads

    /// Adds the pads once the first picture with parameter sets has come.
    private mutating func addPads(_ description: MVCDescription, _ unit: StereoAccessUnit) throws {
      let streams = demuxer.program?.streams ?? []
      for stream in streams {
        guard let caps = stream.identity == .base ? videoCaps(description) : stream.caps else {
          continue
        }
        try addPad(stream, caps)
      }
      element.noMorePads()
      let times = [unit.decodingTime, unit.presentationTime] + heldAudio.map(\.presentationTime)
      origin = times.compactMap { $0 }.min()
      let held = heldAudio
      heldAudio = []
      for packet in held { try send(packet) }
    }

    private mutating func addPad(_ stream: ElementaryStream, _ caps: Caps) throws {
      let isVideo = stream.identity == .base
      let number = outputs.count { ($0.identity == .base) == isVideo }
      let kind = isVideo ? "video" : "audio"
      let pad = try Pad(
        element.instance, template: "\(kind)_%u", name: "\(kind)_\(number)",
        PadFunctions<MVCTSDemux>.source())
      let info = GStreamer.Stream(
        id: pad.streamID(element, suffix: "\(stream.pid)"), caps: caps,
        type: isVideo ? .video : .audio, isSparse: false, isUnselected: false)
      let own = TagList()
      if let language = stream.language {
        own.set(Tag.languageCode, .string(TagList.shortLanguageCode(language) ?? language))
      }
      info.setTags(own)
      pad.setActive(true)
      pad.useFixedCaps()
      pad.push(.streamStart(info, group: group ?? nextStreamGroup()))
      pad.push(.caps(caps))
      combiner.add(pad)
      outputs.append(Output(pad: pad, identity: stream.identity, tags: own))
      element.add(pad)
    }

    private func videoCaps(_ description: MVCDescription) -> Caps {
      var fields: [(key: String, value: Value)] = [
        ("stream-format", "avc"), ("alignment", "au"),
        ("width", .int(Int32(clamping: description.width))),
        ("height", .int(Int32(clamping: description.height))),
        ("codec_data", .buffer(Buffer(description.records.block))),
      ]
      if let numerator = description.frameRateNumerator.flatMap(Int32.init(exactly:)),
        let denominator = description.frameRateDenominator.flatMap(Int32.init(exactly:))
      {
        fields.append(("framerate", .fraction(Fraction(numerator, denominator))))
      }
      let caps = Caps("video/x-h264", fields)
      guard let eye = demuxer.program?.baseEye else { return caps }
      return caps.withMultiview(.frameByFrame, eye == .right ? .rightViewFirst : [])
    }

    // MARK: Data

    private mutating func send(_ unit: StereoAccessUnit) throws {
      let new = unit.isRandomAccess ? MVCDescription(accessUnit: unit.bytes.span.bytes) : nil
      if description == nil {
        guard let new else { return }
        description = new
        try addPads(new, unit)
      }
      guard let index = outputs.firstIndex(where: { $0.identity == .base }) else { return }
      if let new, new != description {
        description = new
        outputs[index].pad.push(.caps(videoCaps(new)))
      }
      let buffer = Buffer(MVCDescription.sample(unit.bytes.span.bytes))
      buffer.pts = unit.presentationTime.map(ClockTime.init(ticks:))
      buffer.dts = (unit.decodingTime ?? unit.presentationTime).map(ClockTime.init(ticks:))
      if !unit.isRandomAccess { buffer.flags.insert(.deltaUnit) }
      if unit.isDamaged { buffer.flags.insert(.corrupted) }
      try push(buffer, index, isDiscontinuity: unit.isDiscontinuity)
    }

    private mutating func send(_ packet: ElementaryPacket) throws {
      guard description != nil else {
        heldAudio.append(packet)
        heldByteCount += packet.bytes.count
        if heldByteCount > Self.heldLimit {
          throw ElementError(
            .demux, "There is no video to read: it has no parameter sets before 16 MB of audio.")
        }
        return
      }
      guard let index = outputs.firstIndex(where: { $0.identity == packet.identity }) else {
        return
      }
      let buffer = Buffer(packet.bytes)
      buffer.pts = packet.presentationTime.map(ClockTime.init(ticks:))
      if packet.isDamaged { buffer.flags.insert(.corrupted) }
      try push(buffer, index, isDiscontinuity: packet.isDiscontinuity)
    }

    private mutating func push(_ buffer: Buffer, _ index: Int, isDiscontinuity: Bool) throws {
      if !outputs[index].hasBegun {
        var segment = Segment()
        segment.start = ClockTime(ticks: origin ?? 0)
        segment.position = segment.start
        segment.time = 0
        outputs[index].pad.push(.segment(segment))
        outputs[index].hasBegun = true
        if !outputs[index].tags.isEmpty { outputs[index].pad.push(.tags(outputs[index].tags)) }
        for event in tags { outputs[index].pad.push(event) }
      }
      if isDiscontinuity || outputs[index].isDiscontinuous { buffer.flags.insert(.discont) }
      outputs[index].isDiscontinuous = false
      let pad = outputs[index].pad
      try combiner.update(pad, pad.push(buffer)).check()
    }
  }
}

extension ClockTime {
  /// Creates a time from ticks of 90 kHz; times before 0 are 0.
  fileprivate init(ticks: Int64) {
    self = ClockTime(UInt64(clamping: ticks), perSecond: 90_000)
  }
}

extension ElementaryStream {
  /// The caps of an audio stream; nil if GStreamer has none.
  fileprivate var caps: Caps? {
    switch coding {
    case .mpegAudio: Caps("audio/mpeg", ["mpegversion": 1])
    case .aac: Caps("audio/mpeg", ["mpegversion": 4, "stream-format": "adts"])
    case .aacLATM: Caps("audio/mpeg", ["mpegversion": 4, "stream-format": "loas"])
    case .ac3: Caps("audio/x-ac3")
    case .eac3: Caps("audio/x-eac3")
    // The core of DTS-HD is DTS.
    case .dts, .dtsHD: Caps("audio/x-dts")
    case .trueHD: Caps("audio/x-true-hd")
    case .lpcm: Caps("audio/x-private-ts-lpcm")
    default: nil
    }
  }
}
