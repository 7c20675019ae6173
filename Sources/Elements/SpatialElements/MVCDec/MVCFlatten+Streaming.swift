// SPDX-License-Identifier: MPL-2.0

import AVC
import GStreamer
import StereoVideo

extension MVCFlatten {
  struct Streaming: FlatteningStream {
    /// A buffer as received.
    fileprivate struct Source: Sendable {
      let buffer: Buffer
      let number: UInt64
    }

    private let element: MVCFlatten
    private let settings: Settings
    /// Whether the element is a part of `mvcdec`.
    private let isPart: Bool
    private var input: MVCInput?
    private var flattener: MVCFlattener<Source>?
    /// The eye of the base view, decided with the first picture.
    private var baseEye: Eye?
    private var notices = MVCNotices()
    /// The buffer that came last, and its number.
    private var received: Source?
    /// The buffer and the access unit of the picture that was sent last.
    private var sent: (buffer: UInt64, accessUnit: UInt64)?
    /// Number of access units of flatteners before this one.
    private var earlierCount: UInt64 = 0
    /// Number of random access points so far; picture order counts restart at each.
    private var sequence: UInt64 = 0
    private var discontinuity: UInt64 = 0
    private var sentCaps: Caps?
    private(set) var content = FlatteningContent.nothing
    /// The SPS that was sent last.
    private var sps: AVC.SequenceParameterSet?
    /// The playback segment.
    private var segment: Event?
    /// Events to be sent after the caps, which are known only with the first picture.
    private var heldEvents: [Event] = []
    /// Events to be sent after the pictures of the buffer with this number.
    private var waitingEvents: [(buffer: UInt64, event: Event)] = []
    /// Maximum number of events that wait for pictures.
    private static let waitingEventLimit = 1000

    init(_ element: MVCFlatten, _ settings: Settings, isPart: Bool) {
      self.element = element
      self.settings = settings
      self.isPart = isPart
    }

    mutating func setCaps(_ caps: Caps) throws {
      if content == .nothing { content = .emptyTrack }
      let input = try MVCInput(caps, capsUpstream: element.sink.capsUpstream)
      if let problem = input.recordProblem {
        warn("The record of the second view (mvcC) is damaged: \(problem).")
      }
      defer { self.input = input }
      if let old = self.input, flattener != nil, input.continues(old) {
        flattener?.add(parameterSets: input.parameterSets)
        return
      }
      drain()
      earlierCount = sent.map { $0.accessUnit &+ 1 } ?? earlierCount
      baseEye = nil
      notices.restart()
      var flattener = MVCFlattener<Source>(selection(input), framing: input.framing)
      flattener.add(parameterSets: input.parameterSets)
      self.flattener = flattener
    }

    /// The views that have to be extracted. The eye of the base view may show up only in the
    /// stream; then both are.
    private func selection(_ input: MVCInput) -> MVCFlattener<Source>.Selection {
      guard isPart else {
        return switch settings.views {
        case .both: .bothViews
        case .base: .base
        case .dependent: .dependent
        }
      }
      let known = settings.baseEye.eye ?? input.baseEye
      return switch settings.decodedView {
      case .both: .bothViews
      case .base: .base
      case .left: known == .left ? .base : .bothViews
      case .right: known == .right ? .base : .bothViews
      }
    }

    /// Resets the state after a flush.
    mutating func reset() {
      if content != .pictures { content = .emptyTrack }
      flattener?.flush()
      notices.restart()
      // Tags remain valid across a flush.
      let tags = waitingEvents.map(\.event).filter {
        if case .tags = $0.kind { true } else { false }
      }
      waitingEvents = []
      heldEvents.removeAll { if case .tags = $0.kind { false } else { true } }
      for event in tags { send(event) }
    }

    mutating func setSegment(_ event: Event) {
      let events = isPart ? PlaybackSegmentEvent.events(for: event) : [event]
      for event in events { send(event) }
      segment = events.last
    }

