import CGStreamer
import GStreamer
import StereoVideo

/// `mvhevcenc`: encodes two raw eyes into one stream of layered H.265.
let mvhevcEnc = ElementDeclaration<MVHEVCEnc>(
  name: "mvhevcenc",
  typeName: "GstMVHEVCEnc",
  baseClass: .aggregator,
  longName: "MV-HEVC encoder",
  klass: "Codec/Encoder/Video",
  description: "Encodes two eyes into one MV-HEVC stream with two x265 encoders in step",
  author: author,
  padTemplates: [
    PadTemplate("left", .sink, caps: StereoEyeCaps.raw),
    PadTemplate("right", .sink, caps: StereoEyeCaps.raw),
    PadTemplate("src", .source, caps: LayeredCaps.template),
  ],
  properties: [
    .choice(
      "hero-eye", nick: "Hero eye",
      blurb: "The eye in the base layer, which players for one eye show "
        + "(none = by tag stereo-hero-eye, else left)",
      default: .none, at: \.heroEye)
  ] + EncoderSettings.properties(at: \.encoder),
  interfaces: [.preset])

/// Two sinks and one source that are always there.
final class MVHEVCEnc: AggregatorSubclass, HasSettings, @unchecked Sendable {
  struct Settings {
    var encoder = EncoderSettings()
    var heroEye = EyeChoice.none
  }

  static let log = DebugCategory("mvhevcenc", "MV-HEVC encoder")
  /// Where the output's segment starts: with B frames, the first decode times lie before the first
  /// presentation times, and a timestamp cannot be negative. GstVideoEncoder's elements leave
  /// themselves the same room.
  private static let segmentStart = ClockTime.second * 3600 * 1000

  let settings = Locked(Settings())
  /// Whether downstream or the application wants the next frame to be a keyframe.
  private let keyframeWanted = Locked(false)

  // What follows is used by the source pad's thread alone.

  private var stereo: StereoInput?
  private var padCaps: [Eye: Caps] = [:]
  private var tags = TagList()
  private var hasSentCaps = false
  /// How long frames stay inside, once downstream has been told.
  private var latency: ClockTime?
  private var reportedDrops = 0
  private var progress = ProgressReport("mvhevcenc-progress")
  private var frameCount = 0
  private var byteCount: UInt64 = 0
  private var lastRunningTime: Int64 = 0

  required init(_ instance: ElementInstance) throws {
    try super.init(instance)
    for eye in Eye.allCases { try addAlwaysPad(eye.rawValue) }
  }

  override func start() throws { forget() }
  override func stop() { forget() }

  override func flush() throws {
    stereo = nil
    // What follows may be of another size.
    hasSentCaps = false
    latency = nil
    reportedDrops = 0
  }

  private func forget() {
    stereo = nil
    padCaps = [:]
    tags = TagList()
    hasSentCaps = false
    reportedDrops = 0
    progress = ProgressReport("mvhevcenc-progress")
    (frameCount, byteCount, lastRunningTime) = (0, 0, 0)
  }

  // MARK: Events and queries

  override func sinkQuery(_ pad: AggregatorPad, _ query: borrowing Query) -> Bool {
    StereoEyeCaps.answer(query, to: pad) ?? forwardSinkQuery(pad, query)
  }

  override func sinkEvent(_ pad: AggregatorPad, _ event: Event) throws -> Bool {
    if let caps = event.caps, let eye = Eye(rawValue: pad.name) {
      try stereo?.setCaps(caps, of: eye)
      padCaps[eye] = caps
      return true
    }
    if let newTags = event.tags {
      tags = tags.merging(newTags)
      if !newTags.isGlobal, hasSentCaps { sourcePad.push(.tags(tags)) }
      return true
    }
    if event.isForceKeyUnit { keyframeWanted.withLock { $0 = true } }
    return forwardSinkEvent(pad, event)
  }

  override func sourceEvent(_ event: Event) -> Bool {
    guard event.isForceKeyUnit else { return forwardSourceEvent(event) }
    keyframeWanted.withLock { $0 = true }
    return true
  }

  // MARK: Data

  override func aggregate(timeout: Bool) throws {
    let pads = sinkPads
    guard pads.filter({ $0.dropGap() }).isEmpty else { throw FlowReturn.needData }
    guard let left = pads.first(where: { $0.name == "left" }),
      let right = pads.first(where: { $0.name == "right" })
    else { throw FlowReturn.error }
    if left.isAtEnd, right.isAtEnd {
      try end()
      throw FlowReturn.eos
    }
    let stereo = try self.stereo ?? begin()
    let wanted = keyframeWanted.withLock { wanted in
      defer { wanted = false }
      return wanted
    }
    try push(try stereo.take(left: left, right: right, forceKeyframe: wanted))
    if latency == nil, let latency = stereo.latency {
      self.latency = latency
      setLatency(min: latency, max: nil)
    }
    if stereo.drops.total > 0, reportedDrops == 0 { reportDrops(stereo) }
    postProgress()
  }

  private func postProgress(isFinal: Bool = false) {
    progress.post(
      from: self, runningTime: lastRunningTime, frames: frameCount, bytes: byteCount,
      isFinal: isFinal)
  }

  private func begin() throws -> StereoInput {
    let hero = settings.current.heroEye.eye ?? SpatialMetadata(tags).heroEye
    let input = StereoInput(settings: settings.current.encoder, baseEye: hero ?? .left)
    for (eye, caps) in padCaps { try input.setCaps(caps, of: eye) }
    var segment = Segment()
    segment.segment.start = guint64(Self.segmentStart)
    segment.segment.position = guint64(Self.segmentStart)
    updateSegment(segment)
    stereo = input
    return input
  }

  private func end() throws {
    guard let stereo else {
      throw ElementError(.encode, "The streams ended before the first pair of frames.")
    }
    while let frames = try stereo.drain() {
      try push(frames)
      postProgress()
    }
    if stereo.drops.total > reportedDrops { reportDrops(stereo) }
    postProgress(isFinal: true)
    postStatistics(stereo, log: Self.log)
    self.stereo = nil
  }

  private func reportDrops(_ stereo: StereoInput) {
    reportedDrops = stereo.drops.total
    postWarning(stereo.drops.warning)
  }

  private func push(_ frames: [LayeredFrame]) throws {
    for frame in frames {
      try sendCaps()
      let buffer = frame.buffer
      buffer.pts = Self.timestamp(frame.presentationTime)
      buffer.dts = Self.timestamp(frame.decodeTime)
      buffer.duration = frame.duration > 0 ? frame.duration : nil
      buffer.flags = frame.isSync ? [] : frame.isReference ? .deltaUnit : [.deltaUnit, .droppable]
      frameCount += 1
      byteCount += UInt64(clamping: buffer.size)
      lastRunningTime = frame.presentationTime
      try finish(buffer)
    }
  }

  private static func timestamp(_ runningTime: Int64) -> ClockTime {
    let start = Int64(segmentStart)
    let (sum, overflow) = start.addingReportingOverflow(runningTime)
    return overflow || sum < 0 ? 0 : ClockTime(sum)
  }

  private func sendCaps() throws {
    guard !hasSentCaps, let configuration = stereo?.configuration else { return }
    hasSentCaps = true
    let base = stereo.flatMap { $0.stream($0.baseEye) }
    setSourceCaps(LayeredCaps.caps(configuration, like: base?.caps, frameRate: base?.frameRate))
    if !tags.isEmpty { sourcePad.push(.tags(tags)) }
  }
}
