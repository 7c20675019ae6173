// SPDX-License-Identifier: MPL-2.0

import GStreamer
import StereoVideo

/// The last part of `mvhevcdec`: decoded pictures of both eyes in, one stream for each eye out.
let eyePairing = ElementDeclaration<EyePairing>(
  name: "mvhevcpairing", typeName: "GstMVHEVCPairing",
  longName: "Eye pairing", klass: "Filter/Video",
  description: "Sends decoded pictures to the pads of their eyes, in pairs", author: author,
  padTemplates: [
    PadTemplate("sink", .sink, caps: Caps("video/x-raw")),
    PadTemplate("left", .source, caps: Caps("video/x-raw")),
    PadTemplate("right", .source, caps: Caps("video/x-raw")),
  ])

final class EyePairing: ElementImplementation {
  let instance: ElementInstance
  private let sink: Pad
  private let pads: EyePads
  /// The eye that has no pictures in this stream, once its pad has been told so.
  private let absentEye = Locked<Eye?>(nil)
  /// How many pictures may have to wait here; set by who feeds the decoder.
  let heldCount = Locked(2)
  /// What is for whoever feeds the decoder, and not for that; set before the element starts.
  let sendUpstream = Locked<(@Sendable (Event) -> Bool)?>(nil)
  /// By how much pictures come late that have waited in vain for the other eye's.
  private let latency = Locked<ClockTime>(0)

  init(_ instance: ElementInstance) throws {
    self.instance = instance
    sink = try Pad(
      instance, template: "sink",
      .sink(chain: EyePairing.receive, event: EyePairing.handle, query: EyePairing.answer))
    pads = try EyePads(
      instance,
      .source(query: EyePairing.answerDownstream, event: EyePairing.handleUpstream))
    add(sink)
    for eye in Eye.allCases { add(pads[eye]) }
  }

  func start() throws -> Streaming {
    absentEye.withLock { $0 = nil }
    latency.withLock { $0 = 0 }
    return Streaming(element: self)
  }

  // MARK: Events and queries

  private func handle(_ pad: Pad, _ event: Event, _ streaming: inout Streaming) throws -> Bool {
    switch event.kind {
    case .streamStart(let id):
      // Another decoder says again what the one before it said.
      if pad.streamStart?.streamID == id, pad.streamStart?.group == event.group, !pad.hasEnded {
        return true
      }
      streaming.drain()
      absentEye.withLock { $0 = nil }
      pads.startStreams(of: self, following: event)
      return true
    case .caps(let caps):
      if let old = pad.currentCaps, old.isEqual(to: caps) { return true }
      streaming.drain()
      pads.sendCaps(following: event) { EyePads.caps(caps, of: $0) }
      return true
    case .segment:
      // The decoder's own: the one that is played comes behind it.
      return true
    case .custom:
      guard let segment = PlaybackSegmentEvent.segment(of: event) else { return pad.forward(event) }
      // Played forwards, pictures that wait are of the sequence that goes on.
      if streaming.playsBackwards { streaming.drain() }
      streaming.segment = segment
      return pad.forward(Event.segment(segment).following(event))
    case .gap, .segmentDone, .endOfStream:
      streaming.drain()
      return pad.forward(event)
    case .flushStop:
      streaming.forget()
      return pad.forward(event)
    default:
      return pad.forward(event)
    }
  }

  private func handleUpstream(_ pad: Pad, _ event: Event) throws -> Bool {
    // A decoder that skips late pictures would break up pairs; what is in front of it may do so.
    if case .qualityOfService = event.kind { return sendUpstream.current?(event) ?? true }
    return pad.forward(event)
  }

  private func answer(_ pad: Pad, _ query: borrowing Query) -> Bool {
    switch query.kind {
    case .caps:
      query.answerCaps(possibleCaps)
      return true
    case .acceptCaps(let caps):
      query.answerAcceptCaps(caps.isSubset(of: possibleCaps))
      return true
    case .allocation(let caps?):
      let absentEye = absentEye.current
      let memory = pads.peerMemory(of: Eye.allCases.lazy.filter { $0 != absentEye }) {
        EyePads.caps(caps, of: $0)
      }
      guard memory.takesAnyLayout else { return false }
      query.requireFrames(memory.bufferCount + heldCount.current, caps)
      query.offerVideoMeta()
      return true
    default: return pad.forward(query)
    }
  }

  /// What all that is linked takes, as the pictures of its eye.
  private var possibleCaps: Caps {
    let absentEye = absentEye.current
    return pads.peerCaps(
      among: sink.templateCaps, of: Eye.allCases.lazy.filter { $0 != absentEye })
  }

  private func answerDownstream(_ pad: Pad, _ query: borrowing Query) -> Bool {
    guard pad.forward(query) else { return false }
    // Of a query of another kind this does nothing.
    query.addLatency(latency.current)
    return true
  }

  /// Says that pictures come this late; what was said once is not taken back.
  fileprivate func reportLatency(_ latency: ClockTime) {
    let isLonger = self.latency.withLock { current in
      guard latency > current else { return false }
      current = latency
      return true
    }
    if isLonger { postLatencyChanged() }
  }

  private func receive(_ pad: Pad, _ buffer: Buffer, _ streaming: inout Streaming) throws {
    try streaming.receive(buffer)
  }
}

// MARK: Pictures

extension EyePairing {
  struct Streaming {
    let element: EyePairing
    private let source: EyeSource
    var segment = Segment()
    private var waiting = PairQueue<Buffer>()
    private var discontinuity: UInt64 = 0
    /// The pictures since the last discontinuity, played backwards, first to last.
    private var held: [StereoPicture<Buffer>] = []

