// SPDX-License-Identifier: MPL-2.0

/// How one eye's picture maps onto the viewer's surroundings, with everything needed to compute it.
public enum Projection: Hashable, Sendable {
  /// A flat picture, as an ordinary camera takes it.
  ///   - horizontalFieldOfView: in degrees, above 0 and below 180.
  case rectilinear(horizontalFieldOfView: Double)
  /// A part of the sphere's map, linear in longitude and latitude.
  case equirectangular(SphereBounds)
  case fisheye(FisheyeLens)
  case parametric(LensCalibration)
  /// - padding: pixels around each face that repeat what lies beyond its edges.
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

  /// The four characters that stand for the kind in `vexu/proj/prji`.
  public var fourCC: String {
    switch self {
    case .rectilinear: "rect"
    case .equirectangular: "equi"
    case .halfEquirectangular: "hequ"
    case .fisheye: "fish"
    case .parametric: "prim"
    }
  }

  /// The kind with these four characters, or nil if there is none.
  public init?(fourCC: String) {
    guard let kind = Self.allCases.first(where: { $0.fourCC == fourCC }) else { return nil }
    self = kind
  }
}

/// How the six faces of a cube lie in a picture of three columns and two rows.
public enum CubemapLayout: String, Hashable, Sendable, CaseIterable {
  /// Right, left, up; down, front, back. The upper edge of up is that to the front, that of down
  /// that to the back: layout 0 of `cbmp` (Google, Spherical Video V2).
  case sphericalVideo = "spherical-video"
  /// The same cells, with up and down turned by 180 degrees: FFmpeg's `c3x2`.
  case turned
  /// Left, front, right; down, back, up, the lower row turned by 90 degrees, with equal angles for
  /// equal distances: `eac`, as YouTube has it.
  case equiAngular = "equi-angular"
}

/// A circular picture, centred and as large as the picture's shorter side.
public struct FisheyeLens: Hashable, Sendable {
  /// How the distance from the centre grows with the angle from the axis.
  public enum Mapping: Hashable, Sendable {
    /// As the angle itself.
    case equidistant
    /// As the sine of half the angle: equal areas.
    case equisolid
    /// As the tangent of half the angle: circles stay circles.
    case stereographic
    /// As the sine of the angle; up to 180 degrees.
    case orthographic
    /// As a(1 + k1 a² + k2 a⁴ + k3 a⁶ + k4 a⁸), a being the angle in radians (Kannala and Brandt).
    case kannalaBrandt(k1: Double, k2: Double, k3: Double, k4: Double)
  }

  /// The angle across the circle, in degrees: above 0, up to 360.
  public var fieldOfView: Double
  public var mapping: Mapping

  public init(fieldOfView: Double = 180, mapping: Mapping = .equidistant) {
    self.fieldOfView = fieldOfView
    self.mapping = mapping
  }
}

/// How one camera bends the world into its picture: the `lens` box of Apple's projected media, the
/// unified camera model of Mei with the distortion of Brown and Conrady.
public struct LensCalibration: Hashable, Sendable {
  /// The size of the picture, in pixels, that the figures below are for (`rdim`).
  public var referenceWidth, referenceHeight: Double
  /// In pixels of the reference (`lnin`); the origin is the upper left corner.
  public var focalLengthX, focalLengthY, principalPointX, principalPointY: Double
  /// In pixels of the reference (`lnin`).
  public var skew: Double = 0
  /// The distance of the centre of projection from the unit sphere's centre; 0 is a pinhole
  /// (`lnin`).
  public var projectionOffset: Double = 0
  /// Radial distortion (`ldst`).
  public var k1: Double = 0, k2: Double = 0
  /// Tangential distortion (`ldst`).
  public var p1: Double = 0, p2: Double = 0
  /// The angle from the axis, in degrees, up to which the figures hold (`ldst`).
  public var radialLimit: Double?
  /// The last step, on positions relative to the frame's centre in half frame widths and heights:
  /// x becomes c0 + c1 x + c2 x³ (`lfad`).
  public var frameAdjustmentX = FrameAdjustment(), frameAdjustmentY = FrameAdjustment()
  /// How the camera is turned: the vector part of a unit quaternion (`lnex/cxfm/uqua`).
  public var rotationX: Double = 0, rotationY: Double = 0, rotationZ: Double = 0

