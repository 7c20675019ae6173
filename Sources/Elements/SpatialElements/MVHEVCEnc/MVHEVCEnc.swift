// SPDX-License-Identifier: MPL-2.0

import GStreamer
import StereoVideo

/// `mvhevcenc`: encodes two raw eyes into one stream of layered H.265.
let mvhevcEnc = ElementDeclaration<MVHEVCEnc>(
  name: "mvhevcenc",
  typeName: "GstMVHEVCEnc",
  longName: "MV-HEVC encoder",
  klass: "Codec/Encoder/Video",
  description: "Encodes two eyes into one MV-HEVC stream with two x265 encoders in step",
  author: author,
  padTemplates: [
    PadTemplate("left", .sink, caps: StereoEyeCaps.raw),
    PadTemplate("right", .sink, caps: StereoEyeCaps.raw),
    PadTemplate("src", .source, caps: LayeredCaps.template),
  ],
  properties: [EyeChoice.heroEye(at: \.heroEye)] + EncoderSettings.properties(at: \.encoder)
    + PairingSettings.properties(at: \.pairing),
  interfaces: [.preset])

/// An encoder with two always sink pads and one source pad.
final class MVHEVCEnc: EyePairing {
  struct Settings: HasEncoderSettings, HasPairingSettings {
    var encoder = EncoderSettings()
    var pairing = PairingSettings()
    var heroEye = EyeChoice.none
  }

  struct Streaming {
    let element: MVHEVCEnc
    private var stereo: StereoInput?
    fileprivate var unlinkedPads = UnlinkedPads()
    private var streamTime = StreamTime()
    /// Whether there was a flush since the start: the streams may then end without a frame.
    private var hasBeenFlushed = false
    private var padCaps: [Eye: Caps] = [:]
    private var tags = TagList()
    private var hasSentCaps = false
    /// Whether downstream takes parameter sets in-band.
    private var isByteStream = false
    /// The latency reported downstream.
    private var latency: ClockTime?
    private var progress = ProgressReport("mvhevcenc-progress")
    private var frameCount = 0
    private var byteCount: UInt64 = 0
    private var lastRunningTime: RunningTime = 0

    init(element: MVHEVCEnc) {
      self.element = element
    }
  }

  let instance: ElementInstance
  let settings = Locked(Settings())
  let pairing = PairingState()
  fileprivate let keyframes = KeyframeRequests()

  init(_ instance: ElementInstance) throws {
    self.instance = instance
    try addEyePads()
  }

  func start() throws -> Streaming {
    keyframes.forget()
    pairing.forget()
    return Streaming(element: self)
  }

  func flush(_ streaming: inout Streaming) throws {
    keyframes.forget()
    streaming.flush()
  }

  func aggregate(timeout: Bool, _ streaming: inout Streaming) throws {
    try skipSilentPads(timeout: timeout)
    try streaming.aggregate()
  }

  // MARK: Events and queries

  func sinkQuery(_ pad: AggregatorPad, _ query: borrowing Query) -> Bool {
    let caps = pad.templateCaps
    return query.answerAsReader(
      of: caps, possible: caps, keeping: LayeredFrameEncoder.keptCount)
      || forwardSinkQuery(pad, query)
  }

  func sinkEvent(
    _ pad: AggregatorPad, _ event: Event, _ streaming: inout Streaming
  ) throws -> Bool {
    switch event.kind {
    case .caps(let caps):
      guard let eye = Eye(rawValue: pad.name) else { return false }
      warnIfOther(caps, than: eye)
      try streaming.setCaps(caps, of: eye)
      return true
    case .tags(let tags):
      streaming.add(tags)
      return true
    case .segment: streaming.unlinkedPads.watch(self)
    default: _ = keyframes.add(event)
    }
    return forwardSinkEvent(pad, event, &streaming)
  }

  func sourceEvent(_ event: Event) -> Bool {
    keyframes.add(event) || forwardSourceEvent(event)
  }
}

// MARK: Data

extension MVHEVCEnc.Streaming {
  fileprivate mutating func flush() {
    stereo = nil
    streamTime = StreamTime()
    hasBeenFlushed = true
    // Later frames may have another size.
    hasSentCaps = false
    latency = nil
  }

  fileprivate mutating func setCaps(_ caps: Caps, of eye: Eye) throws {
    try stereo?.setCaps(caps, of: eye, mayEnd: true)
    padCaps[eye] = caps
  }

  /// Ends the current coded video sequence: the next frames have another size or format.
  private mutating func endSequence() throws {
    guard let old = stereo else { return }
    while let frames = try old.drain() {
      try push(frames)
      postProgress()
    }
    stereo = try begin(following: old)
    hasSentCaps = false
    latency = nil
  }

