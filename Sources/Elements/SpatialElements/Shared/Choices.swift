// SPDX-License-Identifier: MPL-2.0

import GStreamer
import ISOBMFF
import StereoVideo

/// The eye that a stream shows, as a property.
enum EyeChoice: Int32, EnumType {
  case none = 0
  case left = 1
  case right = 2

  static let typeName = "GstStereoEye"

  var names: (nick: String, description: String) {
    switch self {
    case .none: ("none", "Not specified")
    case .left: ("left", "The left eye")
    case .right: ("right", "The right eye")
    }
  }

  var eye: Eye? {
    switch self {
    case .none: nil
    case .left: .left
    case .right: .right
    }
  }

  /// Returns the property `hero-eye` of an element that encodes and stores it at `path`.
  static func heroEye<Owner: HasSettings>(
    at path: WritableKeyPath<Owner.Settings, EyeChoice>
  ) -> Property<Owner> {
    .choice(
      "hero-eye", nick: "Hero eye",
      blurb: "Eye in the base layer, shown by players for one eye "
        + "(none = from tag stereo-hero-eye, else left)",
      default: .none, at: path)
  }
}

/// How a picture maps onto the viewer's surroundings, as a property.
enum ProjectionChoice: Int32, EnumType {
  case none = 0
  case rectilinear = 1
  case equirectangular = 2
  case halfEquirectangular = 3
  case fisheye = 4
  case parametric = 5

  static let typeName = "GstStereoProjection"

  var names: (nick: String, description: String) {
    switch self {
    case .none: ("none", "Not specified")
    case .rectilinear: ("rectilinear", "An ordinary flat picture")
    case .equirectangular: ("equirectangular", "360 degrees, equirectangular")
    case .halfEquirectangular: ("half-equirectangular", "The front 180 degrees, equirectangular")
    case .fisheye: ("fisheye", "A circular fisheye picture")
    case .parametric: ("parametric", "Described by lens parameters")
    }
  }

  var projection: ProjectionKind? {
    switch self {
    case .none: nil
    case .rectilinear: .rectilinear
    case .equirectangular: .equirectangular
    case .halfEquirectangular: .halfEquirectangular
    case .fisheye: .fisheye
    case .parametric: .parametric
    }
  }
}

/// How a player turns the pictures, as a property: the values of the tag `image-orientation`.
enum OrientationChoice: Int32, EnumType {
  case none = 0
  case rotate0 = 1
  case rotate90 = 2
  case rotate180 = 3
  case rotate270 = 4
  case flipRotate0 = 5
  case flipRotate90 = 6
  case flipRotate180 = 7
  case flipRotate270 = 8

  static let typeName = "GstStereoOrientation"

  var names: (nick: String, description: String) {
    guard let orientation else { return ("none", "Not specified") }
    let degrees = orientation.clockwiseRotation
    let turn = degrees == 0 ? "Upright" : "Turned \(degrees) degrees clockwise"
    return (
      orientation.tag,
      orientation.isFlipped ? "Flipped left to right, then turned \(degrees) degrees" : turn
    )
  }

  /// Nil for none.
  var orientation: PictureOrientation? {
    PictureOrientation(
      clockwiseRotation: self == .none ? -1 : Int(rawValue - 1) % 4 * 90,
      isFlipped: rawValue > Self.rotate270.rawValue)
  }
}
