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
    case .auto: ("auto", "What the stream's tags say")
    case .rectilinear: ("rectilinear", "An ordinary flat picture of 90 degrees")
    case .equirectangular: ("equirectangular", "360 degrees, equirectangular")
    case .halfEquirectangular: ("half-equirectangular", "The front 180 degrees, equirectangular")
    case .fisheye: ("fisheye", "A circular fisheye picture, equidistant")
    case .parametric: ("parametric", "Described by the lenses of tag lens-calibration")
    case .cubemap: ("cubemap", "Six faces in three columns, as Google's cbmp has them")
    case .equiAngularCubemap:
      ("equi-angular-cubemap", "Six faces with equal angles, as YouTube has them")
    }
  }
}

/// A projection to be drawn, as a property.
enum SphereOutputChoice: Int32, EnumType {
  case equirectangular = 2
  case halfEquirectangular = 3
  case fisheye = 4
  case cubemap = 6
  case equiAngularCubemap = 7

  static let typeName = "GstSphericalOutputProjection"

  var names: (nick: String, description: String) { choice.names }

  /// The same as that of an input.
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

/// How pictures map onto the viewer's surroundings, where nothing but the kind is known.
package enum SphereProjection {
  /// What a fisheye picture's circle covers, in degrees, where nothing says it.
  package static let fisheyeFieldOfView = 180.0

  /// Nil for a projection that is described by lenses.
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
  /// Nil for ``auto``, and for lenses, which have to be known.
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

/// Which eyes are drawn, as a property.
enum OutputEyes: Int32, EnumType {
  case both = 0
  case left = 1
  case right = 2

  static let typeName = "GstSphericalViewEyes"

  var names: (nick: String, description: String) {
    switch self {
    case .both: ("both", "Those of the input, packed as they are there")
    case .left: ("left", "The left eye alone")
    case .right: ("right", "The right eye alone")
    }
  }

  /// nil for both.
  var eye: Eye? {
    switch self {
    case .both: nil
    case .left: .left
    case .right: .right
    }
  }
}

/// Reprojection's interpolation, as a property.
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
    case .cubic: ("cubic", "Catmull and Rom's cubic over 4 by 4 pixels")
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