    /// Sends an event after the pictures that came before it.
    mutating func send(_ event: Event) {
      guard sentCaps != nil else {
        // A gap before the first picture says nothing.
        if case .gap = event.kind { return }
        if heldEvents.count < Self.waitingEventLimit { heldEvents.append(event) }
        return
      }
      guard let received, received.number > sent?.buffer ?? 0,
        waitingEvents.count < Self.waitingEventLimit
      else {
        sendWaitingEvents()
        element.source.push(event)
        return
      }
      waitingEvents.append((received.number, event))
    }

    /// Sends the events that waited for the pictures before a buffer; all of them by default.
    private mutating func sendWaitingEvents(before buffer: UInt64 = .max) {
      let due = waitingEvents.prefix { $0.buffer < buffer }
      for (_, event) in due { element.source.push(event) }
      waitingEvents.removeFirst(due.count)
    }

    mutating func receive(_ buffer: Buffer) throws {
      guard let input, flattener != nil else {
        throw ElementError(.negotiation, "Data came before its caps.")
      }
      if content != .pictures { content = .dataAlone }
      // After data loss in the middle of a sequence, the numbering continues.
      let flags = buffer.flags
      if received != nil, flags.contains(.discont), !flags.contains(.deltaUnit) {
        drain()
        discontinuity &+= 1
      }
      let source = Source(buffer: buffer, number: (received?.number ?? 0) &+ 1)
      received = source
      do {
        let output = try buffer.withBytes {
          try flattener?.push($0.bytes, alignment: input.alignment, stamp: source)
        }
        if let output { try send(output, input) }
      } catch let error as MVCError {
        notices.message(forSkipped: error).map { warn($0) }
      }
    }

    /// Sends the waiting pictures, as nothing continues their sequence. A refusal by the next
    /// element is ignored, so that it does not block what follows.
    mutating func drain() {
      guard let input, let output = flattener?.end() else { return }
      try? send(output, input)
      sendWaitingEvents()
      notices.restart()
    }

    private mutating func send(
      _ output: MVCFlattener<Source>.Output, _ input: MVCInput
    ) throws {
      guard !output.pictures.isEmpty || !output.notices.isEmpty else { return }
      let baseEye = self.baseEye ?? decideBaseEye(input)
      for notice in output.notices {
        notices.message(for: notice.kind, at: notice.accessUnit, baseEye).map { warn($0) }
      }
      for picture in output.pictures {
        if isFlattening, !picture.isPaired {
          notices.messageForLonePicture(of: baseEye).map { warn($0) }
        }
        try send(picture, input, baseEye)
      }
    }

    private func warn(_ message: String) {
      element.postWarning(ElementError(.decode, message))
    }

    private var isFlattening: Bool { input.map { selection($0) == .bothViews } ?? false }

    /// Decides which eye the base view shows, with the first picture.
    private mutating func decideBaseEye(_ input: MVCInput) -> Eye {
      let known = settings.baseEye.eye ?? input.baseEye ?? flattener?.baseEye
      if known == nil, isFlattening {
        warn(
          "The stream does not say which eye its base view shows; it is taken for the left one. "
            + "base-eye=right swaps the eyes.")
      }
      baseEye = known ?? .left
      return known ?? .left
    }

    // MARK: Pictures

