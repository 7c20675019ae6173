// SPDX-License-Identifier: MPL-2.0

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
