// SPDX-License-Identifier: MPL-2.0

import GStreamer
import Reprojection
package import StereoVideo

/// The projection of the input, as a property.
enum SphereChoice: Int32, EnumType {
  case auto = 0
  case rectilinear = 1
  case equirectangular = 2
  case halfEquirectangular = 3
  case fisheye = 4
  case parametric = 5
  case cubemap = 6
  case equiAngularCubemap = 7

  static let typeName = "GstSphericalProjection"

  var names: (nick: String, description: String) {
    switch self {
    case .auto: ("auto", "From the stream's tags")
    case .rectilinear: ("rectilinear", "An ordinary flat picture, 90 degrees wide")
    case .equirectangular: ("equirectangular", "360 degrees, equirectangular")
    case .halfEquirectangular: ("half-equirectangular", "The front 180 degrees, equirectangular")
    case .fisheye: ("fisheye", "A circular fisheye picture, equidistant")
    case .parametric: ("parametric", "Described by the tag lens-calibration")
    case .cubemap: ("cubemap", "Six faces in three columns, as in Google's cbmp")
    case .equiAngularCubemap:
      ("equi-angular-cubemap", "Six faces with equal angles, as on YouTube")
    }
  }
}

/// The projection of the output, as a property.
enum SphereOutputChoice: Int32, EnumType {
  case equirectangular = 2
  case halfEquirectangular = 3
  case fisheye = 4
  case cubemap = 6
  case equiAngularCubemap = 7

  static let typeName = "GstSphericalOutputProjection"

  var names: (nick: String, description: String) { choice.names }

  /// The same projection as a choice for inputs.
  var choice: SphereChoice {
    switch self {
    case .equirectangular: .equirectangular
    case .halfEquirectangular: .halfEquirectangular
    case .fisheye: .fisheye
    case .cubemap: .cubemap
    case .equiAngularCubemap: .equiAngularCubemap
    }
  }
}

/// Projections for which only the kind is known.
package enum SphereProjection {
  /// Default angle covered by a fisheye picture's circle, in degrees.
  package static let fisheyeFieldOfView = 180.0

  /// Returns nil for a projection that is described by lenses.
  package static func projection(
    _ kind: ProjectionKind, fisheyeFieldOfView: Double = fisheyeFieldOfView
  ) -> Projection? {
    switch kind {
    case .rectilinear: .rectilinear(horizontalFieldOfView: 90)
    case .equirectangular: .equirectangular(.full)
    case .halfEquirectangular: .equirectangular(.frontHalf)
    case .fisheye: .fisheye(FisheyeLens(fieldOfView: fisheyeFieldOfView))
    case .parametric: nil
    }
  }
}

extension SphereChoice {
  /// Returns nil for ``auto``, and for ``parametric``, which needs lens data.
  func projection(fisheyeFieldOfView: Double) -> Projection? {
    func known(_ kind: ProjectionKind) -> Projection? {
      SphereProjection.projection(kind, fisheyeFieldOfView: fisheyeFieldOfView)
    }
    return switch self {
    case .auto: nil
    case .rectilinear: known(.rectilinear)
    case .equirectangular: known(.equirectangular)
    case .halfEquirectangular: known(.halfEquirectangular)
    case .fisheye: known(.fisheye)
    case .parametric: known(.parametric)
    case .cubemap: .cubemap(.sphericalVideo, padding: 0)
    case .equiAngularCubemap: .cubemap(.equiAngular, padding: 2)
    }
  }
}

/// Eyes to draw, as a property.
enum OutputEyes: Int32, EnumType {
  case both = 0
  case left = 1
  case right = 2

  static let typeName = "GstSphericalViewEyes"

  var names: (nick: String, description: String) {
    switch self {
    case .both: ("both", "The eyes of the input, in the same packing")
    case .left: ("left", "Only the left eye")
    case .right: ("right", "Only the right eye")
    }
  }

  /// Nil for both.
  var eye: Eye? {
    switch self {
    case .both: nil
    case .left: .left
    case .right: .right
    }
  }
}

/// Interpolation for reprojection, as a property.
enum InterpolationChoice: Int32, EnumType {
  case nearest = 0
  case linear = 1
  case cubic = 2
  case lanczos = 3

  static let typeName = "GstSphericalInterpolation"

  var names: (nick: String, description: String) {
    switch self {
    case .nearest: ("nearest", "The nearest pixel")
    case .linear: ("linear", "The mean of 2 by 2 pixels")
    case .cubic: ("cubic", "Catmull-Rom cubic over 4 by 4 pixels")
    case .lanczos: ("lanczos", "Lanczos over 6 by 6 pixels")
    }
  }

  var interpolation: Interpolation {
    switch self {
    case .nearest: .nearest
    case .linear: .linear
    case .cubic: .cubic
    case .lanczos: .lanczos
    }
  }
}
