// SPDX-License-Identifier: MPL-2.0

import GStreamer
import StereoVideo

/// The last part of `mvhevcdec` and `mvcdec`: takes decoded frames of both eyes and outputs one
/// stream for each eye.
let eyePairing = ElementDeclaration<EyePairingElement>(
  name: "mvhevcpairing", typeName: "GstMVHEVCPairing",
  longName: "Eye pairing", klass: "Filter/Video",
  description: "Routes decoded frames to their eyes' pads, in pairs", author: author,
  padTemplates: [
    PadTemplate("sink", .sink, caps: Caps("video/x-raw")),
    PadTemplate("left", .source, caps: Caps("video/x-raw")),
    PadTemplate("right", .source, caps: Caps("video/x-raw")),
  ])

final class EyePairingElement: ElementImplementation {
  let instance: ElementInstance
  private let sink: Pad
  private let pads: EyePads
  /// The eye without frames in this stream, once its pad has got EOS.
  private let absentEye = Locked<Eye?>(nil)
  /// Number of frames that may wait here; set by the flattening part.
  let heldCount = Locked(2)
  /// Sends an event upstream of the decoder, bypassing it; set before the element starts.
  let sendUpstream = Locked<(@Sendable (Event) -> Bool)?>(nil)
  /// Longest delay of frames that waited in vain for the other eye's.
  fileprivate let latency = AddedLatency()

  init(_ instance: ElementInstance) throws {
    self.instance = instance
    sink = try Pad(
      instance, template: "sink",
      .sink(
        chain: EyePairingElement.receive, event: EyePairingElement.handle,
        query: EyePairingElement.answer))
    pads = try EyePads(
      instance,
      .source(query: EyePairingElement.answerDownstream, event: EyePairingElement.handleUpstream))
    add(sink)
    for eye in Eye.allCases { add(pads[eye]) }
  }

  func start() throws -> Streaming {
    absentEye.withLock { $0 = nil }
    latency.reset()
    return Streaming(element: self)
  }

  // MARK: Events and queries

  private func handle(_ pad: Pad, _ event: Event, _ streaming: inout Streaming) throws -> Bool {
    switch event.kind {
    case .streamStart(let id):
      // A replacement decoder repeats the STREAM_START of the previous one.
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
      streaming.frameDuration = caps.first?.fraction("framerate")?.frameDuration
      pads.sendCaps(following: event) { EyePads.caps(caps, of: $0) }
      return true
    case .segment:
      // The decoder's own segment; the playback segment follows in a custom event.
      return true
    case .custom:
      guard let segment = PlaybackSegmentEvent.segment(of: event) else { return pad.forward(event) }
      // In forward playback, waiting frames belong to the sequence that continues.
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
    // A decoder that skips late frames would break up pairs; elements upstream of it may skip.
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
      guard memory.acceptsAnyLayout else { return false }
      query.requireFrames(memory.bufferCount + heldCount.current, caps)
      query.offerVideoMeta()
      return true
    default: return pad.forward(query)
    }
  }

  /// Caps that all linked peers accept, each for the frames of its eye.
  private var possibleCaps: Caps {
    let absentEye = absentEye.current
    return pads.peerCaps(
      among: sink.templateCaps, of: Eye.allCases.lazy.filter { $0 != absentEye })
  }

  private func answerDownstream(_ pad: Pad, _ query: borrowing Query) -> Bool {
    latency.answer(pad, query)
  }

  private func receive(_ pad: Pad, _ buffer: Buffer, _ streaming: inout Streaming) throws {
    try streaming.receive(buffer)
  }
}

// MARK: Pictures

extension EyePairingElement {
  struct Streaming {
    let element: EyePairingElement
    private let source: EyeSource
    var segment = Segment()
    private var waiting = PairQueue<Buffer>()
    private var discontinuity: UInt64 = 0
    /// Frames since the last discontinuity in reverse playback, in presentation order.
    private var held: [StereoPicture<Buffer>] = []
    /// Duration of a frame by the caps; nil if unknown.
    fileprivate var frameDuration: ClockTime?
    /// The time at which the last frame ends; nil at the start, and if it is not known.
    private var end: ClockTime?

