import CGStreamer
import GStreamer
import StereoVideo

/// The last part of `mvhevcdec`: decoded pictures of both eyes in, one stream for each eye out.
let eyePairing = ElementDeclaration<EyePairing>(
  name: "mvhevcpairing", typeName: "GstMVHEVCPairing", baseClass: .element,
  longName: "Eye pairing", klass: "Filter/Video",
  description: "Sends decoded pictures to the pads of their eyes, in pairs", author: author,
  padTemplates: [
    PadTemplate("sink", .sink, caps: Caps("video/x-raw")),
    PadTemplate("left", .source, caps: Caps("video/x-raw")),
    PadTemplate("right", .source, caps: Caps("video/x-raw")),
  ])

final class EyePairing: ElementSubclass, @unchecked Sendable {
  private let sink: Pad
  private let left: Pad
  private let right: Pad
  private let combiner = FlowCombiner()

  // What follows is used by the sink pad's thread alone.

  private var waiting = PairQueue<Buffer>()
  private var stretch: UInt64 = 0
  private var played = Segment()
  /// The pictures of a stretch that is played backwards, first to last.
  private var held: [StereoPicture<Buffer>] = []
  /// The eye that has no pictures in this stream, once its pad has been told so.
  private var absentEye: Eye?

  required init(_ instance: ElementInstance) throws {
    sink = try Pad(
      instance, template: "sink",
      functions: PadFunctions<EyePairing>(
        chain: EyePairing.receive, event: EyePairing.handle, query: EyePairing.answer))
    let functions = PadFunctions<EyePairing>(event: EyePairing.handleUpstream)
    left = try Pad(instance, template: "left", functions: functions)
    right = try Pad(instance, template: "right", functions: functions)
    try super.init(instance)
    for pad in [sink, left, right] { add(pad) }
    for pad in [left, right] {
      pad.useFixedCaps()
      combiner.add(pad)
    }
  }

  override func start() throws {
    forget()
    played = Segment()
  }

  override func stop() { forget() }

  /// Whether the stretches of the stream come last first.
  private var playsBackwards: Bool { played.rate < 0 }

  private func forget() {
    waiting = PairQueue()
    held = []
    absentEye = nil
    combiner.reset()
  }

  private func pad(of eye: Eye) -> Pad { eye == .left ? left : right }

  // MARK: Events and queries

  private func handle(_ pad: Pad, _ event: Event) throws -> Bool {
    switch event.type {
    case GST_EVENT_STREAM_START:
      endStretch()
      absentEye = nil
      for eye in Eye.allCases {
        let pad = self.pad(of: eye)
        let start = Event.streamStart(id: pad.streamID(self, suffix: eye.rawValue))
        pad.push(start.takingGroup(of: event).following(event))
      }
      return true
    case GST_EVENT_CAPS:
      guard let caps = event.caps else { return false }
      endStretch()
      for eye in Eye.allCases {
        self.pad(of: eye).push(Event.caps(Self.caps(caps, of: eye)).following(event))
      }
      return true
    case GST_EVENT_SEGMENT:
      // The decoder's own: the one that is played comes behind it.
      return true
    case GST_EVENT_CUSTOM_DOWNSTREAM:
      guard let segment = PlayedSegment.segment(of: event) else { return pad.forward(event) }
      // Played forwards, pictures that wait are of the sequence that goes on.
      if playsBackwards { endStretch() }
      played = segment
      return pad.forward(Event.segment(segment).following(event))
    case GST_EVENT_GAP, GST_EVENT_SEGMENT_DONE, GST_EVENT_EOS:
      endStretch()
      return pad.forward(event)
    case GST_EVENT_FLUSH_STOP:
      forget()
      return pad.forward(event)
    default:
      return pad.forward(event)
    }
  }

  private func handleUpstream(_ pad: Pad, _ event: Event) throws -> Bool {
    // A decoder that skips late pictures would break up pairs.
    if event.type == GST_EVENT_QOS { return true }
    return pad.forward(event)
  }

  private func answer(_ pad: Pad, _ query: borrowing Query) -> Bool {
    guard query.type == GST_QUERY_ALLOCATION, let caps = query.allocationCaps else {
      return pad.forward(query)
    }
    for eye in Eye.allCases where eye != absentEye {
      let question = Query.allocation(Self.caps(caps, of: eye), needsPool: false)
      guard self.pad(of: eye).queryPeer(question), question.acceptsVideoMeta else { return false }
    }
    query.offerVideoMeta()
    return true
  }

  private static func caps(_ caps: Caps, of eye: Eye) -> Caps {
    caps.with(["multiview-mode": .string(eye.rawValue)], removing: ["views", "multiview-flags"])
  }

  // MARK: Pictures

  private func receive(_ pad: Pad, _ buffer: Buffer) throws {
    guard let meta = AccessUnitMeta(buffer) else {
      throw ElementError(
        .decode,
        "The decoder does not carry metas from coded buffers to pictures, "
          + "so the eyes cannot be told apart.")
    }
    if meta.stretch != stretch {
      try finishStretch()
      stretch = meta.stretch
    }
    let picture = buffer.writable()
    picture.pts = meta.pts ?? buffer.pts
    picture.duration = meta.duration ?? buffer.duration
    picture.dts = nil
    if meta.isPaired {
      absentEye = nil
      try show(
        waiting.add(picture, accessUnit: meta.number, eye: meta.eye, order: meta.order))
    } else {
      end(meta.eye.other)
      try show([StereoPicture(meta.eye, picture)])
    }
  }

  /// Tells the pad of an eye without pictures that none will come.
  private func end(_ eye: Eye) {
    guard absentEye != eye else { return }
    absentEye = eye
    pad(of: eye).push(.endOfStream)
    _ = combiner.update(pad(of: eye), .eos)
  }

  private func show(_ pictures: [StereoPicture<Buffer>]) throws {
    if playsBackwards { held += pictures } else { try push(pictures) }
  }

  /// Sends what waits for more pictures of the same stretch.
  private func finishStretch() throws {
    try show(waiting.drain())
    let pictures = held
    held = []
    try push(pictures.reversed())
  }

  /// The same in front of an event: that the next pad takes no pictures does not hold up the event.
  private func endStretch() { try? finishStretch() }

  private func push(_ pictures: [StereoPicture<Buffer>]) throws {
    for picture in pictures where isInSegment(picture) {
      for eye in Eye.allCases where eye != absentEye {
        let pad = self.pad(of: eye)
        if let buffer = picture[eye] {
          try combiner.update(pad, pad.push(buffer)).check()
        } else if let other = picture[eye.other], let time = other.pts {
          pad.push(.gap(at: time, duration: other.duration))
        }
      }
    }
  }

  /// What is decoded only for later pictures lies in front of the segment.
  private func isInSegment(_ picture: StereoPicture<Buffer>) -> Bool {
    guard let buffer = picture.left ?? picture.right, let time = buffer.pts else { return true }
    return played.overlaps(time, duration: buffer.duration)
  }
}
