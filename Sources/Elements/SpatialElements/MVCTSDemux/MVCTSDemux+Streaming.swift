// SPDX-License-Identifier: MPL-2.0

import AVC
import GStreamer
import MoviePlayer
import StereoVideo
import TransportStream

extension MVCTSDemux {
  struct Streaming {
    let element: MVCTSDemux
    private var demuxer: MVCTransportDemuxer
    /// The program where output is: the demuxer may have read beyond it.
    private var program: TransportProgram?
    private let combiner = FlowCombiner()
    /// The group of the upstream stream.
    var group: UInt32?
    private(set) var outputs: [TransportOutput] = []
    private var description: MVCDescription?
    /// Audio that came before the description of the video.
    private var heldAudio: [ElementaryPacket] = []
    private var heldByteCount = 0
    /// Access units of the base view alone, which wait for the description of both views.
    private var heldUnits: [StereoAccessUnit] = []
    private var heldDescription: MVCDescription?
    /// The time at which running time begins, in ticks of 90 kHz.
    private var origin: Int64?
    private var said: Set<String> = []
    /// Number of access units of the base view without a second one.
    private var loneCount = 0

    /// Tags of the whole input, for pads to come.
    private var tags: [Event] = []
    private(set) var hasData = false
    /// The seek event being served; its sequence number is used for the events pushed.
    var cause: Event?
    /// Offset of the next byte, in pull mode.
    var place = 0

    /// Number of access units that wait for the second view's parameter sets.
    private static let heldUnitLimit = 64
    /// Audio that is later than the pictures by more has a gap, in ticks of 90 kHz: a queue
    /// downstream holds a second of pictures.
    private static let silence: Int64 = 81_000
    /// Maximum number of subjects of warnings.
    private static let subjectLimit = 100
    /// Maximum number of tag events that are kept.
    private static let tagLimit = 100
    /// Maximum size in bytes of the streams that wait for the description of the video.
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
      do {
        try process(events)
        if description == nil, let held = heldDescription { try begin(held) }
      } catch let flow as FlowReturn where flow == .eos {
        // What is left lies after the segment.
      }
      guard !outputs.isEmpty else {
        let reason = demuxer.failure.map { "\($0)" } ?? "no picture has the parameter sets"
        throw ElementError(.demux, "There is no video to read: \(reason).")
      }
      let segment = element.shared.current.segment
      guard segment.flags.contains(.endsWithSegmentDone) else {
        for index in outputs.indices {
          sendSegment(index)
          outputs[index].pad.push(event)
        }
        return
      }
      let end = segment.stop ?? segment.duration ?? segment.start
      // All pads get the same event, which none may change after the first one has it.
      let new = Event.segmentDone(at: end)
      let done = cause.map { new.following($0) } ?? new
      for index in outputs.indices {
        sendSegment(index)
        outputs[index].pad.push(done)
      }
      element.postSegmentDone(at: end, following: cause)
    }

    /// Discards what is in progress, after a flush.
    mutating func flush() {
      demuxer.flush()
      combiner.reset()
      (heldAudio, heldByteCount, heldUnits, heldDescription) = ([], 0, [], nil)
      for index in outputs.indices { outputs[index].flush() }
    }

