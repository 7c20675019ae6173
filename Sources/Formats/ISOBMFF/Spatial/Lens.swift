// SPDX-License-Identifier: MPL-2.0

public import StereoVideo

/// One lens of a projection of kind `prim`: a `lens` box (Apple, "ISO Base Media File Format and
/// Apple HEVC Stereo Video", boxes for parametric immersive media), with its figures as they are
/// in the file.
public struct Lens: Hashable, Sendable {
  /// `lens_identifier`.
  public var identifier: UInt32
  /// `lens_algorithm_kind`.
  public var algorithmKind: FourCC
  /// `lens_domain`.
  public var domain: FourCC
  /// `lens_role`: `left`, `rght` or `mono`.
  public var role: FourCC
  /// `rdim`: the pixels that the figures are for.
  public var referenceSize: ReferenceSize?
  /// `lnin`.
  public var intrinsics: Intrinsics?
  /// `ldst`.
  public var distortion: Distortion?
  /// `lfad`: the coefficients x0, x1, x2, y0, y1, y2.
  public var frameAdjustment: FrameAdjustment?
  /// `lnex/corg`: where the lens's place is counted from; `blin` is midway between the lenses.
  public var originSource: FourCC?
  /// `lnex/cxfm/uqua`: how the lens is turned.
  public var rotation: UnitQuaternion?

  public struct ReferenceSize: Hashable, Sendable {
    public var width, height: UInt32

    public init(width: UInt32, height: UInt32) { (self.width, self.height) = (width, height) }
  }

  /// Fixed-point figures: each is divided by 2 to the power of a shift.
  public struct Intrinsics: Hashable, Sendable {
    /// `denominator_shift_operand` and `skew_denominator_shift_operand`.
    public var shift, skewShift: Int16
    public var focalLengthX, principalPointX, principalPointY: Int32
    /// Together there or not (flag 1).
    public var focalLengthYAndSkew: FocalLengthYAndSkew?
    /// Flag 2.
    public var projectionOffset: Float?

    public struct FocalLengthYAndSkew: Hashable, Sendable {
      public var focalLengthY, skew: Int32
    }
  }

  public struct Distortion: Hashable, Sendable {
    public var k1, k2, p1, p2: Float
    /// In degrees from the axis (flag 1).
    public var radialLimit: Float?
  }

  public struct FrameAdjustment: Hashable, Sendable {
    public var x0, x1, x2, y0, y1, y2: Float
  }

  /// The vector part.
  public struct UnitQuaternion: Hashable, Sendable {
    public var x, y, z: Float
  }

  public init(
    identifier: UInt32 = 0, algorithmKind: FourCC = "prim", domain: FourCC = "colr",
    role: FourCC = "mono"
  ) {
    self.identifier = identifier
    self.algorithmKind = algorithmKind
    self.domain = domain
    self.role = role
  }
}

extension Lens {
  /// Below this, focal lengths are parts of the picture's size, as those of HEIF's `cmin` are.
  private static let leastPixels = 8.0

