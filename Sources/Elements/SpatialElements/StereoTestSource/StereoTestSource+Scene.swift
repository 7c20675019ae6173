// SPDX-License-Identifier: MPL-2.0

import GStreamer
import ISOBMFF
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
  func surroundings(_ settings: Settings) -> Projection? {
    guard let kind = settings.projection.projection, kind != .rectilinear else { return nil }
    return SphereProjection.projection(kind, fisheyeFieldOfView: settings.fisheyeFieldOfView)
      ?? Self.lens.calibration(width: 1, height: 1).map { .parametric($0) }
  }

  /// Nearly an equidistant fisheye of 180 degrees, as wide as the picture, for both eyes.
  private static let lens: Lens = {
    var lens = LensCalibration(
      referenceWidth: 4096, referenceHeight: 4096, focalLengthX: 1.57536 * 2048,
      focalLengthY: 1.57536 * 2048, principalPointX: 2048, principalPointY: 2048)
    (lens.projectionOffset, lens.k1, lens.k2) = (1.47487, -0.212917, 0.161075)
    lens.radialLimit = 90
    return Lens(lens, role: "mono") ?? Lens()
  }()

  /// What is true of pictures that surround the viewer; nil for flat ones, which nobody shot.
  func tags(_ settings: Settings) -> TagList? {
    guard let kind = settings.projection.projection,
      let projection = surroundings(settings)
    else { return nil }
    var degrees = projection.horizontalDegrees
    var sphere = SphereTags()
    switch projection {
    case .fisheye(let lens): sphere.fisheyeFieldOfView = lens.fieldOfView
    case .parametric(let lens):
      degrees = 2 * (lens.radialLimit ?? 90)
      sphere.lenses = LensCollection([Self.lens])
    default: break
    }
    let tags = TagList()
    SpatialMetadata(
      horizontalFieldOfView: HorizontalFieldOfView(degrees: degrees),
      baseline: Baseline(millimetres: SphereWorld.baseline * 1000), projection: kind
    ).write(to: tags)
    sphere.write(to: tags)
    return tags
  }
}
