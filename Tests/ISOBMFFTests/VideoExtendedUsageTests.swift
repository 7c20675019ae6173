import ISOBMFF
import StereoVideo
import Testing

/// A `vexu` box with more in it than is known here.
@Suite struct VideoExtendedUsageTests {
  private static func box(_ type: FourCC, _ payload: [UInt8]) -> [UInt8] {
    OpaqueBox(type, payload: payload).bytes
  }

  /// Known boxes, with unknown ones between and in them.
  private static let payload =
    box("must", [1, 2, 3])
    + box(
      "eyes",
      box("stri", [0, 0, 0, 0, 3]) + box("zzzz", [9])
        + box("cams", box("blin", [0, 0, 0, 0, 0, 0, 0x4B, 0x28]) + box("lnsc", [7, 7])))
    + box("proj", box("prji", [0, 0, 0, 0] + Array("rect".utf8))) + box("uqua", [])

  @Test("what says nothing new leaves the bytes as they are")
  func unchanged() throws {
    let usage = try VideoExtendedUsage(payload: Self.payload)
    #expect(usage.updated(with: SpatialMetadata(), packing: nil) == usage)
    #expect(usage.updated(with: usage.metadata, packing: usage.packing).payload == Self.payload)
  }

  @Test("what is new replaces what was there, and unknown boxes stay where they were")
  func changed() throws {
    let metadata = SpatialMetadata(
      heroEye: .right, baseline: Baseline(micrometres: 64_000), projection: .rectilinear)
    let usage = try VideoExtendedUsage(payload: Self.payload)
      .updated(with: metadata, packing: PackingLayout(.topBottom, rightViewFirst: true))
    let reread = try VideoExtendedUsage(payload: usage.payload)
    #expect(reread == usage)
    #expect(reread.metadata == metadata)
    #expect(reread.packing == PackingLayout(.topBottom, rightViewFirst: true))
    let boxes = OpaqueBox.all(in: usage.payload)
    #expect(boxes.map(\.type) == ["eyes", "proj", "pack", "must", "uqua"])
    let eyes = OpaqueBox.all(in: boxes[0].payload)
    #expect(eyes.map(\.type) == ["stri", "hero", "cams", "zzzz"])
    #expect(OpaqueBox.all(in: eyes[2].payload).map(\.type) == ["blin", "lnsc"])
  }

  @Test("a damaged box is an error that says where")
  func damaged() {
    #expect {
      try VideoExtendedUsage(payload: Self.box("eyes", Self.box("stri", [0, 0])))
    } throws: { error in
      "\(error)".contains("stri")
    }
  }
}
