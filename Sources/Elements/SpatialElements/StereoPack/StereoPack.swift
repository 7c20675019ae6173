// SPDX-License-Identifier: MPL-2.0

import GStreamer
import StereoVideo

/// `stereopack`: packs two eyes into one stream of frames.
let stereoPack = ElementDeclaration<StereoPack>(
  name: "stereopack",
  typeName: "GstStereoPack",
  longName: "Stereo frame packer",
  klass: "Filter/Converter/Video",
  description: "Packs two eyes into frames: side by side, top-bottom, row-interleaved, "
    + "frame by frame, one eye, anaglyph",
  author: author,
  padTemplates: StereoPack.padTemplates,
  properties: [
    .choice(
      "mode", nick: "Mode", blurb: "How the eyes are combined; an anaglyph needs RGB",
      default: .sideBySide, at: \.mode),
    .bool(
      "half", nick: "Half",
      blurb: "Each eye at half its width (side by side) or height (top-bottom, row-interleaved), "
        + "so that the frame has the size of one eye",
      default: false, at: \.half),
    .bool(
      "right-view-first", nick: "Right view first",
      blurb: "Put the right eye left, on top, or first", default: false, at: \.rightViewFirst),
    .choice(
      "anaglyph", nick: "Anaglyph", blurb: "Colours of the glasses, for mode=anaglyph",
      default: .redCyanDubois, at: \.anaglyph),
  ] + PairingSettings.properties(at: \.pairing))

/// An element with two always sink pads and one source pad. Frames are paired by running time; a
/// frame without a partner is dropped. ``ProgramElements`` derives elements that change the eyes
/// first.
final class StereoPack: EyePairing {
  struct Settings: HasPairingSettings {
    var mode = PackMode.sideBySide
    var half = false
    var rightViewFirst = false
    var anaglyph = AnaglyphChoice.redCyanDubois
    var pairing = PairingSettings()
  }

  struct Streaming {
    var pairs: EyePairer
    var unlinkedPads = UnlinkedPads()
    var output = PackedOutput()
    /// Nil if the rate is unknown.
    var frameDuration: ClockTime?
    private var lastTime: ClockTime?
    private var missing = MissingTimes()

    init(pairs: EyePairer) { self.pairs = pairs }

    /// Returns the timestamp of a frame; one that has none follows the frame before it.
    ///
    /// - Throws: an ``ElementError`` if no frame rate says by how much.
    mutating func time(
      of frame: Buffer, in segment: Segment, _ element: StereoPack
    ) throws -> ClockTime {
      if let time = frame.pts {
        lastTime = time
        return time
      }
      guard let frameDuration else { throw MissingTimes.unknown }
      let time = lastTime.map { $0 + frameDuration } ?? segment.start
      lastTime = time
      if let warning = missing.note(at: RunningTime(clamping: time)) {
        element.postWarning(warning)
      }
      return time
    }
  }

  static let padTemplates = [
    PadTemplate("left", .sink, caps: FramePacker.caps(.sideBySide)),
    PadTemplate("right", .sink, caps: FramePacker.caps(.sideBySide)),
    PadTemplate("src", .source, caps: FramePacker.caps(.sideBySide)),
  ]
  let instance: ElementInstance
  let settings = Locked(Settings())
  let pairing = PairingState()
  /// Caps received so far, used to answer the other eye's caps query.
  private let padCaps = Locked<[Eye: Caps]>([:])
  private let reconfiguration = Reconfiguration()
  /// The application's function applied to the eyes before packing; nil for `stereopack` itself.
  private let filter: ProgramFrameCalls<RawEyes>?

  init(_ instance: ElementInstance) throws {
    self.instance = instance
    filter = ProgramElements.filter(instance.typeName).map(ProgramFrameCalls.init)
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
    streaming.output.flush()
    streaming.pairs = makePairs()
  }

  func unlock() { filter?.unlock() }

  func unlockStop() { filter?.unlockStop() }

  // MARK: Events and queries

  func sinkQuery(_ pad: AggregatorPad, _ query: borrowing Query) -> Bool {
    let all = FramePacker.caps(settings.current.mode)
    return query.answerAsReader(
      of: all, possible: possibleCaps(pad), keeping: EyePairer.waitingCount)
      || forwardSinkQuery(pad, query)
  }

  /// Both eyes need the same format and size: the second one has to follow the first. Once both
  /// have caps, they may change together.
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
    reconfiguration.note(event)
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
      streaming.output.forgetCaps()
      streaming.frameDuration = caps.first?.fraction("framerate").flatMap(\.frameDuration)
      return true
    case .tags(let tags):
      streaming.output.merge(tags, at: sourcePad)
      return true
    case .segment: streaming.unlinkedPads.watch(self)
    default: break
    }
    return forwardSinkEvent(pad, event, &streaming)
  }

  // MARK: Data

  func aggregate(timeout: Bool, _ streaming: inout Streaming) throws {
    try skipSilentPads(timeout: timeout)
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

  private func pack(_ pair: EyePairer.Pair, _ streaming: inout Streaming) throws {
    let frame = pair.timed
    let time = try streaming.time(of: frame.buffer, in: frame.segment, self)
    guard
      let eyes = try eyes(of: pair, frame.segment.unclippedStreamTime(time), streaming)
    else { return }
    try streaming.output.push(
      left: eyes.left, right: eyes.right, time: time, in: frame.segment,
      isReconfigured: reconfiguration.take(), settings: settings.current, by: self)
  }

  /// Returns the eyes to pack; nil to skip the pair.
  private func eyes(
    of pair: EyePairer.Pair, _ streamTime: ClockTime?, _ streaming: Streaming
  ) throws -> (left: PackedOutput.Eye, right: PackedOutput.Eye)? {
    let caps = padCaps.current
    guard let left = caps[.left], let right = caps[.right] else { throw FlowReturn.notNegotiated }
    guard let filter else { return ((pair.left.buffer, left), (pair.right.buffer, right)) }
    guard let leftInfo = VideoInfo(left), let rightInfo = VideoInfo(right) else {
      throw ElementError(.format, "Only raw video in system memory can be filtered.")
    }
    let outcome = try filter.apply(
      RawEyes(
        left: RawEye(pair.left.buffer, leftInfo), right: RawEye(pair.right.buffer, rightInfo),
        streamTime: streamTime, duration: pair.left.buffer.duration ?? streaming.frameDuration,
        metadata: SpatialMetadata(streaming.output.tags)))
    switch outcome {
    case .unlocked: throw FlowReturn.needData
    case .skipped: return nil
    case .frame(let one, let other):
      return (
        (one.buffer, one.info.caps(following: left, leftInfo)),
        (other.buffer, other.info.caps(following: left, leftInfo))
      )
    }
  }
}

/// Records renegotiation requests from downstream.
final class Reconfiguration: Sendable {
  private let isAsked = Locked(false)

  /// Call it with each event that arrives on the source pad.
  func note(_ event: Event) {
    if case .reconfigure = event.kind { isAsked.withLock { $0 = true } }
  }

  /// Whether there was a request since the last call.
  func take() -> Bool {
    isAsked.withLock { isAsked in
      defer { isAsked = false }
      return isAsked
    }
  }
}