    init(element: EyePairingElement) {
      self.element = element
      source = EyeSource(element.pads)
    }

    /// Whether the runs of frames between discontinuities are output in reverse.
    fileprivate var playsBackwards: Bool { segment.rate < 0 }

    mutating func forget() {
      waiting = PairQueue()
      held = []
      end = nil
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
      guard !meta.isRepeated, meta.pairing != .reference else { return }
      let picture = buffer.writable()
      // The decoder's own guess is for a stream of one eye; see `complete`.
      picture.pts = meta.pts ?? (frameDuration == nil ? buffer.pts : nil)
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
          element.latency.raise(to: min(own - first, 4 * .second), of: element)
        }
        try show(pictures)
      case .reference: break
      case .gap: try show(waiting.drain() + [StereoPicture(meta.eye, picture)])
      case .none:
        end(meta.eye.other)
        try show([StereoPicture(meta.eye, picture)])
      }
    }

    /// Sends EOS to the pad of an eye without frames.
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

    /// Outputs all waiting frames before the next discontinuity.
    private mutating func sendWaiting() throws {
      try show(waiting.drain())
      let pictures = held
      held = []
      try push(pictures.reversed())
    }

    /// Like `sendWaiting`, before an event: the event is forwarded even if the frames are refused.
    fileprivate mutating func drain() { try? sendWaiting() }

    private mutating func push(_ pictures: [StereoPicture<Buffer>]) throws {
      for picture in pictures {
        complete(picture)
        guard isInSegment(picture) else { continue }
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

    /// Gives both eyes' frames one time: without timestamps in the stream, that at which the frame
    /// before ends.
    private mutating func complete(_ picture: StereoPicture<Buffer>) {
      let frames = Eye.allCases.compactMap { picture[$0] }
      let time = frames.lazy.compactMap(\.pts).min() ?? end ?? segment.start
      let duration = frames.lazy.compactMap(\.duration).max() ?? frameDuration
      end = duration.map { time + $0 }
      for frame in frames where frame.pts == nil {
        frame.pts = time
        frame.duration = duration
      }
    }

    /// Whether the picture overlaps the segment; pictures decoded only as references lie before it.
    private func isInSegment(_ picture: StereoPicture<Buffer>) -> Bool {
      guard let buffer = picture.left ?? picture.right, let time = buffer.pts else { return true }
      return segment.overlaps(time, duration: buffer.duration)
    }
  }
}

extension StereoPicture<Buffer> {
  /// Whether the other eye's frame is missing.
  fileprivate var isAlone: Bool { left == nil || right == nil }
  fileprivate var time: ClockTime? { (left ?? right)?.pts }
}

/// The frames of one presentation time: both eyes', or the only one available.
struct StereoPicture<Content> {
  var left: Content?
  var right: Content?

  init(_ eye: Eye, _ content: Content) { self[eye] = content }

  subscript(eye: Eye) -> Content? {
    get { eye == .left ? left : right }
    set { if eye == .left { left = newValue } else { right = newValue } }
  }
}

/// Pairs the frames of both eyes and restores presentation order.
///
/// The base eye's frames arrive in decoding order, the dependent eye's in presentation order. A
/// pair is therefore output when its second frame arrives; a frame with an earlier position that is
/// still waiting then has lost its partner and is output alone.
struct PairQueue<Content> {
  private struct Waiting {
    let accessUnit: UInt64
    let eye: Eye
    let order: UInt64
    let content: Content
  }

  private var waiting: [Waiting] = []

  /// Maximum number of waiting frames; larger than any decoded picture buffer.
  private let limit = 32

  /// Adds a frame; returns what is to be output now.
  ///
  /// - Parameter order: position in presentation order.
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

  /// Returns the frames still waiting at the end of the stream.
  mutating func drain() -> [StereoPicture<Content>] { takeFirst(waiting.count) }

  /// Removes and returns the `count` earliest frames.
  private mutating func takeFirst(_ count: Int) -> [StereoPicture<Content>] {
    guard count > 0 else { return [] }
    waiting.sort { $0.order < $1.order }
    defer { waiting.removeFirst(count) }
    return waiting.prefix(count).map { StereoPicture($0.eye, $0.content) }
  }
}