    /// Continues at another place of the input.
    mutating func move(to position: Int, near time: Int64) {
      demuxer.flush(position: position, near: time)
      place = position
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
        case .program(let program):
          self.program = program
          tellOmissions(program)
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
      case .clockJumped:
        // The last time stamp is not where it seemed to be.
        let had = element.shared.withLock { shared in
          defer { (shared.span, shared.segment.duration) = (nil, nil) }
          return shared.span != nil
        }
        if had { element.postDurationChanged() }
        warn("clockJumped", "\(notice).")
      default: warn("\(notice.kind)".prefix { $0 != "(" }.description, "\(notice).")
      }
    }

    private mutating func warn(_ subject: String, _ message: String) {
      guard said.count < Self.subjectLimit, said.insert(subject).inserted else {
        return element.log.warning(element, message)
      }
      element.postWarning(ElementError(.demux, message))
    }

    // MARK: Pads

    /// Adds the pads and sends what waited for them.
    private mutating func begin(_ description: MVCDescription) throws {
      self.description = description
      for stream in program?.streams ?? [] {
        guard let caps = stream.identity == .base ? videoCaps(description) : stream.caps else {
          continue
        }
        try addPad(stream, caps)
      }
      element.noMorePads()
      let first = heldUnits.first
      let times =
        [first?.decodingTime, first?.presentationTime] + heldAudio.map(\.presentationTime)
      let origin = times.compactMap { $0 }.min()
      self.origin = origin
      element.shared.withLock { shared in
        shared.pads = outputs.map(\.pad)
        shared.origin = origin ?? 0
        shared.segment.duration = shared.span.map { ClockTime(ticks: $0.end - (origin ?? 0)) }
      }
      let (audio, units) = (heldAudio, heldUnits)
      (heldAudio, heldByteCount, heldUnits) = ([], 0, [])
      // In the order of their times: a muxer takes neither for long without the other.
      var rest = audio[...]
      for unit in units {
        while let packet = rest.first, packet.presentationTime ?? .min <= unit.time ?? .min {
          rest.removeFirst()
          try send(packet)
        }
        try send(unit)
      }
      for packet in rest { try send(packet) }
    }

    private mutating func addPad(_ stream: ElementaryStream, _ caps: Caps) throws {
      let isVideo = stream.identity == .base
      let number = outputs.count { $0.isVideo == isVideo }
      let kind = isVideo ? "video" : "audio"
      let pad = try Pad(
        element.instance, template: "\(kind)_%u", name: "\(kind)_\(number)",
        .source(query: MVCTSDemux.answer, event: MVCTSDemux.handleUpstream))
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
      outputs.append(TransportOutput(pad: pad, stream: stream, tags: own))
      element.add(pad)
    }

    private func videoCaps(_ description: MVCDescription) -> Caps {
      guard let eye = program?.baseEye else { return description.caps }
      return description.caps.withMultiview(
        .frameByFrame, eye == .right ? .rightViewFirst : [])
    }

    // MARK: Data

    private mutating func send(_ unit: StereoAccessUnit) throws {
      let new = unit.isRandomAccess ? MVCDescription(accessUnit: unit.bytes.span.bytes) : nil
      guard description != nil else {
        heldDescription = heldDescription ?? new
        guard let known = heldDescription else { return }
        heldUnits.append(unit)
        heldByteCount += unit.bytes.count
        // A recording may begin with the base view alone.
        let isComplete = new?.records.mvcC != nil || program?.dependent == nil
        guard
          isComplete || heldUnits.count >= Self.heldUnitLimit || heldByteCount >= Self.heldLimit
        else { return }
        return try begin(isComplete ? new ?? known : known)
      }
      guard let index = outputs.firstIndex(where: \.isVideo) else { return }
      if let new { changeDescription(new, outputs[index].pad) }
      let buffer = Buffer(MVCDescription.sample(unit.bytes.span.bytes))
      buffer.pts = unit.presentationTime.map(ClockTime.init(ticks:))
      buffer.dts = unit.time.map(ClockTime.init(ticks:))
      if !unit.isRandomAccess { buffer.flags.insert(.deltaUnit) }
      if unit.isDamaged { buffer.flags.insert(.corrupted) }
      if let time = unit.time {
        fillAudio(to: time)
        try advance(to: time)
      }
      try push(buffer, index, isDiscontinuity: unit.isDiscontinuity)
    }

    /// Notes the position in the segment, and ends after it.
    private func advance(to time: Int64) throws {
      let position = ClockTime(ticks: max(time - (origin ?? 0), 0))
      let stop = element.shared.withLock { shared in
        shared.segment.position = max(position, shared.segment.start)
        return shared.segment.stop
      }
      // Pictures that are shown before others may be decoded after them.
      if let stop, position > stop + .second { throw FlowReturn.eos }
    }

    /// Sends new caps if the parameter sets have changed, rather than those of one view missing.
    private mutating func changeDescription(_ new: MVCDescription, _ pad: Pad) {
      func sets(_ description: MVCDescription?) -> [[UInt8]]? {
        description.flatMap { try? MVCDecoderConfiguration(.avcC, bytes: $0.records.avcC) }?
          .sequenceParameterSets
      }
      let lacksView = new.records.mvcC == nil && sets(new) == sets(description)
      guard new != description, !lacksView else { return }
      description = new
      pad.push(.caps(videoCaps(new)))
    }

    /// Sends gaps in place of audio that does not come, for which muxers would wait.
    private mutating func fillAudio(to time: Int64) {
      for index in outputs.indices where !outputs[index].isVideo {
        let end = outputs[index].end ?? (cause == nil ? origin : nil) ?? time
        guard time > end, time - end > Self.silence else { continue }
        sendSegment(index)
        outputs[index].pad.push(
          .gap(
            at: ClockTime(ticks: end),
            duration: ClockTime(ticks: time) - ClockTime(ticks: end)))
        outputs[index].end = time
      }
    }

    private mutating func send(_ packet: ElementaryPacket) throws {
      guard description != nil else {
        heldAudio.append(packet)
        heldByteCount += packet.bytes.count
        guard heldByteCount > Self.heldLimit else { return }
        guard let known = heldDescription else {
          throw ElementError(
            .demux, "There is no video to read: it has no parameter sets before 16 MB of audio.")
        }
        return try begin(known)
      }
      guard let index = audioOutput(packet) else { return }
      let buffer = Buffer(packet.bytes)
      buffer.pts = packet.presentationTime.map(ClockTime.init(ticks:))
      if packet.isDamaged { buffer.flags.insert(.corrupted) }
      if let time = packet.presentationTime { outputs[index].end = time }
      try push(buffer, index, isDiscontinuity: packet.isDiscontinuity)
    }

    /// Returns the pad of an audio stream: that of its PID, or that of a stream which the program
    /// does not have any more.
    private mutating func audioOutput(_ packet: ElementaryPacket) -> Int? {
      let streams = program?.streams ?? []
      guard let stream = streams.first(where: { $0.pid == packet.pid }) else { return nil }
      let index =
        outputs.firstIndex { $0.stream.pid == packet.pid }
        ?? outputs.firstIndex { output in
          !output.isVideo && output.stream.coding == stream.coding
            && !streams.contains { $0.pid == output.stream.pid }
        }
      guard let index, !outputs[index].isVideo else {
        warn(
          "new \(packet.pid)",
          "Audio that begins in the middle of the stream is left out: "
            + "\(stream.coding.name) on PID \(packet.pid).")
        return nil
      }
      if stream.coding != outputs[index].stream.coding {
        guard let caps = stream.caps else {
          warn(
            "coding \(packet.pid)",
            "Audio whose coding changes to \(stream.coding.name) is left "
              + "out from there on: PID \(packet.pid).")
          return nil
        }
        outputs[index].pad.push(.caps(caps))
      }
      outputs[index].stream = stream
      return index
    }

    private mutating func push(_ buffer: Buffer, _ index: Int, isDiscontinuity: Bool) throws {
      sendSegment(index)
      let flow = outputs[index].push(buffer, isDiscontinuity: isDiscontinuity)
      try combiner.update(outputs[index].pad, flow).check()
    }

    /// Sends the segment, and the tags after it, if that has not been done.
    private mutating func sendSegment(_ index: Int) {
      guard !outputs[index].hasBegun else { return }
      let segment = element.shared.current.segment
      outputs[index].begin(segment, at: ClockTime(ticks: origin ?? 0), tags, following: cause)
    }
  }
}

extension StereoAccessUnit {
  /// When it is decoded, as far as it is known.
  fileprivate var time: Int64? { decodingTime ?? presentationTime }
}
