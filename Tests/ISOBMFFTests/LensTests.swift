// SPDX-License-Identifier: MPL-2.0

import ISOBMFF
import StereoVideo
import Testing

/// The lenses of parametric projections.
struct LensTests {
  private static var calibration: LensCalibration {
    var lens = LensCalibration(
      referenceWidth: 4320, referenceHeight: 4320, focalLengthX: 3193.5, focalLengthY: 3190.25,
      principalPointX: 2161.5, principalPointY: 2158)
    (lens.k1, lens.k2, lens.p1, lens.p2) = (-0.21875, 0.15625, 0.001953125, -0.0009765625)
    (lens.skew, lens.projectionOffset, lens.radialLimit) = (1.5, 1.453125, 95)
    lens.frameAdjustmentX = .init(constant: 0.25, linear: 0.5, cubic: 0.125)
    (lens.rotationX, lens.rotationY, lens.rotationZ) = (0.5, -0.25, 0.125)
    return lens
  }

  private func box(_ type: FourCC, _ content: [UInt8]) -> [UInt8] {
    OpaqueBox(type, payload: content).bytes
  }

  private func big(_ values: UInt32...) -> [UInt8] {
    values.flatMap { value in
      [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: value >> UInt32($0)) }
    }
  }

  @Test("a written calibration is read as the same calibration")
  func roundTrip() throws {
    let lens = try #require(Lens(Self.calibration, role: "left", identifier: 7))
    let collection = LensCollection([lens])
    let reread = try LensCollection(payload: collection.payload)
    #expect(reread == collection)
    #expect(reread.lenses.first?.calibration(width: 1, height: 1) == Self.calibration)
    #expect(reread.lens(role: "left") == lens && reread.lens(role: "rght") == lens)
  }

  @Test("a pinhole takes no more boxes than it needs, byte for byte")
  func golden() throws {
    let pinhole = LensCalibration(
      referenceWidth: 1920, referenceHeight: 1080, focalLengthX: 960, focalLengthY: 960,
      principalPointX: 960, principalPointY: 540)
    let lens = try #require(Lens(pinhole, role: "mono"))
    let header = box(
      "lnhd", big(0, 0) + Array("primcolrmono".utf8))
    let size = box("rdim", big(0, 1920, 1080))
    let intrinsics = box("lnin", big(0, 0x0010_0010, 960 << 16, 960 << 16, 540 << 16))
    #expect(LensCollection([lens]).payload == box("lens", big(0) + header + size + intrinsics))
  }

  @Test("values relative to the picture's size, and a box without a version, are understood")
  func variants() throws {
    // 0.5 of the width, 2 to the power of 20.
    let half: UInt32 = 1 << 19
    let intrinsics = box("lnin", big(0, 0x0014_0000, half, half, half))
    let plain = box("lens", box("lnhd", big(0, 3) + Array("????????rght".utf8)) + intrinsics)
    let unknown = box("zzzz", [1, 2, 3])
    let collection = try LensCollection(payload: plain + unknown)
    #expect(collection.payload == plain + unknown)
    let lens = try #require(collection.lens(role: "rght"))
    #expect(lens.identifier == 3 && lens.algorithmKind == "????")
    let calibration = try #require(lens.calibration(width: 1000, height: 500))
    #expect(calibration.focalLengthX == 500 && calibration.focalLengthY == 500)
    #expect(calibration.principalPointX == 500 && calibration.principalPointY == 250)
  }

  @Test("shifts of any size give numbers, even if useless ones")
  func hostileShifts() throws {
    for shift in [0x7FFF_7FFF, 0x8000_8000, 0xFFFF_FFFF] as [UInt32] {
      let intrinsics = box("lnin", big(3, shift, 0x7FFF_FFFF, 1, 1, 0x8000_0000, 1, 0x7FC0_0000))
      let collection = try LensCollection(payload: box("lens", big(0) + intrinsics))
      let lens = try #require(collection.lenses.first?.calibration(width: 0, height: .infinity))
      #expect(Lens(lens, role: "mono") == nil)
    }
    #expect(throws: ISOBMFFError.self) {
      try LensCollection(payload: box("lens", big(0) + box("lnin", big(0, 0))))
    }
  }

  @Test("a vexu box with lenses, in either place, is written back byte for byte")
  func inUsage() throws {
    let lenses = LensCollection([try #require(Lens(Self.calibration, role: "mono"))])
    let own = box("lnsc", lenses.payload)
    let kind = box("prji", big(0) + Array("prim".utf8))
    let must = box("must", big(0) + Array("projlnsc".utf8))
    let places = [
      must + box("proj", kind) + own, box("proj", kind + own),
      box("proj", box("must", big(0) + Array("lnsc".utf8)) + own + kind) + box("zzzz", [5]),
    ]
    for payload in places {
      let usage = try VideoExtendedUsage(payload: payload)
      #expect(usage.payload == payload && usage.lensCollection == lenses)
      #expect(
        usage.immersiveMetadata(width: 4320, height: 4320)?.projection
          == .known(.parametric(Self.calibration)))
      // Another figure changes, the lenses stay.
      let changed = usage.updated(
        with: SpatialMetadata(heroEye: .left, projection: .parametric), packing: nil)
      #expect(try VideoExtendedUsage(payload: changed.payload).lensCollection == lenses)
    }
    let damaged = box("proj", kind) + box("lnsc", box("lens", [0]))
    let usage = try VideoExtendedUsage(payload: damaged)
    #expect(usage.payload == damaged)
    #expect(usage.immersiveMetadata(width: 1, height: 1)?.projection == .parametric)
    let made = VideoExtendedUsage.make(
      ImmersiveMetadata(.known(.parametric(Self.calibration))), pair: nil)
    #expect(try #require(made.box).payload == box("proj", kind) + own)
  }
}
