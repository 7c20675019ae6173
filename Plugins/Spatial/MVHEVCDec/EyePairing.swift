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
  /// Set before the element starts.
  let view = Locked(ViewChoice.both)
  private let sink: Pad
  private let left: Pad
  private let right: Pad
  private let combiner = FlowCombiner()

  // What follows is used by the sink pad's thread alone.

  private var waiting = PairQueue<Buffer>()

  required init(_ instance: ElementInstance) throws {
    sink = try Pad(
      instance, template: "sink",
      functions: PadFunctions<EyePairing>(chain: EyePairing.receive, event: EyePairing.handle))
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

  override func start() throws { forget() }
  override func stop() { forget() }

  private func forget() {
    waiting = PairQueue()
    combiner.reset()
  }

  // MARK: Events

  private func handle(_ pad: Pad, _ event: Event) throws -> Bool {
    switch event.type {
    case GST_EVENT_STREAM_START:
      for (eye, pad) in [(Eye.left, left), (.right, right)] {
        let start = Event.streamStart(id: pad.streamID(self, suffix: eye.rawValue))
        pad.push(start.takingGroup(of: event).following(event))
      }
      return true
    case GST_EVENT_CAPS:
      guard let caps = event.caps else { return false }
      for (eye, pad) in [(Eye.left, left), (.right, right)] {
        let eyeCaps = caps.with(["multiview-mode": .string(eye.rawValue)], removing: ["views"])
        pad.push(Event.caps(eyeCaps).following(event))
      }
      return true
    case GST_EVENT_EOS:
      try push(waiting.drain())
      return pad.forward(event)
    case GST_EVENT_FLUSH_STOP:
      waiting = PairQueue()
      combiner.reset()
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

  // MARK: Pictures

  private func receive(_ pad: Pad, _ buffer: Buffer) throws {
    guard let meta = AccessUnitMeta(buffer) else {
      throw ElementError(
        .decode,
        "The decoder does not carry metas from coded buffers to pictures, "
          + "so the eyes cannot be told apart.")
    }
    let picture = buffer.writable()
    picture.pts = meta.pts ?? buffer.pts
    picture.duration = meta.duration ?? buffer.duration
    picture.dts = nil
    guard meta.isPaired else { return try push([(meta.eye, picture)]) }
    try push(
      waiting.add(
        picture, accessUnit: meta.number, eye: meta.eye, time: meta.pts ?? meta.number))
  }

  private func push(_ pictures: [(eye: Eye, content: Buffer)]) throws {
    for (eye, picture) in pictures {
      let pad = eye == .left ? left : right
      try combiner.update(pad, pad.push(picture)).check()
    }
  }
}
