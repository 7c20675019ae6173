// SPDX-License-Identifier: MPL-2.0

import GStreamer
import StereoVideo

/// Has a function of the program make each frame of those that several sources show at its time.
///
/// There are pads on request for each source: `left_%u` and `right_%u` of one number, or `mono_%u` for
/// one picture for both eyes. The source with the lowest number says when there are frames; each other
/// source shows the frame whose time has come, as in a `StereoComposition`.
final class StereoMixer: PairsEyes {
  struct Settings: HasPairingSettings {
    var pairing = PairingSettings()
  }

  struct Streaming {
    /// By their numbers, as all that follows.
    var sources: [Int: MixerSource] = [:]
    var tags: [Int: TagList] = [:]
    /// By the names of pads.
    var caps: [String: Caps] = [:]
    var output = PackedOutput()
    var unlinkedPads = UnlinkedPads()
  }

  static let padTemplates =
    MixerPads.Kind.allCases.map {
      PadTemplate("\($0.rawValue)%u", .sink, .request, caps: FramePacker.caps(.sideBySide))
    } + [PadTemplate("src", .source, caps: FramePacker.caps(.sideBySide))]

  let instance: ElementInstance
  let settings = Locked(Settings())
  let pairing = PairingState()
  private let reconfiguration = Reconfiguration()
  private let calls: ProgramFrameCalls<RawSources>
  private let packing: StereoPack.Settings

  init(_ instance: ElementInstance) throws {
    self.instance = instance
    guard let function = ProgramElements.compositor(instance.typeName) else {
      throw ElementError(.failedStream, "There is no function for \(instance.typeName).")
    }
    calls = ProgramFrameCalls(function.begin)
    packing = StereoPack.Settings(mode: function.isStereo ? .frameByFrame : .left)
  }

  func start() throws -> Streaming {
    pairing.forget()
    calls.unlockStop()
    return Streaming()
  }

  func flush(_ streaming: inout Streaming) throws {
    streaming.sources = [:]
    streaming.output.flush()
  }

  func unlock() { calls.unlock() }

  func unlockStop() { calls.unlockStop() }

  /// A number is of both eyes, or of one picture for both.
  func padName(template: String, requested: String?) throws -> String {
    let taken = sinkPads.map(\.name)
    let name = try PadTemplate.name(for: template, requested: requested, taken: Set(taken))
    guard let pad = MixerPads.parse(name),
      !taken.compactMap(MixerPads.parse).contains(where: {
        $0.number == pad.number && ($0.kind == .mono || pad.kind == .mono)
      })
    else {
      throw ElementError(.pad, "There can be no pad \(name): its number is another source's.")
    }
    return name
  }

  // MARK: Events and queries

  func sinkQuery(_ pad: AggregatorPad, _ query: borrowing Query) -> Bool {
    let all = FramePacker.caps(packing.mode)
    return query.answerAsReader(of: all, possible: all, keeping: EyePairs.waitingCount)
      || forwardSinkQuery(pad, query)
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
      streaming.caps[pad.name] = caps
      return true
    case .tags(let tags):
      guard let number = MixerPads.parse(pad.name)?.number else { return false }
      streaming.tags[number] = streaming.tags[number, default: TagList()].merging(tags)
      let numbers = sinkPads.compactMap { MixerPads.parse($0.name)?.number }
      if number == numbers.min() { streaming.output.merge(tags, at: sourcePad) }
      return true
    case .segment: streaming.unlinkedPads.watch(self)
    default: break
    }
    return forwardSinkEvent(pad, event, &streaming)
  }

  // MARK: Data

  func aggregate(timeout: Bool, _ streaming: inout Streaming) throws {
    try passOverSilentPads(timeout: timeout)
    let sources = try MixerPads.sources(sinkPads)
    guard let (first, pads) = sources.first else { throw FlowReturn.eos }
    // What a released pad gave is not that of another one of its name.
    let numbers = Set(sources.map(\.number))
    streaming.sources = streaming.sources.filter { numbers.contains($0.key) }
    let grid = try take(first, pads, &streaming)
    guard let frame = grid.next else { throw grid.isAtEnd ? FlowReturn.eos : FlowReturn.needData }
    for (number, pads) in sources.dropFirst() {
      try advance(number, pads, to: frame.runningTime, &streaming)
    }
    streaming.sources[first]?.advance()
    try compose(frame, sources.map(\.number), &streaming)
  }

  /// Has a source take its next frame, unless it has one.
  private func take(
    _ number: Int, _ pads: MixerPads, _ streaming: inout Streaming
  ) throws -> MixerSource {
    var source = streaming.sources[number] ?? MixerSource(makePairs())
    defer { streaming.sources[number] = source }
    try source.take(pads, streaming.caps, silent: pairing.silentPads)
    if let warning = source.warning() { postWarning(warning) }
    return source
  }

  /// Goes on to the last frame of a source that does not come behind a running time. Throws `.needData`
  /// where it is not known yet which one that is.
  private func advance(
    _ number: Int, _ pads: MixerPads, to time: Int64, _ streaming: inout Streaming
  ) throws {
    var source = try take(number, pads, &streaming)
    while let next = source.next {
      guard next.runningTime <= time else { return }
      streaming.sources[number]?.advance()
      source = try take(number, pads, &streaming)
    }
    guard source.isAtEnd || pads.all.contains(where: pairing.silentPads.contains) else {
      throw FlowReturn.needData
    }
  }

  private func compose(
    _ frame: MixerSource.Shown, _ numbers: [Int], _ streaming: inout Streaming
  ) throws {
    var eyes: [Int: RawEyes] = [:]
    for number in numbers {
      let shown = streaming.sources[number]?.shown(at: frame.runningTime)
      eyes[number] = shown?.eyes(streaming.tags[number] ?? TagList())
    }
    let sources = RawSources(
      eyes: eyes, streamTime: frame.segment.unclippedStreamTime(frame.time),
      duration: frame.duration)
    switch try calls.apply(sources) {
    case .unlocked: throw FlowReturn.needData
    case .skipped: return
    case .frame(let left, let right):
      try streaming.output.push(
        left: (left.buffer, left.info.caps(following: frame.caps, frame.left.info)),
        right: (right.buffer, right.info.caps(following: frame.caps, frame.left.info)),
        time: frame.time, in: frame.segment, isReconfigured: reconfiguration.take(),
        settings: packing, by: self)
    }
  }
}
