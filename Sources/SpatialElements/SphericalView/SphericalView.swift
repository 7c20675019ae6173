// SPDX-License-Identifier: MPL-2.0

import GStreamer
import Reprojection
import StereoVideo

/// `sphericalview`: a window into pictures that surround the viewer.
let sphericalView = ElementDeclaration<SphericalView>(
  name: "sphericalview",
  typeName: "GstSphericalView",
  longName: "Spherical view",
  klass: "Filter/Converter/Video",
  description: "Shows a flat part of 180 and 360 degrees video, fisheye and cube maps, of one eye "
    + "or both",
  author: author,
  padTemplates: [
    PadTemplate("sink", .sink, caps: SphereFormat.caps),
    PadTemplate("src", .source, caps: SphereFormat.caps),
  ],
  properties: [
    .double(
      "yaw", nick: "Yaw", blurb: "Where to look, in degrees to the right", in: -360_000...360_000,
      default: 0, mutable: .playing, isControllable: true, at: \.orientation.yaw),
    .double(
      "pitch", nick: "Pitch", blurb: "Where to look, in degrees upwards", in: -90...90, default: 0,
      mutable: .playing, isControllable: true, at: \.orientation.pitch),
    .double(
      "roll", nick: "Roll", blurb: "How the view is turned, in degrees clockwise",
      in: -360_000...360_000, default: 0, mutable: .playing, isControllable: true,
      at: \.orientation.roll),
    .double(
      "field-of-view", nick: "Field of view", blurb: "What the view's width covers, in degrees",
      in: 10...150, default: 90, mutable: .playing, isControllable: true, at: \.fieldOfView),
    .choice(
      "projection", nick: "Projection", blurb: "How the input maps onto the viewer's surroundings",
      default: .auto, at: \.projection),
    .double(
      "fisheye-field-of-view", nick: "Fisheye field of view",
      blurb: "What a fisheye picture's circle covers, in degrees", in: 1...360, default: 180,
      at: \.fisheyeFieldOfView),
    .choice(
      "output-eyes", nick: "Output eyes", blurb: "Which eyes of packed frames to show",
      default: .both, at: \.outputEyes),
    .choice(
      "interpolation", nick: "Interpolation", blurb: "How values between pixels are found",
      default: .linear, at: \.interpolation),
    .bool(
      "antialias", nick: "Antialias",
      blurb: "Average first where the view has fewer pixels than the input", default: true,
      at: \.antialias),
    .int(
      "n-threads", nick: "Threads", blurb: "How many threads draw (0 = as many as processors)",
      in: 0...64, default: 0, at: \.threads),
    .bool(
      "navigation", nick: "Navigation",
      blurb: "Turn the view as mouse and keys in the window say", default: true,
      mutable: .playing, at: \.navigates),
  ])

/// One sink, one source. The output's size never depends on where one looks, so that looking around
/// renegotiates nothing.
final class SphericalView: ElementImplementation {
  struct Settings {
    var orientation = SphereOrientation()
    var fieldOfView = 90.0
    var projection = SphereChoice.auto
    var fisheyeFieldOfView = 180.0
    var outputEyes = OutputEyes.both
    var interpolation = InterpolationChoice.linear
    var antialias = true
    var threads: Int32 = 0
    var navigates = true
  }

  struct Streaming {
    var segment = Segment()
    /// The first SEGMENT, which has to wait for the first caps.
    var waitingSegment: Event?
    /// nil until the first caps.
    var input: SphereInput?
    /// nil until the first frame behind caps, tags or a reconfiguration.
    var output: SphereOutput?
    /// What the stream's tags say of its projection.
    var tagged: ProjectionKind?
    /// The view that was last told to the application.
    var told: SphericalViewState?
  }

  let instance: ElementInstance
  let settings = Locked(Settings())
  /// The hand that holds the picture, and the width and height of one eye's view.
  let navigation = Locked(ViewNavigation())
  let sink: Pad
  let source: Pad

  init(_ instance: ElementInstance) throws {
    self.instance = instance
    sink = try Pad(
      instance, template: "sink",
      .sink(
        chain: SphericalView.receive, event: SphericalView.handle, query: SphericalView.answer))
    source = try Pad(
      instance, template: "src",
      PadFunctions<SphericalView>.source(
        query: SphericalView.answerDownstream, event: SphericalView.handleUpstream))
    for pad in [sink, source] { add(pad) }
  }

  func start() throws -> Streaming { Streaming() }
}

/// Where a view looks, and how much of the surroundings it shows.
struct SphericalViewState: Equatable {
  var orientation: SphereOrientation
  var fieldOfView: Double
}
