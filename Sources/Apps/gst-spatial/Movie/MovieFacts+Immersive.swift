// SPDX-License-Identifier: MPL-2.0

internal import ISOBMFF
internal import PipelineFile
internal import StereoMedia
internal import StereoVideo

/// How pictures surround the viewer.
extension MovieFacts {
  var immersive: ImmersiveMetadata? { video?.immersiveMetadata }

  /// What a projection is called that `ProjectionKind` has no name for.
  var immersiveName: String? {
    switch immersive?.projection {
    case .known(.equirectangular): "a part of the sphere, equirectangular"
    case .known(.cubemap): "cubemap"
    case .known(.fisheye): "fisheye"
    case .mesh: "a mesh"
    default: nil
    }
  }

  /// Of a part of the sphere that has no name.
  var bounds: SphereBounds? {
    guard immersive?.projection.kind == nil,
      case .known(.equirectangular(let bounds)) = immersive?.projection
    else { return nil }
    return bounds
  }

  /// Who says how the pictures surround the viewer.
  var projectionSources: [String] {
    guard let entry, let video else { return [] }
    let isInUsage = entry.extendedUsage?.immersiveMetadata(width: 1, height: 1) != nil
    let isInSphere = entry.sphericalVideo?.immersiveMetadata(nil) != nil
    let isInText = video.sphericalVideoV1?.immersiveMetadata != nil
    return [("vexu", isInUsage), ("sv3d", isInSphere), ("Spherical Video V1", isInText)]
      .filter(\.1).map(\.0)
  }

  /// Titles and values, for people.
  var immersiveLines: [(String, String)] {
    guard let immersive else { return [] }
    var lines: [(String, String)] = []
    if let bounds {
      let edges = zip(["top", "bottom", "left", "right"], bounds.parts)
      lines.append(
        (
          "cut off",
          edges.map { "\(Quantities.decimal($1 * 100, 2)) % at the \($0)" }.joined(separator: ", ")
        ))
    }
    for (title, view) in [("pose", immersive.pose), ("initial view", immersive.initialView)]
    where view != .front {
      let angles = zip(["yaw", "pitch", "roll"], view.angles)
      lines.append(
        (
          title,
          angles.map { "\($0) \(Quantities.decimal($1, 3))" }.joined(separator: ", ") + " degrees"
        ))
    }
    let sources = projectionSources.joined(separator: ", ")
    if !sources.isEmpty { lines.append(("  said in", sources)) }
    return lines
  }

  /// Numbers, or null where there are none or all are 0.
  func immersiveJSON(_ numbers: [Double]?) -> JSON {
    guard let numbers, numbers.contains(where: { $0 != 0 }) else { return .null }
    return .array(numbers.map { JSON($0) })
  }
}

extension SphereBounds {
  /// Cut off at the top, the bottom, the left and the right.
  var parts: [Double] { [topPart, bottomPart, leftPart, rightPart] }
}

extension SphereOrientation {
  var angles: [Double] { [yaw, pitch, roll] }
}
