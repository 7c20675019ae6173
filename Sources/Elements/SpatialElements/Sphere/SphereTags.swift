// SPDX-License-Identifier: MPL-2.0

import GStreamer
import ISOBMFF
import StereoVideo

/// What stream tags say of how pictures surround the viewer.
struct SphereTags: Equatable {
  /// Never ``SphereChoice/auto``.
  var projection: SphereChoice?
  /// The part of the sphere that an equirectangular picture shows.
  var bounds: SphereBounds?
  /// How the picture is turned: yaw counts counter-clockwise (`prhd` of Spherical Video V2).
  var pose: SphereOrientation?
  /// Where a viewer is to look first: yaw counts to the right (Spherical Video V1).
  var initialView: SphereOrientation?
  /// In degrees, 1 to 360.
  var fisheyeFieldOfView: Double?
  /// What a parametric picture was shot with (`lnsc`).
  var lenses: LensCollection?

  static let boundsTag = "spherical-bounds"
  static let poseTag = "spherical-pose"
  static let initialViewTag = "spherical-initial-view"
  static let fisheyeFieldOfViewTag = "spherical-fisheye-field-of-view"
  static let lensesTag = "lens-calibration"
  /// More than this is no box of lenses, in bytes: each takes some two hundred.
  private static let largestLenses = 64 << 10

  static let declarations = [
    TagDeclaration(
      boundsTag, .string, nick: "spherical bounds",
      blurb: "what an equirectangular picture lacks of the whole map at the top, the bottom, the "
        + "left and the right, as parts from 0 to 1 with commas between"),
    TagDeclaration(
      poseTag, .string, nick: "spherical pose",
      blurb: "how the picture is turned: yaw (counter-clockwise), pitch and roll in degrees with "
        + "commas between"),
    TagDeclaration(
      initialViewTag, .string, nick: "spherical initial view",
      blurb: "where a viewer is to look first: yaw (to the right), pitch and roll in degrees with "
        + "commas between"),
    TagDeclaration(
      fisheyeFieldOfViewTag, .double, nick: "spherical fisheye field of view",
      blurb: "what the circle of a fisheye picture covers, in degrees, 1 to 360"),
    TagDeclaration(
      lensesTag, .sample, nick: "lens calibration",
      blurb: "the lenses of a parametric picture: what is in a box lnsc of Apple's projected media"),
  ]

  init() {}

  /// What `tags` say; all else as `earlier` ones said. Values out of range count as not said.
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

  /// What a movie says of a picture that surrounds the viewer. A part of the sphere has no kind with
  /// a name: its bounds say what it is.
  ///
  /// - Parameter lenses: what a parametric picture was shot with.
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

  /// How the picture surrounds the viewer; nil where nothing says that it does.
  ///
  /// - Parameter kind: what properties or tags call the projection.
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

  /// The stream's tags with what is true of a picture of another projection, seen upright.
  ///
  /// - Parameter name: what the projection is called.
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