  /// A polynomial that moves a coordinate.
  public struct FrameAdjustment: Hashable, Sendable {
    public var constant, linear, cubic: Double

    public init(constant: Double = 0, linear: Double = 1, cubic: Double = 0) {
      (self.constant, self.linear, self.cubic) = (constant, linear, cubic)
    }
  }

  /// A pinhole camera.
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

/// A rotation by yaw about the vertical, then pitch about the axis to the right, then roll about
/// the line of sight, in degrees: of a view, positive yaw looks to the right, positive pitch up,
/// and positive roll turns the camera clockwise.
public struct SphereOrientation: Hashable, Sendable {
  public var yaw, pitch, roll: Double

  public init(yaw: Double = 0, pitch: Double = 0, roll: Double = 0) {
    (self.yaw, self.pitch, self.roll) = (yaw, pitch, roll)
  }

  /// Straight ahead.
  public static let front = SphereOrientation()

  public var isFinite: Bool { yaw.isFinite && pitch.isFinite && roll.isFinite }
}

/// How much of the whole sphere's equirectangular map is cut off at each edge of one eye's picture,
/// as 0.32 fixed-point parts of the map's height (top, bottom) or width (left, right): the
/// `projection_bounds_` fields of Google's Spherical Video V2.
public struct SphereBounds: Hashable, Sendable {
  public var top, bottom, left, right: UInt32

  public init(top: UInt32 = 0, bottom: UInt32 = 0, left: UInt32 = 0, right: UInt32 = 0) {
    (self.top, self.bottom, self.left, self.right) = (top, bottom, left, right)
  }

  /// From parts of the map, 0 to below 1; nil outside, or where nothing of the map would be left.
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

  public var topPart: Double { Double(top) * 0x1p-32 }
  public var bottomPart: Double { Double(bottom) * 0x1p-32 }
  public var leftPart: Double { Double(left) * 0x1p-32 }
  public var rightPart: Double { Double(right) * 0x1p-32 }

  /// Whether there is a picture between the edges.
  public var leavesSomething: Bool {
    UInt64(top) + UInt64(bottom) <= 0xFFFF_FFFF && UInt64(left) + UInt64(right) <= 0xFFFF_FFFF
  }

  /// Whether these are `other`'s to within 1/4096 of the map, which is what pixel counts leave.
  public func isNear(_ other: SphereBounds) -> Bool {
    func near(_ one: UInt32, _ two: UInt32) -> Bool { max(one, two) - min(one, two) <= 1 << 20 }
    return near(top, other.top) && near(bottom, other.bottom) && near(left, other.left)
      && near(right, other.right)
  }
}

extension SphereBounds {
  /// As tags and properties say them; nil for any other text.
  package init?(text: String) {
    guard let parts = numbers(text, 4) else { return nil }
    self.init(topPart: parts[0], bottomPart: parts[1], leftPart: parts[2], rightPart: parts[3])
  }

  /// What ``init(text:)`` reads.
  package var text: String { "\(topPart),\(bottomPart),\(leftPart),\(rightPart)" }
}

extension SphereOrientation {
  /// As tags and properties say it; nil for any other text.
  package init?(text: String) {
    guard let angles = numbers(text, 3) else { return nil }
    self.init(yaw: angles[0], pitch: angles[1], roll: angles[2])
  }

  /// What ``init(text:)`` reads.
  package var text: String { "\(yaw),\(pitch),\(roll)" }
}

/// So many finite numbers with commas between; nil for any other text.
private func numbers(_ text: String, _ count: Int) -> [Double]? {
  guard text.utf8.count < 256 else { return nil }
  let numbers = text.split(separator: ",", omittingEmptySubsequences: false)
    .compactMap { part in Double(part.filter { $0 != " " }) }
  guard numbers.count == count, numbers.allSatisfy(\.isFinite) else { return nil }
  return numbers
}
