// SPDX-License-Identifier: MPL-2.0

import GStreamer
import Reprojection
import StereoVideo

/// An element with one sink pad and one source pad that redraws each frame in another projection.
/// Extensions implement the pads. The output caps depend on the input's projection, so they wait
/// for tags; the output tags describe the output.
protocol SphereFilter: ElementImplementation
where Streaming == SphereStreaming, Settings: SphereFilterSettings {
  var sink: Pad { get }
  var source: Pad { get }

  /// Called with the stream time of each frame, before it is drawn.
  func follow(_ time: ClockTime)

  /// Called when the size of one eye's output has been negotiated.
  func didNegotiateSize(width: Int, height: Int)

  /// Called when a frame has been drawn with another orientation or field of view than the previous
  /// one.
  func didDraw(_ settings: Settings)
}

protocol SphereFilterSettings: Sendable {
  var sphere: SphereSettings { get set }
  /// The output's projection, and its name in tags.
  var target: (name: SphereChoice, projection: Projection) { get }
  /// Angle by which each eye's output is turned towards the other's, in degrees.
  var convergence: Double { get }
  /// Whether the target's parameters, but not its kind, may change from frame to frame.
  static var targetMoves: Bool { get }
}

extension SphereFilterSettings {
  var convergence: Double { 0 }
}

/// State of the streaming thread.
struct SphereStreaming {
  var segment = Segment()
  /// The first SEGMENT event, held until the first caps.
  var waitingSegment: Event?
  /// Nil until the first caps.
  var input: SphereInput?
  /// Nil until the next frame after new caps, new tags or a renegotiation.
  var output: SphereOutput?
  /// Spherical metadata from the stream's tags.
  var tags = SphereTags()
  /// Whether the stream's tags have been forwarded with the output's own merged in.
  var hasSentTags = false
  /// View of the last frame drawn; nil before the first.
  var drawn: RenderedView?
}

/// Viewing direction of a picture's centre, and its projection.
struct RenderedView: Equatable {
  var orientation: SphereOrientation
  var target: Projection
}

/// Output format and the means to draw it.
struct SphereOutput {
  let info: VideoInfo
  let pool: VideoBufferPool
  /// One for both eyes, or one for each eye if they differ in lens or convergence.
  var drawings: [SphereDrawing]
  /// Packing of the eyes in the output frame; nil for one eye.
  let layout: PackingLayout?
  var target: PictureGeometry
  /// Colour where the input shows nothing; nil until the first frame.
  private var fillColour: UInt32?

  init(
    info: VideoInfo, drawings: [SphereDrawing], layout: PackingLayout?, target: PictureGeometry
  ) throws {
    pool = try VideoBufferPool(info)
    (self.info, self.drawings, self.layout, self.target) = (info, drawings, layout, target)
  }

  mutating func fill(with colour: UInt32) {
    guard colour != fillColour else { return }
    fillColour = colour
    let samples = info.samples(ofColour: colour)
    for drawing in drawings { drawing.reprojector.fill(with: samples) }
  }
}

/// Eyes drawn with the same reprojection.
struct SphereDrawing {
  let reprojector: Reprojector
  /// Rotation for convergence, applied in addition to the view's.
  let turn: Rotation
  /// A nil element stands for the only eye of an unpacked frame.
  let eyes: [Eye?]
  /// Planes of the last frame; kept to reuse the arrays.
  var pictures: [Reprojector.Picture]

  /// - Parameter convergence: angle by which each eye's output is turned towards the other's, in
  ///   degrees.
  init(_ reprojector: Reprojector, _ eyes: [Eye?], convergence: Double) {
    (self.reprojector, self.eyes) = (reprojector, eyes)
    let sign =
      switch eyes.first {
      case .left: 1.0
      case .right: -1.0
      default: 0.0
      }
    turn = Rotation(view: SphereOrientation(yaw: sign * convergence))
    pictures = eyes.map { _ in Reprojector.Picture(source: [], target: []) }
  }
}

extension SphereFilter {
  func start() throws -> SphereStreaming { SphereStreaming() }

  func follow(_ time: ClockTime) { followControlSources(at: time) }

  func didNegotiateSize(width: Int, height: Int) {}

  func didDraw(_ settings: Settings) {}

  static var padTemplates: [PadTemplate] {
    [
      PadTemplate("sink", .sink, caps: SphereFormat.caps),
      PadTemplate("src", .source, caps: SphereFormat.caps),
    ]
  }
}

