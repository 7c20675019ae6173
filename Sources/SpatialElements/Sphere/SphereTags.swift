// SPDX-License-Identifier: MPL-2.0

import GStreamer
import StereoVideo

/// What stream tags say of how pictures surround the viewer.
struct SphereTags: Equatable {
  /// Never ``SphereChoice/auto``.
  var projection: SphereChoice?
  /// Whether the projection is one of lenses, which no tag describes.
  var isParametric = false
  /// The part of the sphere that an equirectangular picture shows.
  var bounds: SphereBounds?
  /// How the picture is turned: yaw counts counter-clockwise (`prhd` of Spherical Video V2).
  var pose: SphereOrientation?
  /// In degrees, 1 to 360.
  var fisheyeFieldOfView: Double?

  static let boundsTag = "spherical-bounds"
  static let poseTag = "spherical-pose"
  static let fisheyeFieldOfViewTag = "spherical-fisheye-field-of-view"

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
      fisheyeFieldOfViewTag, .double, nick: "spherical fisheye field of view",
      blurb: "what the circle of a fisheye picture covers, in degrees, 1 to 360"),
  ]

  init() {}

  /// What `tags` say; all else as `earlier` ones said. Values out of range count as not said.
  init(_ tags: TagList, after earlier: SphereTags) {
    self = earlier
    if let name = tags.string(StereoTags.projection) {
      let choice = SphereChoice.allCases.first { $0 != .auto && $0.names.nick == name }
      let isLens = name == ProjectionKind.parametric.rawValue
      if choice != nil || isLens { (projection, isParametric) = (choice, isLens) }
    }
    if let parts = Self.numbers(tags.string(Self.boundsTag), 4) {
      bounds = SphereBounds(
        topPart: parts[0], bottomPart: parts[1], leftPart: parts[2], rightPart: parts[3])
    }
    if let angles = Self.numbers(tags.string(Self.poseTag), 3) {
      pose = SphereOrientation(yaw: angles[0], pitch: angles[1], roll: angles[2])
    }
    if let degrees = tags.double(Self.fisheyeFieldOfViewTag), (1...360).contains(degrees) {
      fisheyeFieldOfView = degrees
    }
  }

  /// What a movie says that other tags do not: nothing of a picture that is upright and of a kind
  /// with a name.
  init(_ immersive: ImmersiveMetadata) {
    if immersive.pose != .front { pose = immersive.pose }
    switch immersive.projection {
    case .known(.equirectangular(let found))
    where !found.isNear(.full) && !found.isNear(.frontHalf):
      bounds = found
    case .known(.cubemap(.sphericalVideo, padding: 0)): projection = .cubemap
    default: break
    }
  }

  func write(to tags: TagList) {
    if let projection { tags.set(StereoTags.projection, .string(projection.names.nick)) }
    if let bounds {
      let parts = [bounds.topPart, bounds.bottomPart, bounds.leftPart, bounds.rightPart]
      tags.set(Self.boundsTag, .string(Self.text(parts)))
    }
    if let pose { tags.set(Self.poseTag, .string(Self.text([pose.yaw, pose.pitch, pose.roll]))) }
    if let fisheyeFieldOfView { tags.set(Self.fisheyeFieldOfViewTag, .double(fisheyeFieldOfView)) }
  }

  private static func text(_ numbers: [Double]) -> String {
    numbers.map { "\($0)" }.joined(separator: ",")
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
    return tags.removing([boundsTag, poseTag, fisheyeFieldOfViewTag]).merging(own)
  }

  /// So many finite numbers with commas between; nil for any other text.
  private static func numbers(_ text: String?, _ count: Int) -> [Double]? {
    guard let text, text.utf8.count < 256 else { return nil }
    let numbers = text.split(separator: ",", omittingEmptySubsequences: false)
      .compactMap { part in Double(part.filter { $0 != " " }) }
    guard numbers.count == count, numbers.allSatisfy(\.isFinite) else { return nil }
    return numbers
  }
}
