// SPDX-License-Identifier: MPL-2.0

import GStreamer
import Reprojection
import StereoVideo

/// `sphericalconvert`: converts spherical pictures to another projection.
let sphericalConvert = ElementDeclaration<SphericalConvert>(
  name: "sphericalconvert",
  typeName: "GstSphericalConvert",
  longName: "Spherical converter",
  klass: "Filter/Converter/Video",
  description: "Converts 180 and 360 degree video, fisheye and cube maps to another projection, of "
    + "one eye or both, and turns it upright",
  author: author,
  padTemplates: SphericalConvert.padTemplates,
  properties: SphericalConvert.commonProperties + [
    .choice(
      "output-projection", nick: "Output projection",
      blurb: "How the output maps onto the viewer's surroundings", default: .equirectangular,
      at: \.outputProjection),
    .double(
      "output-fisheye-field-of-view", nick: "Output fisheye field of view",
      blurb: "Angle covered by the circle of a fisheye output, in degrees", in: 1...360,
      default: SphereProjection.fisheyeFieldOfView, at: \.outputFisheyeFieldOfView),
  ])

/// The output shows the same surroundings within the range of its projection; parts missing in the
/// input have the colour of `fill-color`.
final class SphericalConvert: SphereFilter {
  struct Settings: SphereFilterSettings {
    var sphere = SphereSettings()
    var outputProjection = SphereOutputChoice.equirectangular
    var outputFisheyeFieldOfView = SphereProjection.fisheyeFieldOfView

    static let targetMoves = false

    var target: (name: SphereChoice, projection: Projection) {
      let choice = outputProjection.choice
      let projection = choice.projection(fisheyeFieldOfView: outputFisheyeFieldOfView)
      return (choice, projection ?? .equirectangular(.full))
    }
  }

  let instance: ElementInstance
  let settings = Locked(Settings())
  let sink: Pad
  let source: Pad

  init(_ instance: ElementInstance) throws {
    self.instance = instance
    sink = try Pad(
      instance, template: "sink",
      .sink(
        chain: SphericalConvert.receive, event: SphericalConvert.handle,
        query: SphericalConvert.answer))
    source = try Pad(
      instance, template: "src",
      PadFunctions<SphericalConvert>.source(query: SphericalConvert.answerDownstream))
    for pad in [sink, source] { add(pad) }
  }

  /// Implemented in the class: a protocol extension's method would cost the pad an allocation per
  /// buffer.
  func receive(_ pad: Pad, _ buffer: Buffer, _ streaming: inout Streaming) throws {
    try drawAndPush(buffer, &streaming)
  }
}