extension SphereFilter {
  func handle(_ pad: Pad, _ event: Event, _ streaming: inout SphereStreaming) throws -> Bool {
    switch event.kind {
    case .streamStart:
      // A new stream starts without tags.
      (streaming.tags, streaming.hasSentTags) = (SphereTags(), false)
      return pad.forward(event)
    case .caps(let caps):
      let input = try SphereInput(caps)
      (streaming.input, streaming.output) = (input, nil)
      // Tags, which come later, may provide what the caps lack.
      if (try? settings.current.sphere.source(streaming.tags, input, nil)) != nil {
        try negotiate(&streaming, following: event)
      }
      return true
    case .segment(let segment):
      streaming.segment = segment
      guard source.currentCaps != nil else {
        streaming.waitingSegment = event
        return true
      }
      return pad.forward(event)
    case .gap, .endOfStream:
      if streaming.waitingSegment != nil {
        try? negotiate(&streaming, following: event)
        sendWaitingSegment(&streaming)
      }
      return pad.forward(event)
    case .flushStop:
      streaming.waitingSegment = nil
      return pad.forward(event)
    case .tags(let tags) where !tags.isGlobal:
      let said = SphereTags(tags, after: streaming.tags)
      if said != streaming.tags {
        streaming.tags = said
        streaming.output = nil
      }
      streaming.hasSentTags = true
      return pad.forward(.tags(rewritten(tags)).following(event))
    default:
      return pad.forward(event)
    }
  }

  /// Draws a received buffer in the output projection and pushes it.
  func drawAndPush(_ buffer: Buffer, _ streaming: inout SphereStreaming) throws {
    guard let input = streaming.input else {
      throw ElementError(.negotiation, "Data came before its caps.")
    }
    if source.checkReconfigure() || streaming.output == nil {
      try negotiate(&streaming, following: nil)
    }
    if let pts = buffer.pts, let time = streaming.segment.streamTime(pts) {
      follow(time)
    }
    // One snapshot of the settings for the whole frame and both eyes.
    let settings = settings.current
    guard var output = streaming.output.take() else { throw FlowReturn.notNegotiated }
    defer { streaming.output = output }
    if Settings.targetMoves {
      let target = settings.target.projection
      if output.target.projection != target {
        output.target = try PictureGeometry(
          target, width: output.target.width, height: output.target.height)
      }
    }
    output.fill(with: settings.sphere.fillColour)
    let look = RenderedView(
      orientation: settings.sphere.orientation, target: output.target.projection)
    let drawn = try draw(buffer, input, &output, look.orientation)
    if streaming.drawn != look {
      streaming.drawn = look
      didDraw(settings)
    }
    try source.push(drawn).check()
  }

  private func draw(
    _ buffer: Buffer, _ input: SphereInput, _ output: inout SphereOutput,
    _ orientation: SphereOrientation
  ) throws -> UniqueBuffer {
    let drawn = try output.pool.acquire()
    let memory = try input.info.contiguous(buffer, input.info.layout(of: buffer))
    do {
      let from = try VideoFrame(memory, input.info)
      let into = try VideoFrame(drawn, output.info, writing: true)
      for drawing in output.drawings.indices {
        for (index, eye) in output.drawings[drawing].eyes.enumerated() {
          try from.locate(
            &output.drawings[drawing].pictures[index].source, input.format, width: input.width,
            height: input.height, place: Self.place(of: eye, input.layout),
            input.layout?.arrangement)
          try into.locate(
            &output.drawings[drawing].pictures[index].target, input.format,
            width: output.target.width, height: output.target.height,
            place: Self.place(of: eye, output.layout), output.layout?.arrangement)
        }
        try output.drawings[drawing].reprojector.draw(
          output.target, Rotation(view: orientation) * output.drawings[drawing].turn,
          output.drawings[drawing].pictures)
      }
    }
    drawn.copyHeader(from: buffer, metas: true)
    drawn.removeMetasOfSize()
    return drawn
  }

  private static func place(of eye: Eye?, _ layout: PackingLayout?) -> Int {
    guard let eye, let layout else { return 0 }
    return (eye == .right) == layout.rightViewFirst ? 0 : 1
  }
}

extension SphereFilter {
  /// Negotiates the output caps and prepares for drawing.
  func negotiate(_ streaming: inout SphereStreaming, following cause: Event?) throws {
    guard let input = streaming.input else { throw FlowReturn.notNegotiated }
    let settings = settings.current
    let eyes: [Eye?] =
      input.layout == nil
      ? [input.eye] : settings.sphere.outputEyes.eye.map { [$0] } ?? Eye.allCases
    let origins = try eyes.map { try settings.sphere.source(streaming.tags, input, $0) }
    let target = settings.target.projection
    let (caps, layout) = try outputCaps(
      input, settings.sphere.outputEyes, from: origins[0], to: target)
    guard let info = VideoInfo(caps) else { throw FlowReturn.notNegotiated }
    let width = layout?.arrangement == .sideBySide ? info.width / 2 : info.width
    let height = layout?.arrangement == .topBottom ? info.height / 2 : info.height
    do {
      let areAlike = settings.convergence == 0 && origins.allSatisfy { $0 == origins[0] }
      let groups = areAlike ? [eyes] : eyes.map { [$0] }
      streaming.output = try SphereOutput(
        info: info,
        drawings: try zip(groups, origins).map { eyes, origin in
          SphereDrawing(
            try settings.sphere.reprojector(origin, input, streaming.tags), eyes,
            convergence: settings.convergence)
        },
        layout: layout, target: try PictureGeometry(target, width: width, height: height))
    } catch let error as GeometryError {
      throw ElementError(.format, "The picture cannot be reprojected: \(error).")
    } catch let error as ReprojectionError {
      throw ElementError(.format, "The picture cannot be reprojected: \(error).")
    }
    didNegotiateSize(width: width, height: height)
    if source.currentCaps?.isEqual(to: caps) != true {
      let event = Event.caps(caps)
      source.push(cause.map { event.following($0) } ?? event)
    }
    sendWaitingSegment(&streaming)
    if !streaming.hasSentTags {
      streaming.hasSentTags = true
      source.push(.tags(rewritten(TagList())))
    }
  }

