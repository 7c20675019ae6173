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
