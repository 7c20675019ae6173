import GStreamer
import StereoVideo

/// `stereopack`: puts two eyes into one stream of frames.
let stereoPack = ElementDeclaration<StereoPack>(
  name: "stereopack",
  typeName: "GstStereoPack",
  longName: "Stereo frame packer",
  klass: "Filter/Converter/Video",
  description: "Puts two eyes into frames: side by side, top-bottom, row-interleaved, "
    + "frame by frame, one eye, anaglyph",
  author: author,
  padTemplates: [
    PadTemplate("left", .sink, caps: PackedPair.caps(.sideBySide)),
    PadTemplate("right", .sink, caps: PackedPair.caps(.sideBySide)),
    PadTemplate("src", .source, caps: PackedPair.caps(.sideBySide)),
  ],
  properties: [
    .choice(
      "mode", nick: "Mode", blurb: "How the eyes are put together; an anaglyph needs RGB",
      default: .sideBySide, at: \.mode),
    .bool(
      "half", nick: "Half",
      blurb: "Each eye at half its width (side by side) or height (top-bottom, row-interleaved), "
        + "so that the frame has the size of one eye",
      default: false, at: \.half),
    .bool(
      "right-view-first", nick: "Right view first",
      blurb: "The right eye comes left, above, or first", default: false, at: \.rightViewFirst),
    .choice(
      "anaglyph", nick: "Anaglyph", blurb: "The colours of the glasses, with mode=anaglyph",
      default: .redCyanDubois, at: \.anaglyph),
  ])

/// Two sinks and one source that are always there. Frames are paired by running time; one without
/// a partner is dropped.
final class StereoPack: AggregatorImplementation {
  struct Settings {
    var mode = PackMode.sideBySide
    var half = false
    var rightViewFirst = false
    var anaglyph = AnaglyphChoice.redCyanDubois
  }

  struct Streaming {
    var packer: PackedPair?
    var sentSegment: Segment?
    var tags = TagList()
    var dropped = 0
  }

  static let log = DebugCategory("stereopack", "stereo frame packer")

  let instance: ElementInstance
  let settings = Locked(Settings())
  /// The caps that have come, for the answer to the other eye's caps query.
  private let padCaps = Locked<[Eye: Caps]>([:])

  init(_ instance: ElementInstance) throws {
    self.instance = instance
    for eye in Eye.allCases { try addAlwaysPad(eye.rawValue) }
  }

  func start() throws -> Streaming {
    padCaps.withLock { $0 = [:] }
    return Streaming()
  }

  func flush(_ streaming: inout Streaming) throws {
    streaming.packer = nil
    streaming.sentSegment = nil
  }

  // MARK: Events and queries

  func sinkQuery(_ pad: AggregatorPad, _ query: borrowing Query) -> Bool {
    switch query.kind {
    case .caps:
      query.answerCaps(possibleCaps(pad))
      return true
    case .acceptCaps(let caps):
      query.answerAcceptCaps(caps.canIntersect(possibleCaps(pad)))
      return true
    case .allocation:
      // Frames are read where they lie.
      query.offerVideoMeta()
      return true
    default: return forwardSinkQuery(pad, query)
    }
  }

  /// Both eyes are of one format and size.
  private func possibleCaps(_ pad: AggregatorPad) -> Caps {
    let all = PackedPair.caps(settings.current.mode)
    let other = Eye(rawValue: pad.name)?.other
    guard let other, let info = padCaps.withLock({ $0[other] }).flatMap(VideoInfo.init) else {
      return all
    }
    return all.with([
      "format": .string(info.formatName), "width": .int(Int32(clamping: info.width)),
      "height": .int(Int32(clamping: info.height)),
    ])
  }

  func sinkEvent(
    _ pad: AggregatorPad, _ event: Event, _ streaming: inout Streaming
  ) throws -> Bool {
    switch event.kind {
    case .caps(let caps):
      guard let eye = Eye(rawValue: pad.name) else { return false }
      padCaps.withLock { $0[eye] = caps }
      streaming.packer = nil
      return true
    case .tags(let tags):
      streaming.tags = streaming.tags.merging(tags)
      return true
    default: return forwardSinkEvent(pad, event, &streaming)
    }
  }

  // MARK: Data

  func aggregate(timeout: Bool, _ streaming: inout Streaming) throws {
    let pads = sinkPads
    guard pads.filter({ $0.dropGap() }).isEmpty else { throw FlowReturn.needData }
    guard let left = pads.first(where: { $0.name == "left" }),
      let right = pads.first(where: { $0.name == "right" })
    else { throw FlowReturn.error }
    if left.isAtEnd, right.isAtEnd { throw FlowReturn.eos }
    guard let one = left.peek(), let other = right.peek() else {
      // One eye has ended; the other's frames have no partner.
      drop([left, right].filter(\.hasBuffer), &streaming)
      return
    }
    let times = (left.runningTime(one), right.runningTime(other))
    let packer = try streaming.packer ?? makePacker(&streaming)
    switch FramePairing.decide(
      left: times.0, right: times.1,
      tolerance: FramePairing.tolerance(frameDuration: packer.frameDuration ?? one.duration))
    {
    case .dropLeft: drop([left], &streaming)
    case .dropRight: drop([right], &streaming)
    case .pair:
      _ = (left.pop(), right.pop())
      guard let (pad, time) = one.pts.map({ (left, $0) }) ?? other.pts.map({ (right, $0) }) else {
        throw ElementError(.failedStream, "A frame has no timestamp.")
      }
      follow(pad.segment, &streaming)
      for frame in try packer.frames(one, other) {
        frame.buffer.pts = time &+ frame.delay
        frame.buffer.dts = nil
        frame.buffer.duration = frame.duration
        try finish(frame.buffer)
      }
    }
  }

  /// The output has the times of the input, behind a seek too.
  private func follow(_ segment: Segment, _ streaming: inout Streaming) {
    guard streaming.sentSegment?.covers(segment) != true else { return }
    streaming.sentSegment = segment
    updateSegment(segment)
  }

  private func drop(_ pads: [AggregatorPad], _ streaming: inout Streaming) {
    for pad in pads where pad.pop() != nil { streaming.dropped += 1 }
    if streaming.dropped == 1 {
      postWarning(
        ElementError(.failedStream, "Frames of one eye have no partner of the same time."))
    }
  }

  private func makePacker(_ streaming: inout Streaming) throws -> PackedPair {
    let caps = padCaps.current
    guard let left = caps[.left], let right = caps[.right] else { throw FlowReturn.notNegotiated }
    let made = try PackedPair(left: left, right: right, settings: settings.current)
    setSourceCaps(made.caps)
    if !streaming.tags.isEmpty { sourcePad.push(.tags(streaming.tags)) }
    streaming.packer = made
    return made
  }
}
