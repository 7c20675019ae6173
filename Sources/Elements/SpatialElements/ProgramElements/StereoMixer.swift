// SPDX-License-Identifier: MPL-2.0

import GStreamer
import StereoVideo

/// Has a function of the application make each frame from the frames that several sources show at
/// the same time.
///
/// Each source has request pads: `left_%u` and `right_%u` with the same number, or `mono_%u` for
/// one picture for both eyes. The source with the lowest number sets the output times; each other
/// source shows its latest frame at that time, as in a `StereoComposition`.
final class StereoMixer: EyePairing {
  struct Settings: HasPairingSettings {
    var pairing = PairingSettings()
  }

  struct Streaming {
    /// By source number, like the members below.
    var sources: [Int: MixerSource] = [:]
    var tags: [Int: TagList] = [:]
    /// By pad name.
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
      throw ElementError(.failedStream, "No function is registered for \(instance.typeName).")
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

  /// A number may be used for both eyes, or for one picture for both.
  func padName(template: String, requested: String?) throws -> String {
    let taken = sinkPads.map(\.name)
    let name = try PadTemplate.name(for: template, requested: requested, taken: Set(taken))
    guard let pad = MixerPads.parse(name),
      !taken.compactMap(MixerPads.parse).contains(where: {
        $0.number == pad.number && ($0.kind == .mono || pad.kind == .mono)
      })
    else {
      throw ElementError(.pad, "Pad \(name) cannot be added: its number is used by another source.")
    }
    return name
  }

  // MARK: Events and queries

  func sinkQuery(_ pad: AggregatorPad, _ query: borrowing Query) -> Bool {
    let all = FramePacker.caps(packing.mode)
    return query.answerAsReader(of: all, possible: all, keeping: EyePairer.waitingCount)
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
    try skipSilentPads(timeout: timeout)
    let sources = try MixerPads.sources(sinkPads)
    guard let (first, pads) = sources.first else { throw FlowReturn.eos }
    // The frames of a released pad do not belong to a new pad of the same name.
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

  /// Takes the source's next frame, unless it already has one.
  private func take(
    _ number: Int, _ pads: MixerPads, _ streaming: inout Streaming
  ) throws -> MixerSource {
    var source = streaming.sources[number] ?? MixerSource(makePairs())
    defer { streaming.sources[number] = source }
    try source.take(pads, streaming.caps, silent: pairing.silentPads)
    if let warning = source.warning() { postWarning(warning) }
    return source
  }

  /// Advances a source to its last frame at or before a running time. Throws `.needData` if that
  /// frame cannot be determined yet.
  private func advance(
    _ number: Int, _ pads: MixerPads, to time: RunningTime, _ streaming: inout Streaming
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
