// SPDX-License-Identifier: MPL-2.0

/// The lenses that a projection of kind `prim` was shot with: a `lnsc` box.
///
/// The box's bytes are kept as they are, so that one read from a file is written back unchanged.
public struct LensCollection: Equatable, Sendable {
  /// Everything behind the box's header.
  public let payload: [UInt8]
  /// One for both eyes, or one for each.
  public let lenses: [Lens]

  /// Boxes for lenses.
  public init(_ lenses: [Lens]) {
    self.lenses = lenses
    var writer = BoxWriter()
    for lens in lenses { lens.write(to: &writer) }
    payload = writer.bytes
  }

  /// Reads everything behind a `lnsc` box's header.
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

  /// The lens of an eye: its own, or the one that both have.
  public func lens(role: FourCC) -> Lens? {
    lenses.first { $0.role == role } ?? lenses.first { $0.role == "mono" }
      ?? (lenses.count == 1 ? lenses.first : nil)
  }
}

extension Lens {
  private static let childTypes: Set<FourCC> = ["lnhd", "rdim", "lnin", "ldst", "lfad", "lnex"]

  /// Reads the content of a `lens` box, which begins with a version; boxes without one exist.
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
  /// An IEEE 754 number of 32 bits.
  fileprivate mutating func readFloat(_ field: StaticString) throws(ISOBMFFError) -> Float {
    Float(bitPattern: try read(field))
  }
}