    init(element: EyePairing) {
      self.element = element
      source = EyeSource(element.pads)
    }

    /// Whether what lies between discontinuities comes last first.
    var playsBackwards: Bool { segment.rate < 0 }

    mutating func forget() {
      waiting = PairQueue()
      held = []
      element.absentEye.withLock { $0 = nil }
      source.reset()
    }

    fileprivate mutating func receive(_ buffer: Buffer) throws {
      guard let meta = AccessUnitMeta(buffer) else {
        throw ElementError(
          .decode,
          "The decoder does not carry metas from coded buffers to pictures, "
            + "so the eyes cannot be told apart.")
      }
      if meta.discontinuity != discontinuity {
        try sendWaiting()
        discontinuity = meta.discontinuity
      }
      guard !meta.isRepeated else { return }
      let picture = buffer.writable()
      picture.pts = meta.pts ?? buffer.pts
      picture.duration = meta.duration ?? buffer.duration
      picture.dts = nil
      if meta.pairing != .none { element.absentEye.withLock { $0 = nil } }
      switch meta.pairing {
      case .pair:
        let pictures = waiting.add(
          picture, accessUnit: meta.number, eye: meta.eye, order: meta.order)
        if pictures.count == 1, pictures[0].isAlone, let own = meta.pts,
          let first = pictures[0].time, own > first
        {
          element.reportLatency(min(own - first, 4 * .second))
        }
        try show(pictures)
      case .gap: try show(waiting.drain() + [StereoPicture(meta.eye, picture)])
      case .none:
        end(meta.eye.other)
        try show([StereoPicture(meta.eye, picture)])
      }
    }

    /// Tells the pad of an eye without pictures that none will come.
    private func end(_ eye: Eye) {
      let isNew = element.absentEye.withLock { absent in
        defer { absent = eye }
        return absent != eye
      }
      if isNew { source.end(eye) }
    }

    private mutating func show(_ pictures: [StereoPicture<Buffer>]) throws {
      if playsBackwards { held += pictures } else { try push(pictures) }
    }

    /// Sends what waits for more pictures before the next discontinuity.
    private mutating func sendWaiting() throws {
      try show(waiting.drain())
      let pictures = held
      held = []
      try push(pictures.reversed())
    }

    /// The same in front of an event: that the next pad takes no pictures does not hold up the event.
    fileprivate mutating func drain() { try? sendWaiting() }

    private func push(_ pictures: [StereoPicture<Buffer>]) throws {
      for picture in pictures where isInSegment(picture) {
        let absentEye = element.absentEye.current
        for eye in Eye.allCases where eye != absentEye {
          if let buffer = picture[eye] {
            try source.push(buffer, to: eye).check()
          } else if let other = picture[eye.other], let time = other.pts {
            element.pads[eye].push(.gap(at: time, duration: other.duration))
          }
        }
      }
    }

    /// What is decoded only for later pictures lies in front of the segment.
    private func isInSegment(_ picture: StereoPicture<Buffer>) -> Bool {
      guard let buffer = picture.left ?? picture.right, let time = buffer.pts else { return true }
      return segment.overlaps(time, duration: buffer.duration)
    }
  }
}

extension StereoPicture<Buffer> {
  /// Whether the other eye's picture is missing.
  fileprivate var isAlone: Bool { left == nil || right == nil }
  fileprivate var time: ClockTime? { (left ?? right)?.pts }
}

/// What is shown at one moment: the pictures of both eyes, or the one that is there.
struct StereoPicture<Content> {
  var left: Content?
  var right: Content?

  init(_ eye: Eye, _ content: Content) { self[eye] = content }

  subscript(eye: Eye) -> Content? {
    get { eye == .left ? left : right }
    set { if eye == .left { left = newValue } else { right = newValue } }
  }
}

/// Puts the pictures of both eyes together again, in the order they are shown in.
///
/// The base eye's pictures come in decoding order, those of the dependent eye in the order they are
/// shown in: so a pair leaves when its second picture comes, and a picture of an earlier place that
/// is still waiting then has lost its partner and goes alone.
struct PairQueue<Content> {
  private struct Waiting {
    let accessUnit: UInt64
    let eye: Eye
    let order: UInt64
    let content: Content
  }

  private var waiting: [Waiting] = []

  /// How many pictures may wait: more than a decoder's buffer holds.
  private let limit = 32

  /// Adds a picture; returns what is to be shown now.
  ///
  /// - Parameter order: the picture's place among those that are shown.
  mutating func add(
    _ content: Content, accessUnit: UInt64, eye: Eye, order: UInt64
  ) -> [StereoPicture<Content>] {
    let partner = waiting.firstIndex { $0.accessUnit == accessUnit && $0.eye != eye }
    guard let partner else {
      waiting.append(Waiting(accessUnit: accessUnit, eye: eye, order: order, content: content))
      return waiting.count > limit ? takeFirst(waiting.count - limit) : []
    }
    var pair = StereoPicture(eye, content)
    pair[eye.other] = waiting.remove(at: partner).content
    return takeFirst(waiting.count { $0.order < order }) + [pair]
  }

  /// What still waits, at the end of the stream.
  mutating func drain() -> [StereoPicture<Content>] { takeFirst(waiting.count) }

  /// The `count` earliest pictures.
  private mutating func takeFirst(_ count: Int) -> [StereoPicture<Content>] {
    guard count > 0 else { return [] }
    waiting.sort { $0.order < $1.order }
    defer { waiting.removeFirst(count) }
    return waiting.prefix(count).map { StereoPicture($0.eye, $0.content) }
  }
}
