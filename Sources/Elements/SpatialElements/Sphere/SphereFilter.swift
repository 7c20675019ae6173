// SPDX-License-Identifier: MPL-2.0

import GStreamer
import Reprojection
import StereoVideo

/// An element with one sink and one source that draws each frame anew, of another projection: what
/// its pads do is in extensions. Caps depend on the projection of the input, so that they wait for
/// tags; those behind the element say what is true there.
protocol SphereFilter: ElementImplementation
where Streaming == SphereStreaming, Settings: SphereFilterSettings {
  var sink: Pad { get }
  var source: Pad { get }

  /// Called with the stream time of each frame, before it is drawn.
  func follow(_ time: UInt64)

  /// Called when the size of one eye's output is known.
  func sizeChanged(width: Int, height: Int)

  /// Called when a frame has been drawn otherwise than the last one.
  func hasDrawn(_ settings: Settings)
}

protocol SphereFilterSettings: Sendable {
  var sphere: SphereSettings { get set }
  /// What is drawn, and what tags call it.
  var target: (name: SphereChoice, projection: Projection) { get }
  /// How far each eye's output is turned towards the other's, in degrees.
  var convergence: Double { get }
  /// Whether the target may become another one of the same kind between two frames.
  static var targetMoves: Bool { get }
}

extension SphereFilterSettings {
  var convergence: Double { 0 }
}

/// What the streaming thread knows.
struct SphereStreaming {
  var segment = Segment()
  /// The first SEGMENT, which has to wait for the first caps.
  var waitingSegment: Event?
  /// nil until the first caps.
  var input: SphereInput?
  /// nil until the first frame behind caps, tags or a reconfiguration.
  var output: SphereOutput?
  /// What the stream's tags say.
  var tags = SphereTags()
  /// Whether the stream had tags, with which those of the output went on.
  var hasSentTags = false
  /// How the last frame was drawn.
  var drawn: SphereLook?
}

/// Where the middle of a picture looks, and what it shows around it.
struct SphereLook: Equatable {
  var orientation: SphereOrientation
  var target: Projection
}

/// What is drawn, and how.
struct SphereOutput {
  let info: VideoInfo
  let pool: VideoBufferPool
  /// One for both eyes, or for each one where their lenses differ.
  var drawings: [SphereDrawing]
  /// How the drawn eyes share a frame; nil for one.
  let layout: PackingLayout?
  var target: PictureGeometry
  /// What is drawn where the input shows nothing; nil until the first frame.
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

/// Eyes that are drawn alike.
struct SphereDrawing {
  let reprojector: Reprojector
  /// How their output is turned, beside how the view is.
  let turn: Rotation
  /// Nil for the one of a frame that has one.
  let eyes: [Eye?]
  /// The planes of the last frame; kept for their memory.
  var pictures: [Reprojector.Picture]

  /// - Parameter convergence: how far each eye's output is turned towards the other's, in degrees.
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

  func follow(_ time: UInt64) { followControlSources(at: time) }

  func sizeChanged(width: Int, height: Int) {}

  func hasDrawn(_ settings: Settings) {}

  static var padTemplates: [PadTemplate] {
    [
      PadTemplate("sink", .sink, caps: SphereFormat.caps),
      PadTemplate("src", .source, caps: SphereFormat.caps),
    ]
  }
}
