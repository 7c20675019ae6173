// SPDX-License-Identifier: MPL-2.0

public import StereoVideo

/// A lens of a `prim` projection: a `lens` box (Apple, "ISO Base Media File Format and Apple HEVC
/// Stereo Video", boxes for parametric immersive media), with its values as stored in the file.
public struct Lens: Hashable, Sendable {
  /// `lens_identifier`.
  public var identifier: UInt32
  /// `lens_algorithm_kind`.
  public var algorithmKind: FourCC
  /// `lens_domain`.
  public var domain: FourCC
  /// `lens_role`: `left`, `rght` or `mono`.
  public var role: FourCC
  /// `rdim`: the picture size in pixels that the values refer to.
  public var referenceSize: ReferenceSize?
  /// `lnin`.
  public var intrinsics: Intrinsics?
  /// `ldst`.
  public var distortion: Distortion?
  /// `lfad`: the coefficients x0, x1, x2, y0, y1, y2.
  public var frameAdjustment: FrameAdjustment?
  /// `lnex/corg`: the origin of the lens position; `blin` is midway between the lenses.
  public var originSource: FourCC?
  /// `lnex/cxfm/uqua`: the rotation of the lens.
  public var rotation: UnitQuaternion?

  /// A picture size in pixels.
  public struct ReferenceSize: Hashable, Sendable {
    public var width, height: UInt32

    /// Creates a size in pixels.
    public init(width: UInt32, height: UInt32) { (self.width, self.height) = (width, height) }
  }

  /// Fixed-point values: each is divided by 2 to the power of a shift.
  public struct Intrinsics: Hashable, Sendable {
    /// `denominator_shift_operand` and `skew_denominator_shift_operand`.
    public var shift, skewShift: Int16
    public var focalLengthX, principalPointX, principalPointY: Int32
    /// Present together or not at all (flag 1).
    public var focalLengthYAndSkew: FocalLengthYAndSkew?
    /// Projection offset (flag 2).
    public var projectionOffset: Float?

    /// The focal length in y and the skew factor.
    public struct FocalLengthYAndSkew: Hashable, Sendable {
      public var focalLengthY, skew: Int32
    }
  }

  /// Radial (k1, k2) and tangential (p1, p2) distortion coefficients.
  public struct Distortion: Hashable, Sendable {
    public var k1, k2, p1, p2: Float
    /// Limit in degrees from the optical axis (flag 1).
    public var radialLimit: Float?
  }

  /// Polynomial coefficients of the frame adjustment, for x and y.
  public struct FrameAdjustment: Hashable, Sendable {
    public var x0, x1, x2, y0, y1, y2: Float
  }

  /// The vector part of a unit quaternion.
  public struct UnitQuaternion: Hashable, Sendable {
    public var x, y, z: Float
  }

  /// Creates a lens without values.
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
  /// Focal lengths below this are relative to the picture's size, like those of HEIF's `cmin`.
  private static let leastPixels = 8.0

  /// Converts the values to a calibration in pixels; nil without intrinsics.
  ///
  /// - Parameters:
  ///   - width: width of one eye's picture, used if the lens has no reference size.
  ///   - height: height of one eye's picture, likewise.
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

  /// Creates a lens from a calibration, to 1/65536 of a pixel; nil if a value does not fit into the
  /// fields of the boxes.
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

/// The lenses of a `prim` projection: a `lnsc` box.
///
/// The bytes of the box are kept, so that a box read from a file is written back unchanged.
public struct LensCollection: Equatable, Sendable {
  /// Everything after the box's header.
  public let payload: [UInt8]
  /// One lens for both eyes, or one for each.
  public let lenses: [Lens]

  /// Creates the box for the given lenses.
  public init(_ lenses: [Lens]) {
    self.lenses = lenses
    var writer = BoxWriter()
    for lens in lenses { lens.write(to: &writer) }
    payload = writer.bytes
  }

  /// Parses a `lnsc` box; `payload` is everything after its header.
  public init(payload: [UInt8]) throws(ISOBMFFError) {
    try self.init(BoxReader(payload, type: "lnsc", path: "lnsc"))
  }

  init(_ box: BoxReader) throws(ISOBMFFError) {
    payload = box.opaque.payload
    var box = box
    var lenses: [Lens] = []
    while let child = try box.nextBox() {
      if child.type == "lens" { lenses.append(try Lens(child)) }
    }
    self.lenses = lenses
  }

  /// Returns the lens of an eye: its own, or the one that both share.
  public func lens(role: FourCC) -> Lens? {
    lenses.first { $0.role == role } ?? lenses.first { $0.role == "mono" }
      ?? (lenses.count == 1 ? lenses.first : nil)
  }
}

extension Lens {
  private static let childTypes: Set<FourCC> = ["lnhd", "rdim", "lnin", "ldst", "lfad", "lnex"]

