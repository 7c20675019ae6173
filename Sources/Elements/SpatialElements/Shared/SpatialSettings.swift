// SPDX-License-Identifier: MPL-2.0

import GStreamer
import StereoVideo

/// Spatial metadata set by properties; 0, `none` and nil mean unspecified.
struct SpatialSettings {
  var heroEye = EyeChoice.none
  /// In degrees.
  var horizontalFieldOfView = 0.0
  /// In millimetres.
  var baseline = 0.0
  /// In picture widths; nil until set, since 0 is a valid value.
  var disparityAdjustment: Double?
  var projection = ProjectionChoice.none
  /// In the text format of the tags.
  var bounds, pose, initialView: String?

  var metadata: SpatialMetadata {
    SpatialMetadata(
      heroEye: heroEye.eye,
      horizontalFieldOfView: HorizontalFieldOfView(degrees: horizontalFieldOfView),
      baseline: baseline > 0 ? Baseline(millimetres: baseline) : nil,
      disparityAdjustment: disparityAdjustment.flatMap {
        DisparityAdjustment(pictureWidths: $0)
      },
      projection: projection.projection)
  }
}

extension SpatialSettings {
  /// A warning about a number that is in another unit; nil if there is none.
  var unitWarning: ElementError? {
    guard baseline > 0, baseline < 1 else { return nil }
    return ElementError(
      .settings,
      "baseline=\(baseline) is less than a millimetre, its unit. Multiply a distance in metres by "
        + "1000: human eyes are 63.5 apart.")
  }

  /// The metadata set by properties, completed from `tags`. The tags' field of view applies only to
  /// their own projection.
  func metadata(after tags: SpatialMetadata) -> SpatialMetadata {
    var tags = tags
    if contradicts(tags) { tags.horizontalFieldOfView = nil }
    return metadata.fillingGaps(from: tags)
  }

  /// Whether the projection differs from that of the tags.
  func contradicts(_ tags: SpatialMetadata) -> Bool {
    projection.projection.map { $0 != tags.projection ?? .rectilinear } ?? false
  }

  /// The spherical metadata set by properties, completed from `tags`.
  ///
  /// - Throws: an ``ElementError`` for a property with an invalid value.
  func sphereTags(after tags: SphereTags = SphereTags()) throws -> SphereTags {
    var own = tags
    own.bounds = try Self.read("bounds", bounds, SphereBounds.init(text:)) ?? tags.bounds
    own.pose = try Self.read("pose", pose, SphereOrientation.init(text:)) ?? tags.pose
    own.initialView =
      try Self.read("initial-view", initialView, SphereOrientation.init(text:)) ?? tags.initialView
    return own
  }

  private static func read<Value>(
    _ name: String, _ text: String?, _ value: (String) -> Value?
  ) throws -> Value? {
    guard let text, !text.isEmpty else { return nil }
    guard let value = value(text) else {
      throw ElementError(.settings, "The property \(name) has the invalid value '\(text)'.")
    }
    return value
  }

  /// Properties for spherical metadata, for elements that write it.
  static func sphereProperties<Owner: HasSettings>(
    at path: WritableKeyPath<Owner.Settings, SpatialSettings>
  ) -> [Property<Owner>] {
    [
      .string(
        "bounds", nick: "Bounds",
        blurb: "Parts of the full equirectangular map missing at the top, bottom, left and right, "
          + "as comma-separated fractions (NULL = from tag spherical-bounds)",
        at: path.appending(path: \.bounds)),
      .string(
        "pose", nick: "Pose",
        blurb: "Rotation of the picture: yaw (counter-clockwise), pitch and roll, "
          + "comma-separated, in degrees (NULL = from tag spherical-pose)",
        at: path.appending(path: \.pose)),
      .string(
        "initial-view", nick: "Initial view",
        blurb: "Direction to look at first: yaw (to the right), pitch and roll, comma-separated, "
          + "in degrees (NULL = from tag spherical-initial-view)",
        at: path.appending(path: \.initialView)),
    ]
  }
}

/// Stream tags for spatial metadata: they are sticky, pass through encoders, parsers and queues,
/// and can be set by applications with GstTagSetter or `taginject`.
enum StereoTags {
  static let heroEye = "stereo-hero-eye"
  static let horizontalFieldOfView = "stereo-horizontal-field-of-view"
  static let baseline = "stereo-baseline"
  static let disparityAdjustment = "stereo-disparity-adjustment"
  static let projection = "stereo-projection"

  static let declarations = [
    TagDeclaration(
      heroEye, .string, nick: "stereo hero eye",
      blurb: "the eye to show if only one can be shown: left or right"),
    TagDeclaration(
      horizontalFieldOfView, .double, nick: "stereo horizontal field of view",
      blurb: "horizontal angle covered by one eye's picture, in degrees, above 0 and up to 360"),
    TagDeclaration(
      baseline, .double, nick: "stereo baseline",
      blurb: "distance between the centres of the two lenses, in millimetres"),
    TagDeclaration(
      disparityAdjustment, .double, nick: "stereo disparity adjustment",
      blurb: "horizontal shift of the two pictures against each other, in picture widths, -1 to 1"),
    TagDeclaration(
      projection, .string, nick: "stereo projection",
      blurb: "how the picture maps onto the viewer's surroundings: rectilinear, "
        + "equirectangular, half-equirectangular, fisheye, parametric, cubemap or "
        + "equi-angular-cubemap"),
  ]
}

extension SpatialMetadata {
  /// Reads the tags; values out of range are ignored.
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

  /// Adds the known values to a tag list.
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

/// The eye that a buffer shows: the custom meta `GstStereoViewMeta`. It has no tags, so encoders,
/// decoders and filters copy it.
enum StereoViewMeta {
  static let meta = CustomMeta("GstStereoViewMeta")

  /// Sets the meta on a buffer without other references.
  ///
  /// - Parameters:
  ///   - viewID: the ViewId of Annex F.
  ///   - layerID: nuh_layer_id.
  static func set(
    eye: Eye?, viewID: Int32?, layerID: Int32?, on buffer: borrowing some BufferAccess & ~Copyable
  ) {
    if let eye { meta.set("eye", eye == .left ? "left" : "right", on: buffer) }
    if let viewID { meta.set(["view-id": .int(viewID)], on: buffer) }
    if let layerID { meta.set(["layer-id": .int(layerID)], on: buffer) }
  }
}
