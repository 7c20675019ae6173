// SPDX-License-Identifier: MPL-2.0

import GStreamer
import StereoVideo

/// What properties say of how a pair was shot; 0, `none` and nil stand for not said.
struct SpatialSettings {
  var heroEye = EyeChoice.none
  /// In degrees.
  var horizontalFieldOfView = 0.0
  /// In millimetres.
  var baseline = 0.0
  /// In picture widths; nil until it is set, since 0 says something.
  var disparityAdjustment: Double?
  var projection = ProjectionChoice.none
  /// As tags say them.
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
  /// What is said of how the pair was shot; all else as `tags` say. What these say of the field of
  /// view holds for their own projection.
  func metadata(after tags: SpatialMetadata) -> SpatialMetadata {
    var tags = tags
    if contradicts(tags) { tags.horizontalFieldOfView = nil }
    return metadata.fillingGaps(from: tags)
  }

  /// Whether the projection is another one than that of tags.
  func contradicts(_ tags: SpatialMetadata) -> Bool {
    projection.projection.map { $0 != tags.projection ?? .rectilinear } ?? false
  }

  /// What is said of how the pictures surround the viewer; all else as `tags` say.
  ///
  /// - Throws: an ``ElementError`` for a property that says nothing that can be.
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
      throw ElementError(.settings, "The property \(name) is '\(text)', which cannot be.")
    }
    return value
  }

  /// How pictures surround the viewer, for elements that write it down.
  static func sphereProperties<Owner: HasSettings>(
    at path: WritableKeyPath<Owner.Settings, SpatialSettings>
  ) -> [Property<Owner>] {
    [
      .string(
        "bounds", nick: "Bounds",
        blurb: "What an equirectangular picture lacks of the whole map at the top, the bottom, the "
          + "left and the right, as parts with commas between (NULL = by tag spherical-bounds)",
        at: path.appending(path: \.bounds)),
      .string(
        "pose", nick: "Pose",
        blurb: "How the picture is turned: yaw (counter-clockwise), pitch and roll in degrees with "
          + "commas between (NULL = by tag spherical-pose)",
        at: path.appending(path: \.pose)),
      .string(
        "initial-view", nick: "Initial view",
        blurb: "Where a viewer is to look first: yaw (to the right), pitch and roll in degrees "
          + "with commas between (NULL = by tag spherical-initial-view)",
        at: path.appending(path: \.initialView)),
    ]
  }
}

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

/// Which eye a buffer shows: the custom meta `GstStereoViewMeta`. It has no tags, so that encoders,
/// decoders and filters carry it along.
enum StereoViewMeta {
  static let meta = CustomMeta("GstStereoViewMeta")

  /// Describes a buffer that nobody else holds.
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
