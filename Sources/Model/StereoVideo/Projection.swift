// SPDX-License-Identifier: MPL-2.0

/// How one eye's picture maps onto the viewer's surroundings, with all parameters needed to compute
/// it.
public enum Projection: Hashable, Sendable {
  /// A flat picture, as from an ordinary camera.
  ///   - horizontalFieldOfView: in degrees, above 0 and below 180.
  case rectilinear(horizontalFieldOfView: Double)
  /// A part of the sphere's map, linear in longitude and latitude.
  case equirectangular(SphereBounds)
  /// A circular fisheye picture.
  case fisheye(FisheyeLens)
  /// A picture described by lens parameters.
  case parametric(LensCalibration)
  /// The six faces of a cube.
  ///   - padding: number of pixels around each face that repeat the content beyond its edges.
  case cubemap(CubemapLayout, padding: Int)
}

/// How a picture maps onto the viewer's surroundings: the `projection_kind` of a `prji` box.
public enum ProjectionKind: String, Sendable, CaseIterable {
  /// `rect`: an ordinary flat picture.
  case rectilinear
  /// `equi`: 360 degrees, equirectangular.
  case equirectangular
  /// `hequ`: the front 180 degrees, equirectangular.
  case halfEquirectangular = "half-equirectangular"
  /// `fish`: a circular fisheye picture.
  case fisheye
  /// `prim`: described by lens parameters (Apple Projected Media Profile).
  case parametric

  /// The four-character code of the kind in `vexu/proj/prji`.
  public var fourCC: String {
    switch self {
    case .rectilinear: "rect"
    case .equirectangular: "equi"
    case .halfEquirectangular: "hequ"
    case .fisheye: "fish"
    case .parametric: "prim"
    }
  }

  /// Creates the kind with this four-character code; nil if there is none.
  public init?(fourCC: String) {
    guard let kind = Self.allCases.first(where: { $0.fourCC == fourCC }) else { return nil }
    self = kind
  }
}

/// The arrangement of the six faces of a cube in a picture of three columns and two rows.
public enum CubemapLayout: String, Hashable, Sendable, CaseIterable {
  /// Right, left, up; down, front, back. The upper edge of the up face borders the front face, that
  /// of the down face the back face: layout 0 of `cbmp` (Google, Spherical Video V2).
  case sphericalVideo = "spherical-video"
  /// The same cells, with the up and down faces turned by 180 degrees: FFmpeg's `c3x2`.
  case turned
  /// Left, front, right; down, back, up, with the lower row turned by 90 degrees. Equal distances
  /// are equal angles: `eac`, as used by YouTube.
  case equiAngular = "equi-angular"
}

/// A circular picture, centred, with the diameter of the picture's shorter side.
public struct FisheyeLens: Hashable, Sendable {
  /// How the distance from the centre depends on the angle from the axis.
  public enum Mapping: Hashable, Sendable {
    /// Proportional to the angle.
    case equidistant
    /// Proportional to the sine of half the angle; preserves areas.
    case equisolid
    /// Proportional to the tangent of half the angle; preserves circles.
    case stereographic
    /// Proportional to the sine of the angle; up to 180 degrees.
    case orthographic
    /// Proportional to a(1 + k1 a² + k2 a⁴ + k3 a⁶ + k4 a⁸), with the angle a in radians (Kannala
    /// and Brandt).
    case kannalaBrandt(k1: Double, k2: Double, k3: Double, k4: Double)
  }

  /// The angle across the circle, in degrees, above 0 and up to 360.
  public var fieldOfView: Double
  /// How the distance from the centre depends on the angle from the axis.
  public var mapping: Mapping

  /// Creates a lens; `fieldOfView` is in degrees.
  public init(fieldOfView: Double = 180, mapping: Mapping = .equidistant) {
    self.fieldOfView = fieldOfView
    self.mapping = mapping
  }
}

/// The calibration of one camera, the `lens` box of Apple's projected media: Mei's unified camera
/// model with Brown-Conrady distortion.
public struct LensCalibration: Hashable, Sendable {
  /// Size in pixels of the reference picture for the parameters below (`rdim`).
  public var referenceWidth, referenceHeight: Double
  /// In pixels of the reference picture (`lnin`), with the origin in the upper left corner.
  public var focalLengthX, focalLengthY, principalPointX, principalPointY: Double
  /// In pixels of the reference picture (`lnin`).
  public var skew: Double = 0
  /// Distance of the projection centre from the centre of the unit sphere; 0 for a pinhole camera
  /// (`lnin`).
  public var projectionOffset: Double = 0
  /// Radial distortion (`ldst`).
  public var k1: Double = 0, k2: Double = 0
  /// Tangential distortion (`ldst`).
  public var p1: Double = 0, p2: Double = 0
  /// Maximum angle from the axis for which the parameters hold, in degrees (`ldst`); nil if not
  /// limited.
  public var radialLimit: Double?
  /// The last step: with positions relative to the frame's centre in half frame widths and heights,
  /// x becomes c0 + c1 x + c2 x³ (`lfad`).
  public var frameAdjustmentX = FrameAdjustment(), frameAdjustmentY = FrameAdjustment()
  /// Rotation of the camera: the vector part of a unit quaternion (`lnex/cxfm/uqua`).
  public var rotationX: Double = 0, rotationY: Double = 0, rotationZ: Double = 0

  /// A polynomial that adjusts a coordinate: constant + linear x + cubic x³.
  public struct FrameAdjustment: Hashable, Sendable {
    /// The coefficients.
    public var constant, linear, cubic: Double