  fileprivate mutating func add(_ newTags: TagList) {
    tags = tags.merging(newTags.withoutCoding)
    if !newTags.isGlobal, hasSentCaps { element.sourcePad.push(.tags(tags)) }
  }

  fileprivate mutating func aggregate() throws {
    let (left, right) = try element.eyePads()
    if left.isAtEnd || right.isAtEnd, !left.hasBuffer, !right.hasBuffer {
      try end()
      throw FlowReturn.eos
    }
    if stereo?.isOver ?? false { try endSequence() }
    let stereo = try self.stereo ?? begin()
    element.followSettings(stereo)
    enterSegment(of: stereo.baseEye == .left ? left : right, stereo)
    try push(try stereo.take(left: left, right: right))
    // It rises when constant quality changes to a bitrate.
    if let latency = stereo.latency, latency != self.latency {
      self.latency = latency
      element.setLatency(min: latency, max: nil)
    }
    for warning in stereo.warnings() { element.postWarning(warning) }
    postProgress()
  }

  private mutating func postProgress(isFinal: Bool = false) {
    progress.post(
      from: element, runningTime: lastRunningTime, frames: frameCount, bytes: byteCount,
      isFinal: isFinal)
  }

  private mutating func begin(following earlier: StereoInput? = nil) throws -> StereoInput {
    let hero = element.settings.current.heroEye.eye ?? SpatialMetadata(tags).heroEye
    let input = StereoInput(
      settings: element.settings.current.encoder, pairs: element.makePairs(),
      keyframes: element.keyframes, baseEye: earlier?.baseEye ?? hero ?? .left,
      following: earlier)
    for (eye, caps) in padCaps { try input.setCaps(caps, of: eye) }
    stereo = input
    return input
  }

  /// After a jump in stream time, frames may not refer to frames before it.
  private mutating func enterSegment(of base: AggregatorPad, _ stereo: StereoInput) {
    guard let buffer = base.peek(), let time = stereo.placed(base.runningTime(buffer), on: base)
    else {
      return
    }
    if streamTime.enter(base.segment, at: time) { element.keyframes.add(time) }
  }

  private mutating func end() throws {
    guard let stereo else {
      if hasBeenFlushed { return }
      throw ElementError(.encode, "The streams ended before the first pair of frames.")
    }
    while let frames = try stereo.drain(all: element.settings.current.encoder.drainsAtEnd) {
      try push(frames)
      postProgress()
    }
    if let warning = stereo.pairs.warning(isFinal: true) { element.postWarning(warning) }
    postProgress(isFinal: true)
    if element.settings.current.encoder.drainsAtEnd {
      element.postStatistics(stereo)
    }
    self.stereo = nil
  }

  private mutating func push(_ frames: [LayeredFrame]) throws {
    for frame in frames {
      try sendCaps()
      if let segment = streamTime.segment(at: frame.presentationTime) {
        element.updateSegment(segment)
      }
      let buffer =
        try isByteStream
        ? stereo?.configuration.map(frame.byteStream) ?? frame.buffer : frame.buffer
      buffer.pts = StreamTime.timestamp(frame.presentationTime)
      buffer.dts = StreamTime.timestamp(frame.decodeTime)
      buffer.duration = frame.duration
      buffer.flags = frame.isSync ? [] : frame.isReference ? .deltaUnit : [.deltaUnit, .droppable]
      frameCount += 1
      byteCount += UInt64(clamping: buffer.size)
      lastRunningTime = max(lastRunningTime, frame.presentationTime)
      try element.finish(buffer)
    }
  }

  private mutating func sendCaps() throws {
    guard !hasSentCaps, let configuration = stereo?.configuration else { return }
    hasSentCaps = true
    let base = stereo.flatMap { $0.stream($0.baseEye) }
    func caps(isByteStream: Bool) -> Caps {
      LayeredCaps.caps(
        configuration, like: base?.caps, frameRate: base?.frameRate, isByteStream: isByteStream)
    }
    let (records, stream) = (caps(isByteStream: false), caps(isByteStream: true))
    let pad = element.sourcePad
    let isStreamBetter = pad.readers.contains(where: LayeredCaps.readersOfByteStreams.contains)
    isByteStream = !pad.peerAccepts(records) || isStreamBetter && pad.peerAccepts(stream)
    element.setSourceCaps(isByteStream ? stream : records)
    if let warning = BaseLayerOnlyWarning.warning(after: pad, isByteStream: isByteStream) {
      element.postWarning(warning)
    }
    if !tags.isEmpty { element.sourcePad.push(.tags(tags)) }
  }
}