  /// What the figures mean; nil without intrinsics.
  ///
  /// - Parameters:
  ///   - width: of one eye's picture, which the figures are for where the lens does not say.
  ///   - height: the same.
  public func calibration(width: Double, height: Double) -> LensCalibration? {
    guard let intrinsics else { return nil }
    let width = referenceSize.map { Double($0.width) } ?? width
    let height = referenceSize.map { Double($0.height) } ?? height
    func value(_ number: Int32, _ shift: Int16) -> Double {
      Double(number) * Double(sign: .plus, exponent: -Int(shift), significand: 1)
    }
    var focalX = value(intrinsics.focalLengthX, intrinsics.shift)
    var focalY =
      intrinsics.focalLengthYAndSkew.map { value($0.focalLengthY, intrinsics.shift) } ?? focalX
    var centreX = value(intrinsics.principalPointX, intrinsics.shift)
    var centreY = value(intrinsics.principalPointY, intrinsics.shift)
    var skew = intrinsics.focalLengthYAndSkew.map { value($0.skew, intrinsics.skewShift) } ?? 0
    if abs(focalX) < Self.leastPixels {
      (focalX, focalY, skew) = (focalX * width, focalY * width, skew * width)
      (centreX, centreY) = (centreX * width, centreY * height)
    }
    var calibration = LensCalibration(
      referenceWidth: width, referenceHeight: height, focalLengthX: focalX, focalLengthY: focalY,
      principalPointX: centreX, principalPointY: centreY)
    calibration.skew = skew
    calibration.projectionOffset = Double(intrinsics.projectionOffset ?? 0)
    if let distortion {
      (calibration.k1, calibration.k2) = (Double(distortion.k1), Double(distortion.k2))
      (calibration.p1, calibration.p2) = (Double(distortion.p1), Double(distortion.p2))
      calibration.radialLimit = distortion.radialLimit.map(Double.init)
    }
    if let adjustment = frameAdjustment {
      calibration.frameAdjustmentX = .init(
        constant: Double(adjustment.x0), linear: Double(adjustment.x1),
        cubic: Double(adjustment.x2))
      calibration.frameAdjustmentY = .init(
        constant: Double(adjustment.y0), linear: Double(adjustment.y1),
        cubic: Double(adjustment.y2))
    }
    if let rotation {
      (calibration.rotationX, calibration.rotationY, calibration.rotationZ) = (
        Double(rotation.x), Double(rotation.y), Double(rotation.z)
      )
    }
    return calibration
  }

  /// The lens of a calibration, to a 65,536th of a pixel; nil where a figure has no place in the
  /// boxes' fields.
  public init?(_ calibration: LensCalibration, role: FourCC, identifier: UInt32 = 0) {
    self.init(identifier: identifier, role: role)
    func fixed(_ value: Double) -> Int32? {
      guard value.isFinite else { return nil }
      return Int32(exactly: (value * 65536).rounded())
    }
    guard let width = UInt32(exactly: calibration.referenceWidth.rounded()),
      let height = UInt32(exactly: calibration.referenceHeight.rounded()),
      let focalX = fixed(calibration.focalLengthX), let focalY = fixed(calibration.focalLengthY),
      abs(calibration.focalLengthX) >= Self.leastPixels,
      let centreX = fixed(calibration.principalPointX),
      let centreY = fixed(calibration.principalPointY), let skew = fixed(calibration.skew)
    else { return nil }
    referenceSize = ReferenceSize(width: width, height: height)
    intrinsics = Intrinsics(
      shift: 16, skewShift: 16, focalLengthX: focalX, principalPointX: centreX,
      principalPointY: centreY,
      focalLengthYAndSkew: focalY == focalX && skew == 0
        ? nil : .init(focalLengthY: focalY, skew: skew),
      projectionOffset: calibration.projectionOffset == 0
        ? nil : Float(calibration.projectionOffset))
    let distortion = Distortion(
      k1: Float(calibration.k1), k2: Float(calibration.k2), p1: Float(calibration.p1),
      p2: Float(calibration.p2), radialLimit: calibration.radialLimit.map(Float.init))
    if distortion != Distortion(k1: 0, k2: 0, p1: 0, p2: 0) { self.distortion = distortion }
    let (x, y) = (calibration.frameAdjustmentX, calibration.frameAdjustmentY)
    if (x, y) != (LensCalibration.FrameAdjustment(), LensCalibration.FrameAdjustment()) {
      frameAdjustment = FrameAdjustment(
        x0: Float(x.constant), x1: Float(x.linear), x2: Float(x.cubic), y0: Float(y.constant),
        y1: Float(y.linear), y2: Float(y.cubic))
    }
    let rotation = UnitQuaternion(
      x: Float(calibration.rotationX), y: Float(calibration.rotationY),
      z: Float(calibration.rotationZ))
    if rotation != UnitQuaternion(x: 0, y: 0, z: 0) { self.rotation = rotation }
  }
}