  /// Pushes the held SEGMENT event.
  private func sendWaitingSegment(_ streaming: inout SphereStreaming) {
    guard let event = streaming.waitingSegment.take() else { return }
    source.push(event)
  }

  /// Returns the stream's tags, changed to describe the output.
  func rewritten(_ tags: TagList) -> TagList {
    let target = settings.current.target
    return SphereTags.rewritten(tags, target.name, target.projection)
  }

  /// Returns the output caps: with the size that downstream asks for, else with the input's number
  /// of pixels per degree.
  private func outputCaps(
    _ input: SphereInput, _ eyes: OutputEyes, from origin: Projection, to target: Projection
  ) throws -> (Caps, PackingLayout?) {
    var layout = input.layout
    layout?.halfAspect = false
    if eyes != .both { layout = nil }
    let perDegree = Double(input.width) / origin.horizontalDegrees
    let width = min(16384, max(16, target.width(pixelsPerDegree: perDegree)))
    let across: Int32 = layout?.arrangement == .sideBySide ? 2 : 1
    let down: Int32 = layout?.arrangement == .topBottom ? 2 : 1
    var caps = input.caps.with(
      ["pixel-aspect-ratio": .fraction(Fraction(1, 1))], removing: sphereFieldsOfSize)
    if let layout {
      caps = layout.adding(to: caps)
    } else if input.layout != nil {
      caps = caps.with(["multiview-mode": .string(eyes == .right ? "right" : "left")])
    } else if let mode = input.caps.first?.string("multiview-mode") {
      caps = caps.with(["multiview-mode": .string(mode)])
    }
    let any: Value = .intRange(1...32768)
    caps = caps.with(["width": any, "height": any])
    let allowed = source.isLinked ? caps.intersection(source.peerCaps(filter: nil)) : caps
    guard !allowed.isEmpty else { throw FlowReturn.notNegotiated }
    let columns = (Int32(width) + 1) / 2 * 2 * across
    let fixedWidth = allowed.fixating("width", .int(columns))
    let eyeWidth = Int32(clamping: fixedWidth.first?.int("width") ?? 16) / across
    let eyeHeight = min(16384, max(2, target.height(width: Double(eyeWidth))))
    let rows = (Int32(eyeHeight) + 1) / 2 * 2 * down
    let fixed = fixedWidth.fixating("height", .int(rows)).fixated()
    guard let size = fixed.first, let w = size.int("width"), let h = size.int("height"),
      across == 1 || w.isMultiple(of: 4), down == 1 || h.isMultiple(of: 4)
    else {
      throw ElementError(
        .format, "The output frame holds two eyes, so its size has to be a multiple of 4.",
        debug: "\(fixed)")
    }
    return (fixed, layout)
  }

  // MARK: Queries

  func answer(_ pad: Pad, _ query: borrowing Query) -> Bool {
    let all = pad.templateCaps
    return query.answerAsReader(
      of: all, possible: unsized(source.peerCaps(filter: nil)).intersection(all))
      || pad.forward(query)
  }

  func answerDownstream(_ pad: Pad, _ query: borrowing Query) -> Bool {
    switch query.kind {
    case .caps:
      query.answerCaps(unsized(sink.peerCaps(filter: nil)).intersection(pad.templateCaps))
      return true
    case .acceptCaps(let caps):
      query.answerAcceptCaps(caps.isSubset(of: pad.templateCaps))
      return true
    default:
      return pad.forward(query)
    }
  }

  /// Caps of one side as a constraint on the other: any size and packing.
  private func unsized(_ caps: Caps) -> Caps {
    caps.isAny ? caps : caps.with(removing: sphereFieldsOfSize + ["pixel-aspect-ratio"])
  }
}

private let sphereFieldsOfSize = ["width", "height", "multiview-mode", "multiview-flags", "views"]
