// SPDX-License-Identifier: MPL-2.0

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
  padTemplates: StereoPack.padTemplates,
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
  ] + PairingSettings.properties(at: \.pairing))

/// Two sinks and one source that are always there. Frames are paired by running time; one without
/// a partner is dropped. ``StereoFilters`` makes elements of it that change the eyes before.
final class StereoPack: PairsEyes {
  struct Settings: HasPairingSettings {
    var mode = PackMode.sideBySide
    var half = false
    var rightViewFirst = false
    var anaglyph = AnaglyphChoice.redCyanDubois
    var pairing = PairingSettings()
  }

  struct Streaming {
    var pairs: EyePairs
    var unlinkedPads = UnlinkedPads()
    var packer: FramePacker?
    /// Of the eyes that the packer takes.
    var packedCaps: (left: Caps, right: Caps)?
    /// In nanoseconds; nil where the rate is not known.
    var frameDuration: ClockTime?
    var sentSegment: Segment?
    var tags = TagList()
  }

  static let padTemplates = [
    PadTemplate("left", .sink, caps: FramePacker.caps(.sideBySide)),
    PadTemplate("right", .sink, caps: FramePacker.caps(.sideBySide)),
    PadTemplate("src", .source, caps: FramePacker.caps(.sideBySide)),
  ]
  static let log = DebugCategory("stereopack", "stereo frame packer")

  let instance: ElementInstance
  let settings = Locked(Settings())
  let pairing = PairingState()
  /// The caps that have come, for the answer to the other eye's caps query.
  private let padCaps = Locked<[Eye: Caps]>([:])
  /// Whether the peer wants to negotiate anew.
  private let isReconfigured = Locked(false)
  /// What changes the eyes before they are packed; nil for `stereopack` itself.
  private let filter: StereoFilterCalls?

  init(_ instance: ElementInstance) throws {
    self.instance = instance
    filter = StereoFilters.begin(instance.typeName).map(StereoFilterCalls.init)
    if filter != nil { settings.withLock { $0.mode = .frameByFrame } }
    try addEyePads()
  }

  func start() throws -> Streaming {
    padCaps.withLock { $0 = [:] }
    pairing.forget()
    filter?.unlockStop()
    return Streaming(pairs: makePairs())
  }

  func flush(_ streaming: inout Streaming) throws {
    streaming.packer = nil
    streaming.sentSegment = nil
    streaming.pairs = makePairs()
  }

  func unlock() { filter?.unlock() }

  func unlockStop() { filter?.unlockStop() }

  // MARK: Events and queries

  func sinkQuery(_ pad: AggregatorPad, _ query: borrowing Query) -> Bool {
    let all = FramePacker.caps(settings.current.mode)
    return query.answerAsReader(
      of: all, possible: possibleCaps(pad), keeping: EyePairs.waitingCount)
      || forwardSinkQuery(pad, query)
  }

  /// Both eyes are of one format and size: the second one follows the first. Once both have theirs,
  /// they may change together.
  private func possibleCaps(_ pad: AggregatorPad) -> Caps {
    let all = FramePacker.caps(settings.current.mode)
    let known = padCaps.current
    guard let eye = Eye(rawValue: pad.name), known[eye] == nil,
      let info = known[eye.other].flatMap(VideoInfo.init)
    else { return all }
    return all.with([
      "format": .string(info.formatName), "width": .int(Int32(clamping: info.width)),
      "height": .int(Int32(clamping: info.height)),
    ])
  }

  func sourceEvent(_ event: Event) -> Bool {
    if case .reconfigure = event.kind { isReconfigured.withLock { $0 = true } }
    return forwardSourceEvent(event)
  }

  func sinkEvent(
    _ pad: AggregatorPad, _ event: Event, _ streaming: inout Streaming
  ) throws -> Bool {
    switch event.kind {
    case .caps(let caps):
      guard let eye = Eye(rawValue: pad.name) else { return false }
      warnIfOther(caps, than: eye)
      padCaps.withLock { $0[eye] = caps }
      streaming.packer = nil
      streaming.frameDuration = caps.first?.fraction("framerate").flatMap(\.frameDuration)
      return true
    case .tags(let tags):
      streaming.tags = streaming.tags.merging(tags)
      if streaming.packer != nil { sourcePad.push(.tags(streaming.tags)) }
      return true
    case .segment: streaming.unlinkedPads.watch(self)
    default: break
    }
    return forwardSinkEvent(pad, event, &streaming)
  }

  // MARK: Data

