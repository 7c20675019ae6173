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
  padTemplates: SphericalView.padTemplates,
  properties: SphericalView.commonProperties + [
    .double(
      "field-of-view", nick: "Field of view", blurb: "What the view's width covers, in degrees",
      in: 10...150, default: 90, mutable: .playing, isControllable: true, at: \.fieldOfView),
    .bool(
      "navigation", nick: "Navigation",
      blurb: "Turn the view as mouse and keys in the window say", default: true,
      mutable: .playing, at: \.navigates),
  ])

/// The output's size never depends on where one looks, so that looking around renegotiates nothing.
final class SphericalView: SphereFilter {
  struct Settings: SphereFilterSettings {
    var sphere = SphereSettings()
    var fieldOfView = 90.0
    var navigates = true

    static let targetMoves = true

    var target: (name: SphereChoice, projection: Projection) {
      (.rectilinear, .rectilinear(horizontalFieldOfView: fieldOfView))
    }
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
      .sink(chain: SphericalView.receive, event: SphericalView.handle, query: SphericalView.answer))
    source = try Pad(
      instance, template: "src",
      PadFunctions<SphericalView>.source(
        query: SphericalView.answerDownstream, event: SphericalView.handleUpstream))
    for pad in [sink, source] { add(pad) }
  }

  /// A method of the class: one of the protocol would cost the pad an allocation a buffer.
  func receive(_ pad: Pad, _ buffer: Buffer, _ streaming: inout Streaming) throws {
    try drawAndPush(buffer, &streaming)
  }

  func sizeChanged(width: Int, height: Int) {
    navigation.withLock { $0.size = (width, height) }
  }

  /// Tells each new view to the application, so that sound can follow.
  func hasDrawn(_ settings: Settings) {
    let orientation = settings.sphere.orientation
    postMessage(
      "spherical-view",
      [
        "yaw": .double(orientation.yaw), "pitch": .double(orientation.pitch),
        "roll": .double(orientation.roll), "field-of-view": .double(settings.fieldOfView),
      ])
  }
}

/// Where a view looks, and how much of the surroundings it shows.
struct SphericalViewState: Equatable {
  var orientation: SphereOrientation
  var fieldOfView: Double
}