    /// Creates an adjustment; the default is the identity.
    public init(constant: Double = 0, linear: Double = 1, cubic: Double = 0) {
      (self.constant, self.linear, self.cubic) = (constant, linear, cubic)
    }
  }

  /// Creates a pinhole camera; all values are in pixels.
  public init(
    referenceWidth: Double, referenceHeight: Double, focalLengthX: Double, focalLengthY: Double,
    principalPointX: Double, principalPointY: Double
  ) {
    self.referenceWidth = referenceWidth
    self.referenceHeight = referenceHeight
    self.focalLengthX = focalLengthX
    self.focalLengthY = focalLengthY
    self.principalPointX = principalPointX
    self.principalPointY = principalPointY
  }
}

/// A rotation in degrees by yaw about the vertical axis, then pitch about the axis to the right,
/// then roll about the line of sight. For a view, positive yaw looks right, positive pitch looks
/// up, and positive roll turns the camera clockwise.
public struct SphereOrientation: Hashable, Sendable {
  /// The angles in degrees.
  public var yaw, pitch, roll: Double

  /// Creates an orientation from angles in degrees.
  public init(yaw: Double = 0, pitch: Double = 0, roll: Double = 0) {
    (self.yaw, self.pitch, self.roll) = (yaw, pitch, roll)
  }

  /// Straight ahead.
  public static let front = SphereOrientation()

  /// Whether all angles are finite.
  public var isFinite: Bool { yaw.isFinite && pitch.isFinite && roll.isFinite }
}

/// The part of the whole sphere's equirectangular map that is cut off at each edge of one eye's
/// picture, as 0.32 fixed-point fractions of the map's height (top, bottom) or width (left, right):
/// the `projection_bounds_` fields of Google's Spherical Video V2.
public struct SphereBounds: Hashable, Sendable {
  /// Fractions cut off, in units of 2^-32.
  public var top, bottom, left, right: UInt32

  /// Creates bounds from fractions in units of 2^-32.
  public init(top: UInt32 = 0, bottom: UInt32 = 0, left: UInt32 = 0, right: UInt32 = 0) {
    (self.top, self.bottom, self.left, self.right) = (top, bottom, left, right)
  }

  /// Creates bounds from fractions of the map, 0 to below 1; nil if one is outside, or if nothing
  /// of the map would be left.
  public init?(topPart: Double, bottomPart: Double, leftPart: Double, rightPart: Double) {
    func fixed(_ part: Double) -> UInt32? {
      guard part >= 0, part < 1 else { return nil }
      return UInt32(exactly: (part * 0x1p32).rounded(.down))
    }
    guard let top = fixed(topPart), let bottom = fixed(bottomPart), let left = fixed(leftPart),
      let right = fixed(rightPart)
    else { return nil }
    self.init(top: top, bottom: bottom, left: left, right: right)
    guard leavesSomething else { return nil }
  }

  /// The whole sphere.
  public static let full = SphereBounds()
  /// The front half: 180 degrees by 180 degrees.
  public static let frontHalf = SphereBounds(left: 0x4000_0000, right: 0x4000_0000)

  /// Fraction of the map's height cut off at the top, 0 to below 1.
  public var topPart: Double { Double(top) * 0x1p-32 }
  /// Fraction of the map's height cut off at the bottom, 0 to below 1.
  public var bottomPart: Double { Double(bottom) * 0x1p-32 }
  /// Fraction of the map's width cut off at the left, 0 to below 1.
  public var leftPart: Double { Double(left) * 0x1p-32 }
  /// Fraction of the map's width cut off at the right, 0 to below 1.
  public var rightPart: Double { Double(right) * 0x1p-32 }

  /// Whether part of the map is left.
  public var leavesSomething: Bool {
    UInt64(top) + UInt64(bottom) <= 0xFFFF_FFFF && UInt64(left) + UInt64(right) <= 0xFFFF_FFFF
  }

  /// Whether these bounds equal `other` to within 1/4096 of the map, which allows for rounding to
  /// pixels.
  public func isNear(_ other: SphereBounds) -> Bool {
    func near(_ one: UInt32, _ two: UInt32) -> Bool { max(one, two) - min(one, two) <= 1 << 20 }
    return near(top, other.top) && near(bottom, other.bottom) && near(left, other.left)
      && near(right, other.right)
  }
}

extension SphereBounds {
  /// Reads the form used in tags and properties: the top, bottom, left and right parts, separated
  /// by commas. Returns nil for any other text.
  package init?(text: String) {
    guard let parts = numbers(text, 4) else { return nil }
    self.init(topPart: parts[0], bottomPart: parts[1], leftPart: parts[2], rightPart: parts[3])
  }

  /// The form that ``init(text:)`` reads.
  package var text: String { "\(topPart),\(bottomPart),\(leftPart),\(rightPart)" }
}

extension SphereOrientation {
  /// Reads the form used in tags and properties: yaw, pitch and roll, separated by commas. Returns
  /// nil for any other text.
  package init?(text: String) {
    guard let angles = numbers(text, 3) else { return nil }
    self.init(yaw: angles[0], pitch: angles[1], roll: angles[2])
  }

  /// The form that ``init(text:)`` reads.
  package var text: String { "\(yaw),\(pitch),\(roll)" }
}

/// Parses exactly `count` comma-separated finite numbers, else returns nil.
private func numbers(_ text: String, _ count: Int) -> [Double]? {
  guard text.utf8.count < 256 else { return nil }
  let numbers = text.split(separator: ",", omittingEmptySubsequences: false)
    .compactMap { part in Double(part.filter { $0 != " " }) }
  guard numbers.count == count, numbers.allSatisfy(\.isFinite) else { return nil }
  return numbers
}