  func aggregate(timeout: Bool, _ streaming: inout Streaming) throws {
    try passOverSilentPads(timeout: timeout)
    let (left, right) = try eyePads()
    streaming.pairs.settings = settings.current.pairing
    let step = try streaming.pairs.next(left, right, frameDuration: streaming.frameDuration)
    if let warning = streaming.pairs.warning(isFinal: step.isEnd) { postWarning(warning) }
    switch step {
    case .nothing: throw FlowReturn.needData
    case .end: throw FlowReturn.eos
    case .pair(let pair): try pack(pair, &streaming)
    }
  }

  private func pack(_ pair: EyePairs.Pair, _ streaming: inout Streaming) throws {
    guard
      let (frame, time) = pair.left.buffer.pts.map({ (pair.left, $0) })
        ?? pair.right.buffer.pts.map({ (pair.right, $0) })
    else { throw ElementError(.failedStream, "A frame has no timestamp.") }
    let eyes = try eyes(of: pair, frame.segment.unclippedStreamTime(time), streaming)
    let packer = try packer(for: eyes, &streaming)
    if isReconfigured.withLock({ isReconfigured in
      defer { isReconfigured = false }
      return isReconfigured
    }) {
      try packer.askPeer(of: sourcePad)
    }
    follow(frame.segment, &streaming)
    for packed in try packer.frames(eyes.left.buffer, eyes.right.buffer) {
      packed.buffer.pts = time &+ packed.delay
      packed.buffer.dts = nil
      packed.buffer.duration = packed.duration
      try finish(packed.buffer)
    }
  }

  /// The output has the times of the input, behind a seek too.
  private func follow(_ segment: Segment, _ streaming: inout Streaming) {
    guard streaming.sentSegment?.covers(segment) != true else { return }
    streaming.sentSegment = segment
    updateSegment(segment)
  }

  // MARK: Eyes

  /// A frame to be packed.
  private struct Eyes {
    let left: (buffer: Buffer, caps: Caps)
    let right: (buffer: Buffer, caps: Caps)
  }

  /// What is packed of a pair.
  private func eyes(
    of pair: EyePairs.Pair, _ streamTime: ClockTime?, _ streaming: Streaming
  ) throws -> Eyes {
    let caps = padCaps.current
    guard let left = caps[.left], let right = caps[.right] else { throw FlowReturn.notNegotiated }
    guard let filter else {
      return Eyes(left: (pair.left.buffer, left), right: (pair.right.buffer, right))
    }
    guard let leftInfo = VideoInfo(left), let rightInfo = VideoInfo(right) else {
      throw ElementError(.format, "Only raw video in system memory can be filtered.")
    }
    let filtered = try filter.apply(
      RawEyes(
        left: RawEye(pair.left.buffer, leftInfo), right: RawEye(pair.right.buffer, rightInfo),
        streamTime: streamTime, duration: pair.left.buffer.duration ?? streaming.frameDuration,
        metadata: SpatialMetadata(streaming.tags)))
    // Nobody waits for this pair any more.
    guard let filtered else { throw FlowReturn.needData }
    return Eyes(
      left: (filtered.left.buffer, filtered.left.info.caps(following: left, leftInfo)),
      right: (filtered.right.buffer, filtered.right.info.caps(following: left, leftInfo)))
  }

  private func packer(for eyes: Eyes, _ streaming: inout Streaming) throws -> FramePacker {
    if let packer = streaming.packer, let caps = streaming.packedCaps,
      caps.left.isEqual(to: eyes.left.caps), caps.right.isEqual(to: eyes.right.caps)
    {
      return packer
    }
    let made = try FramePacker(
      left: eyes.left.caps, right: eyes.right.caps, settings: settings.current)
    setSourceCaps(made.caps)
    try made.askPeer(of: sourcePad)
    if !streaming.tags.isEmpty { sourcePad.push(.tags(streaming.tags)) }
    (streaming.packer, streaming.packedCaps) = (made, (eyes.left.caps, eyes.right.caps))
    return made
  }
}

extension VideoInfo {
  /// The caps of frames that were made of others: all that is said of those, where they lie alike.
  fileprivate func caps(following other: Caps, _ otherInfo: VideoInfo) -> Caps {
    func plain(_ info: VideoInfo) -> Caps {
      info.caps.with(
        ["framerate": .fraction(otherInfo.frameRate)],
        removing: ["multiview-mode", "multiview-flags", "views"])
    }
    let own = plain(self)
    return own.isEqual(to: plain(otherInfo)) ? other : own
  }
}