  /// Parses the content of a `lens` box. It begins with a version, which some files omit.
  init(_ box: BoxReader) throws(ISOBMFFError) {
    self.init(algorithmKind: FourCC(rawValue: 0), domain: FourCC(rawValue: 0), role: "mono")
    var box = box
    var peek = box
    if !((try? peek.nextBox()).map { $0.map { Self.childTypes.contains($0.type) } ?? false }
      ?? false),
      box.remaining >= 4
    {
      _ = try box.readVersion()
    }
    while var child = try box.nextBox() {
      switch child.type {
      case "lnhd":
        _ = try child.readVersion()
        identifier = try child.read("lens_identifier")
        algorithmKind = try child.readFourCC("lens_algorithm_kind")
        domain = try child.readFourCC("lens_domain")
        role = try child.readFourCC("lens_role")
      case "rdim":
        _ = try child.readVersion()
        referenceSize = ReferenceSize(
          width: try child.read("reference_width"), height: try child.read("reference_height"))
      case "lnin": intrinsics = try Intrinsics(&child)
      case "ldst": distortion = try Distortion(&child)
      case "lfad":
        _ = try child.readVersion()
        frameAdjustment = FrameAdjustment(
          x0: try child.readFloat("x0"), x1: try child.readFloat("x1"),
          x2: try child.readFloat("x2"), y0: try child.readFloat("y0"),
          y1: try child.readFloat("y1"), y2: try child.readFloat("y2"))
      case "lnex": try readExtrinsics(&child)
      default: break
      }
    }
  }

  private mutating func readExtrinsics(_ box: inout BoxReader) throws(ISOBMFFError) {
    while var child = try box.nextBox() {
      switch child.type {
      case "corg":
        _ = try child.readVersion()
        originSource = try child.readFourCC("origin source")
      case "cxfm":
        while var transform = try child.nextBox() {
          guard transform.type == "uqua" else { continue }
          _ = try transform.readVersion()
          rotation = UnitQuaternion(
            x: try transform.readFloat("ix"), y: try transform.readFloat("iy"),
            z: try transform.readFloat("iz"))
        }
      default: break
      }
    }
  }

  func write(to writer: inout BoxWriter) {
    writer.fullBox("lens") { lens in
      lens.fullBox("lnhd") {
        $0.write(identifier)
        $0.write(algorithmKind)
        $0.write(domain)
        $0.write(role)
      }
      if let referenceSize {
        lens.fullBox("rdim") {
          $0.write(referenceSize.width)
          $0.write(referenceSize.height)
        }
      }
      intrinsics?.write(to: &lens)
      distortion?.write(to: &lens)
      if let adjustment = frameAdjustment {
        lens.fullBox("lfad") {
          for value in [
            adjustment.x0, adjustment.x1, adjustment.x2, adjustment.y0, adjustment.y1,
            adjustment.y2,
          ] { $0.write(value.bitPattern) }
        }
      }
      guard originSource != nil || rotation != nil else { return }
      lens.box("lnex") { extrinsics in
        if let originSource { extrinsics.fullBox("corg") { $0.write(originSource) } }
        guard let rotation else { return }
        extrinsics.box("cxfm") { transform in
          transform.fullBox("uqua") {
            for value in [rotation.x, rotation.y, rotation.z] { $0.write(value.bitPattern) }
          }
        }
      }
    }
  }
}

extension Lens.Intrinsics {
  fileprivate init(_ box: inout BoxReader) throws(ISOBMFFError) {
    let flags = try box.readVersion().flags
    shift = try box.read("denominator_shift_operand")
    skewShift = try box.read("skew_denominator_shift_operand")
    focalLengthX = try box.read("focal_length_x")
    principalPointX = try box.read("principal_point_x")
    principalPointY = try box.read("principal_point_y")
    if flags & 1 != 0 {
      focalLengthYAndSkew = .init(
        focalLengthY: try box.read("focal_length_y"), skew: try box.read("skew_factor"))
    }
    if flags & 2 != 0 { projectionOffset = try box.readFloat("projection_offset") }
  }

  fileprivate func write(to writer: inout BoxWriter) {
    let flags: UInt32 = (focalLengthYAndSkew == nil ? 0 : 1) | (projectionOffset == nil ? 0 : 2)
    writer.fullBox("lnin", flags: flags) {
      $0.write(shift)
      $0.write(skewShift)
      $0.write(focalLengthX)
      $0.write(principalPointX)
      $0.write(principalPointY)
      if let more = focalLengthYAndSkew {
        $0.write(more.focalLengthY)
        $0.write(more.skew)
      }
      if let projectionOffset { $0.write(projectionOffset.bitPattern) }
    }
  }
}

extension Lens.Distortion {
  fileprivate init(_ box: inout BoxReader) throws(ISOBMFFError) {
    let flags = try box.readVersion().flags
    k1 = try box.readFloat("k1")
    k2 = try box.readFloat("k2")
    p1 = try box.readFloat("p1")
    p2 = try box.readFloat("p2")
    if flags & 1 != 0 { radialLimit = try box.readFloat("calibration_limit_radial_angle") }
  }

  fileprivate func write(to writer: inout BoxWriter) {
    writer.fullBox("ldst", flags: radialLimit == nil ? 0 : 1) {
      for value in [k1, k2, p1, p2] + [radialLimit].compactMap(\.self) {
        $0.write(value.bitPattern)
      }
    }
  }
}

extension BoxReader {
  /// Reads a 32-bit IEEE 754 number.
  fileprivate mutating func readFloat(_ field: StaticString) throws(ISOBMFFError) -> Float {
    Float(bitPattern: try read(field))
  }
}
