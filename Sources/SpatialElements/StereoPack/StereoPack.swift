import CGStreamer
import GStreamer
import StereoVideo

/// `stereopack`: puts two eyes into one stream of frames.
let stereoPack = ElementDeclaration<StereoPack>(
  name: "stereopack",
  typeName: "GstStereoPack",
  baseClass: .aggregator,
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
final class StereoPack: AggregatorSubclass, HasSettings, @unchecked Sendable {
  struct Settings {
    var mode = PackMode.sideBySide
    var half = false
    var rightViewFirst = false
    var anaglyph = AnaglyphChoice.redCyanDubois
  }

  static let log = DebugCategory("stereopack", "stereo frame packer")

  let settings = Locked(Settings())
  /// The caps that have come, for the answer to the other eye's caps query.
  private let padCaps = Locked<[Eye: Caps]>([:])

  // What follows is used by the source pad's thread alone.

  private var packer: PackedPair?
  private var sentSegment: Segment?
  private var tags = TagList()
  private var dropped = 0

  required init(_ instance: ElementInstance) throws {
    try super.init(instance)
    for eye in Eye.allCases { try addAlwaysPad(eye.rawValue) }
  }

  override func start() throws { forget() }
  override func stop() { forget() }
  override func flush() throws {
    packer = nil
    sentSegment = nil
  }

  private func forget() {
    packer = nil
    sentSegment = nil
    tags = TagList()
    dropped = 0
    padCaps.withLock { $0 = [:] }
  }

  // MARK: Events and queries

  override func sinkQuery(_ pad: AggregatorPad, _ query: borrowing Query) -> Bool {
    switch query.type {
    case GST_QUERY_CAPS:
      let caps = possibleCaps(pad)
      query.answerCaps(query.capsFilter.map { $0.intersection(caps) } ?? caps)
      return true
    case GST_QUERY_ACCEPT_CAPS:
      guard let caps = query.acceptCaps else { return false }
      query.answerAcceptCaps(caps.canIntersect(possibleCaps(pad)))
      return true
    case GST_QUERY_ALLOCATION:
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

  override func sinkEvent(_ pad: AggregatorPad, _ event: Event) throws -> Bool {
    if let caps = event.caps, let eye = Eye(rawValue: pad.name) {
      padCaps.withLock { $0[eye] = caps }
      packer = nil
      return true
    }
    if let newTags = event.tags {
      tags = tags.merging(newTags)
      return true
    }
    return forwardSinkEvent(pad, event)
  }

  // MARK: Data

  override func aggregate(timeout: Bool) throws {
    let pads = sinkPads
    guard pads.filter({ $0.dropGap() }).isEmpty else { throw FlowReturn.needData }
    guard let left = pads.first(where: { $0.name == "left" }),
      let right = pads.first(where: { $0.name == "right" })
    else { throw FlowReturn.error }
    if left.isAtEnd, right.isAtEnd { throw FlowReturn.eos }
    guard let one = left.peek(), let other = right.peek() else {
      // One eye has ended; the other's frames have no partner.
      drop([left, right].filter(\.hasBuffer))
      return
    }
    let times = (left.runningTime(one), right.runningTime(other))
    let packer = try self.packer ?? makePacker()
    switch FramePairing.decide(
      left: times.0, right: times.1,
      tolerance: FramePairing.tolerance(frameDuration: packer.frameDuration ?? one.duration))
    {
    case .dropLeft: drop([left])
    case .dropRight: drop([right])
    case .pair:
      _ = (left.pop(), right.pop())
      guard let (pad, time) = one.pts.map({ (left, $0) }) ?? other.pts.map({ (right, $0) }) else {
        throw ElementError(.failedStream, "A frame has no timestamp.")
      }
      follow(pad.segment)
      for frame in try packer.frames(one, other) {
        frame.buffer.pts = time &+ frame.delay
        frame.buffer.dts = nil
        frame.buffer.duration = frame.duration
        try finish(frame.buffer)
      }
    }
  }

  /// The output has the times of the input, behind a seek too.
  private func follow(_ segment: Segment) {
    guard sentSegment?.covers(segment) != true else { return }
    sentSegment = segment
    updateSegment(segment)
  }

  private func drop(_ pads: [AggregatorPad]) {
    for pad in pads where pad.pop() != nil { dropped += 1 }
    if dropped == 1 {
      postWarning(
        ElementError(.failedStream, "Frames of one eye have no partner of the same time."))
    }
  }

  private func makePacker() throws -> PackedPair {
    let caps = padCaps.current
    guard let left = caps[.left], let right = caps[.right] else { throw FlowReturn.notNegotiated }
    let made = try PackedPair(left: left, right: right, settings: settings.current)
    setSourceCaps(made.caps)
    if !tags.isEmpty { sourcePad.push(.tags(tags)) }
    packer = made
    return made
  }
}
