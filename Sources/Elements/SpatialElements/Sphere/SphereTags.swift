// SPDX-License-Identifier: MPL-2.0

import GStreamer
import ISOBMFF
import StereoVideo

/// Spherical metadata in stream tags.
struct SphereTags: Equatable {
  /// Never ``SphereChoice/auto``.
  var projection: SphereChoice?
  /// Part of the sphere shown by an equirectangular picture.
  var bounds: SphereBounds?
  /// Rotation of the picture, with yaw counter-clockwise (`prhd` of Spherical Video V2).
  var pose: SphereOrientation?
  /// Direction that a viewer should look at first, with yaw to the right (Spherical Video V1).
  var initialView: SphereOrientation?
  /// Angle covered by a fisheye picture's circle, in degrees, 1 to 360.
  var fisheyeFieldOfView: Double?
  /// Lens calibration of a parametric picture (`lnsc`).
  var lenses: LensCollection?

  private static let boundsTag = "spherical-bounds"
  private static let poseTag = "spherical-pose"
  private static let initialViewTag = "spherical-initial-view"
  private static let fisheyeFieldOfViewTag = "spherical-fisheye-field-of-view"
  private static let lensesTag = "lens-calibration"
  /// Maximum size in bytes of a lens calibration: each lens takes about two hundred.
  private static let largestLenses = 64 << 10

  static let declarations = [
    TagDeclaration(
      boundsTag, .string, nick: "spherical bounds",
      blurb: "missing parts of the full equirectangular map at the top, bottom, left and right, as "
        + "comma-separated fractions from 0 to 1"),
    TagDeclaration(
      poseTag, .string, nick: "spherical pose",
      blurb: "rotation of the picture: yaw (counter-clockwise), pitch and roll, comma-separated, "
        + "in degrees"),
    TagDeclaration(
      initialViewTag, .string, nick: "spherical initial view",
      blurb: "direction to look at first: yaw (to the right), pitch and roll, comma-separated, in "
        + "degrees"),
    TagDeclaration(
      fisheyeFieldOfViewTag, .double, nick: "spherical fisheye field of view",
      blurb: "angle covered by the circle of a fisheye picture, in degrees, 1 to 360"),
    TagDeclaration(
      lensesTag, .sample, nick: "lens calibration",
      blurb: "lenses of a parametric picture: payload of the box lnsc of Apple's projected media"),
  ]

  init() {}

  /// Reads `tags`, keeping earlier values for anything they lack. Values out of range are ignored.
  init(_ tags: TagList, after earlier: SphereTags = SphereTags()) {
    self = earlier
    if let name = tags.string(StereoTags.projection) {
      let choice = SphereChoice.allCases.first { $0 != .auto && $0.names.nick == name }
      projection = choice ?? projection
    }
    bounds = tags.string(Self.boundsTag).flatMap(SphereBounds.init(text:)) ?? bounds
    pose = tags.string(Self.poseTag).flatMap(SphereOrientation.init(text:)) ?? pose
    initialView =
      tags.string(Self.initialViewTag).flatMap(SphereOrientation.init(text:)) ?? initialView
    if let degrees = tags.double(Self.fisheyeFieldOfViewTag), (1...360).contains(degrees) {
      fisheyeFieldOfView = degrees
    }
    lenses = Self.lenses(tags) ?? lenses
  }

  private static func lenses(_ tags: TagList) -> LensCollection? {
    guard let payload = tags.samples(lensesTag).first?.content, payload.size <= largestLenses else {
      return nil
    }
    return try? LensCollection(payload: payload.bytes)
  }

  /// Converts a movie's immersive metadata. A part of the sphere has no named projection and is
  /// described by its bounds.
  ///
  /// - Parameter lenses: lens calibration of a parametric picture.
  init(_ immersive: ImmersiveMetadata, lenses: LensCollection? = nil) {
    if immersive.pose != .front { pose = immersive.pose }
    if immersive.initialView != .front { initialView = immersive.initialView }
    switch immersive.projection {
    case .known(.equirectangular(let found)):
      switch immersive.projection.kind {
      case .equirectangular: projection = .equirectangular
      case .halfEquirectangular: projection = .halfEquirectangular
      default: bounds = found
      }
    case .known(.cubemap(.sphericalVideo, padding: 0)): projection = .cubemap
    case .known(.parametric):
      projection = .parametric
      if let lenses, lenses.payload.count <= Self.largestLenses { self.lenses = lenses }
    default: break
    }
  }

  func write(to tags: TagList) {
    if let projection { tags.set(StereoTags.projection, .string(projection.names.nick)) }
    if let bounds { tags.set(Self.boundsTag, .string(bounds.text)) }
    if let pose { tags.set(Self.poseTag, .string(pose.text)) }
    if let initialView { tags.set(Self.initialViewTag, .string(initialView.text)) }
    if let fisheyeFieldOfView { tags.set(Self.fisheyeFieldOfViewTag, .double(fisheyeFieldOfView)) }
    if let lenses { tags.append(Self.lensesTag, Buffer(lenses.payload), name: "lnsc", []) }
  }

  /// Converts the tags to immersive metadata; nil if they describe none.
  ///
  /// - Parameter kind: the projection set by properties or tags.
  func immersiveMetadata(_ kind: ProjectionKind?) -> ImmersiveMetadata? {
    let found: ImmersiveProjection
    switch kind {
    case .equirectangular: found = .known(.equirectangular(bounds ?? .full))
    case .halfEquirectangular: found = .known(.equirectangular(bounds ?? .frontHalf))
    case .fisheye:
      found =
        fisheyeFieldOfView.map { .known(.fisheye(FisheyeLens(fieldOfView: $0))) }
        ?? .appleImmersiveVideo
    case .parametric: found = .parametric
    case .rectilinear: return nil
    case nil:
      let projection = projection?.projection(fisheyeFieldOfView: 180)
      guard let known = bounds.map({ .equirectangular($0) }) ?? projection else { return nil }
      found = .known(known)
    }
    return ImmersiveMetadata(found, pose: pose ?? .front, initialView: initialView ?? .front)
  }

  /// Returns a stream's tags, changed to describe an upright picture in another projection.
  ///
  /// - Parameter name: the name of that projection.
  static func rewritten(_ tags: TagList, _ name: SphereChoice, _ projection: Projection) -> TagList
  {
    let own = TagList()
    own.set(StereoTags.projection, .string(name.names.nick))
    let degrees =
      if case .cubemap = projection { 360.0 } else { projection.horizontalDegrees }
    own.set(StereoTags.horizontalFieldOfView, .double(degrees))
    if case .fisheye(let lens) = projection {
      own.set(fisheyeFieldOfViewTag, .double(lens.fieldOfView))
    }
    return tags.removing([boundsTag, poseTag, initialViewTag, fisheyeFieldOfViewTag, lensesTag])
      .merging(own)
  }
}
