// SPDX-License-Identifier: MPL-2.0

import GStreamer
import StereoVideo

/// The stream tags in which the spatial metadata travels: they are sticky, pass encoders, parsers
/// and queues, and are set by applications through GstTagSetter or `taginject`.
enum StereoTags {
  static let heroEye = "stereo-hero-eye"
  static let horizontalFieldOfView = "stereo-horizontal-field-of-view"
  static let baseline = "stereo-baseline"
  static let disparityAdjustment = "stereo-disparity-adjustment"
  static let projection = "stereo-projection"

  static let declarations = [
    TagDeclaration(
      heroEye, .string, nick: "stereo hero eye",
      blurb: "the eye to show where only one can be shown: left or right"),
    TagDeclaration(
      horizontalFieldOfView, .double, nick: "stereo horizontal field of view",
      blurb: "what one eye's picture covers horizontally, in degrees, above 0 and up to 360"),
    TagDeclaration(
      baseline, .double, nick: "stereo baseline",
      blurb: "the distance between the two lenses' centres, in millimetres"),
    TagDeclaration(
      disparityAdjustment, .double, nick: "stereo disparity adjustment",
      blurb: "the shift of the two pictures against each other, in picture widths, -1 to 1"),
    TagDeclaration(
      projection, .string, nick: "stereo projection",
      blurb: "how the picture maps onto the viewer's surroundings: rectilinear, "
        + "equirectangular, half-equirectangular, fisheye, parametric, cubemap or "
        + "equi-angular-cubemap"),
  ]
}

extension SpatialMetadata {
  /// What the tags say; values out of range count as not said.
  init(_ tags: TagList) {
    self.init(
      heroEye: tags.string(StereoTags.heroEye).flatMap(Eye.init(rawValue:)),
      horizontalFieldOfView: tags.double(StereoTags.horizontalFieldOfView)
        .flatMap(HorizontalFieldOfView.init(degrees:)),
      baseline: tags.double(StereoTags.baseline).flatMap(Baseline.init(millimetres:)),
      disparityAdjustment: tags.double(StereoTags.disparityAdjustment)
        .flatMap(DisparityAdjustment.init(pictureWidths:)),
      projection: tags.string(StereoTags.projection).flatMap(ProjectionKind.init(rawValue:)))
  }

  /// Adds what is known to a tag list.
  func write(to tags: TagList) {
    if let heroEye { tags.set(StereoTags.heroEye, .string(heroEye.rawValue)) }
    if let horizontalFieldOfView {
      tags.set(StereoTags.horizontalFieldOfView, .double(horizontalFieldOfView.degrees))
    }
    if let baseline { tags.set(StereoTags.baseline, .double(baseline.millimetres)) }
    if let disparityAdjustment {
      tags.set(StereoTags.disparityAdjustment, .double(disparityAdjustment.pictureWidths))
    }
    if let projection { tags.set(StereoTags.projection, .string(projection.rawValue)) }
  }
}
