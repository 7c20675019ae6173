// SPDX-License-Identifier: MPL-2.0

import GStreamer
import Reprojection
import StereoTestScene
import StereoVideo

extension StereoTestSource {
  /// What is drawn.
  enum Scene {
    case flat(StereoTestScene)
    case around(SphereScene)

    /// Nil for a size that there is no scene of.
    init?(_ surroundings: Projection?, width: Int, height: Int) {
      if let surroundings {
        guard let scene = SphereScene(surroundings, width: width, height: height) else {
          return nil
        }
        self = .around(scene)
      } else {
        guard let scene = StereoTestScene(width: width, height: height) else { return nil }
        self = .flat(scene)
      }
    }

    /// Of one eye, in pixels.
    var size: (width: Int, height: Int) {
      switch self {
      case .flat(let scene): (scene.width, scene.height)
      case .around(let scene): (scene.geometry.width, scene.geometry.height)
      }
    }

    func render(eye: Eye, frame: Int, into destination: StereoTestScene.Destination) throws {
      switch self {
      case .flat(let scene): try scene.render(eye: eye, frame: frame, into: destination)
      case .around(let scene): try scene.render(eye: eye, frame: frame, into: destination)
      }
    }
  }

  /// How pictures surround the viewer; nil for flat ones.
  func surroundings(_ settings: Settings) throws -> Projection? {
    guard let kind = settings.projection.projection, kind != .rectilinear else { return nil }
    guard
      let projection = SphereProjection.projection(
        kind, fisheyeFieldOfView: settings.fisheyeFieldOfView)
    else {
      throw ElementError(.settings, "There is no scene of the projection \(kind.rawValue).")
    }
    return projection
  }

  /// What is true of pictures that surround the viewer; nil for flat ones, which nobody shot.
  func tags(_ settings: Settings) -> TagList? {
    guard let kind = settings.projection.projection,
      let projection = try? surroundings(settings)
    else { return nil }
    let tags = TagList()
    SpatialMetadata(
      horizontalFieldOfView: HorizontalFieldOfView(degrees: projection.horizontalDegrees),
      baseline: Baseline(millimetres: SphereWorld.baseline * 1000), projection: kind
    ).write(to: tags)
    var sphere = SphereTags()
    if case .fisheye(let lens) = projection { sphere.fisheyeFieldOfView = lens.fieldOfView }
    sphere.write(to: tags)
    return tags
  }
}