    private mutating func send(
      _ picture: MVCFlattener<Source>.Picture, _ input: MVCInput, _ baseEye: Eye
    ) throws {
      let (source, accessUnit) = (picture.stamp, earlierCount &+ UInt64(picture.accessUnit))
      sendWaitingEvents(before: source.number)
      let frameRate = frameRate(input)
      if picture.isRandomAccess { sequence &+= 1 }
      if picture.isRandomAccess || sentCaps == nil {
        try sendCaps(input, picture.sequenceParameterSet, frameRate, baseEye)
      }
      let output = Buffer(picture.bytes)
      output.copyHeader(from: source.buffer, metas: false)
      // A buffer's times are those of the first access unit that begins in it.
      if let sent, sent.buffer == source.number, sent.accessUnit != accessUnit {
        (output.pts, output.dts, output.duration) = (nil, nil, nil)
      }
      sent = (source.number, accessUnit)
      output.flags.remove([.deltaUnit, .header, .views])
      if !picture.isRandomAccess { output.flags.insert(.deltaUnit) }
      if picture.view == .dependent { output.flags.remove(.discont) }
      let eye = picture.view == .base ? baseEye : baseEye.other
      if isPart {
        AccessUnitMeta(
          number: accessUnit, eye: eye, of: output,
          order: sequence << 32 &+ UInt64(clamping: (picture.orderCount ?? 0) &+ 1 << 31),
          discontinuity: discontinuity, pairing: pairing(picture, eye)
        ).set(on: output)
      }
      if isFlattening { share(output, picture, frameRate) }
      let delay = (received?.time ?? 0) - (source.time ?? 0)
      element.latency.raise(to: min(delay, 4 * .second), of: element)
      try element.source.push(output).check()
    }

    /// Divides the time of a frame between the pictures of both eyes.
    private func share(
      _ output: Buffer, _ picture: MVCFlattener<Source>.Picture, _ frameRate: Fraction?
    ) {
      output.flags.insert(.multipleView)
      if picture.view == .base { output.flags.insert(.firstInBundle) }
      guard picture.isPaired else { return }
      let frame = output.duration ?? frameRate?.frameDuration
      // Without a rate, the order alone can be said.
      let half = frame.map { $0 / 2 } ?? .millisecond
      output.duration = output.duration.map { $0 / 2 }
      guard picture.view == .dependent else { return }
      output.pts = output.pts.map { $0 + half }
      output.dts = output.dts.map { $0 + half }
    }

    private func pairing(
      _ picture: MVCFlattener<Source>.Picture, _ eye: Eye
    ) -> AccessUnitMeta.Pairing {
      switch settings.decodedView {
      case .both: picture.isPaired ? .pair : .gap
      case .base: .none
      case .left: eye == .left ? .none : .reference
      case .right: eye == .right ? .none : .reference
      }
    }

    // MARK: Caps

    private func frameRate(_ input: MVCInput) -> Fraction? {
      if let rate = input.caps.first?.fraction("framerate"), rate.numerator > 0 { return rate }
      guard let rate = flattener?.frameRate, let numerator = Int32(exactly: rate.numerator),
        let denominator = Int32(exactly: rate.denominator)
      else { return nil }
      return Fraction(numerator, denominator)
    }

    /// Sends caps, and the events that wait for them, if they have changed.
    ///
    /// - Throws: an ``ElementError`` if no decoder takes the stream.
    private mutating func sendCaps(
      _ input: MVCInput, _ sps: AVC.SequenceParameterSet?, _ frameRate: Fraction?, _ baseEye: Eye
    ) throws {
      sps.map { self.sps = $0 }
      let doubles = isFlattening && !isPart
      let rate = frameRate.map {
        doubles && $0.numerator <= .max / 2 ? Fraction($0.numerator * 2, $0.denominator) : $0
      }
      let caps = input.plainCaps(self.sps, frameRate: rate, baseEye: doubles ? baseEye : nil)
      guard sentCaps.map({ !$0.isEqual(to: caps) }) ?? true else { return }
      if let decoder = element.decoder.current, !element.source.peerAccepts(caps) {
        try decoder.require(caps) { if sentCaps != nil { element.source.drainPeer() } }
        if sentCaps != nil, let segment { element.source.push(segment) }
      }
      sentCaps = caps
      content = .pictures
      element.source.push(.caps(caps))
      for event in heldEvents { element.source.push(event) }
      heldEvents = []
    }
  }
}

extension MVCFlatten.Streaming.Source {
  /// When it was sent, as far as it is known.
  fileprivate var time: ClockTime? { buffer.dts ?? buffer.pts }
}
