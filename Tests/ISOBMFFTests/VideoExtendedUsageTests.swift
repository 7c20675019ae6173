// SPDX-License-Identifier: MPL-2.0

import ISOBMFF
import StereoVideo
import Testing

/// A `vexu` box with more in it than is known here.
struct VideoExtendedUsageTests {
  private static func box(_ type: FourCC, _ payload: [UInt8]) -> [UInt8] {
    OpaqueBox(type, payload: payload).bytes
  }

  /// Known boxes, with unknown ones between and in them.
  private static let payload =
    box("must", [0, 0, 0, 0] + Array("eyesproj".utf8))
    + box(
      "eyes",
      box("stri", [0, 0, 0, 0, 3]) + box("zzzz", [9])
        + box("cams", box("blin", [0, 0, 0, 0, 0, 0, 0x4B, 0x28]) + box("lnsc", [7, 7])))
    + box("proj", box("prji", [0, 0, 0, 0] + Array("rect".utf8))) + box("uqua", [])

  @Test("unchanged values leave the bytes as they are")
  func unchanged() throws {
    let usage = try VideoExtendedUsage(payload: Self.payload)
    #expect(usage.updated(with: SpatialMetadata(), packing: nil) == usage)
    #expect(usage.updated(with: usage.metadata, packing: usage.packing).payload == Self.payload)
  }

  @Test("new values replace old ones, and unknown boxes keep their position")
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

  @Test("lenses replace previous ones in any position, and are removed with their projection")
  func lenses() throws {
    let (old, new) = (LensCollection([Lens(identifier: 1)]), LensCollection([Lens(identifier: 2)]))
    let unknown = Self.box("zzzz", [1])
    let parametric = SpatialMetadata(projection: .parametric)
    for isInProjection in [false, true] {
      let lenses = Self.box("lnsc", old.payload)
      let kind = Self.box("prji", [0, 0, 0, 0] + Array("prim".utf8))
      let usage = try VideoExtendedUsage(
        payload: Self.box("proj", kind + (isInProjection ? lenses : [])) + unknown
          + (isInProjection ? [] : lenses))
      #expect(usage.lensCollection == old)
      #expect(usage.updated(with: parametric, packing: nil, lenses: old) == usage)
      let changed = usage.updated(with: parametric, packing: nil, lenses: new)
      #expect(try VideoExtendedUsage(payload: changed.payload) == changed)
      #expect(changed.lensCollection == new)
      #expect(
        OpaqueBox.all(in: changed.payload).map(\.type) == ["proj", "zzzz", "lnsc"])
      let flat = usage.updated(with: SpatialMetadata(projection: .rectilinear), packing: nil)
      #expect(try VideoExtendedUsage(payload: flat.payload) == flat)
      #expect(flat.lensCollection == nil && !flat.payload.contains(Array("lnsc".utf8)))
    }
  }

  @Test(
    "an unknown box that is marked as required makes the whole unusable",
    arguments: ["", "eyes", "eyes/cams", "eyes/cmfy", "proj", "pack"])
  func must(place: String) throws {
    let known: [String: String] = [
      "": "eyes", "eyes": "stri", "eyes/cams": "blin", "eyes/cmfy": "dadj", "proj": "prji",
      "pack": "pkin",
    ]
    func payload(_ type: String) -> [UInt8] {
      let must = Self.box("must", [0, 0, 0, 0] + Array(type.utf8))
      func content(_ path: String, _ others: [UInt8]) -> [UInt8] {
        (path == place ? must : []) + others
      }
      let eyes =
        Self.box("stri", [0, 0, 0, 0, 3])
        + Self.box("cams", content("eyes/cams", Self.box("blin", [0, 0, 0, 0, 0, 0, 0x4B, 0x28])))
        + Self.box("cmfy", content("eyes/cmfy", Self.box("dadj", [0, 0, 0, 0, 0, 0, 0, 9])))
      return content(
        "",
        Self.box("eyes", content("eyes", eyes))
          + Self.box(
            "proj",
            content("proj", Self.box("prji", [0, 0, 0, 0] + Array("rect".utf8))))
          + Self.box(
            "pack",
            content("pack", Self.box("pkin", [0, 0, 0, 0] + Array("side".utf8)))))
    }
    let usage = try VideoExtendedUsage(payload: payload(try #require(known[place])))
    #expect(usage.views == [.leftEye, .rightEye])
    #expect(usage.viewPackingKind == "side")
    #expect {
      try VideoExtendedUsage(payload: payload("zzzz"))
    } throws: {
      "\($0)".contains("zzzz")
    }
  }

  @Test("boxes that cannot be interpreted are ignored in a sample entry, and kept as they are")
  func mustInMovie() throws {
    let must = Self.box("must", [0, 0, 0, 0] + Array("zzzz".utf8))
    let vexu = must + Self.box("eyes", Self.box("stri", [0, 0, 0, 0, 3]))
    var fixture = MovieFixture()
    fixture.sampleEntries = [
      ISOBMFFTests.box(
        "hvc1", Array(MovieFixture.videoEntry.dropFirst(8)), Self.box("vexu", vexu))
    ]
    let movie = try fixture.movie()
    guard case .video(let entry)? = movie.tracks.first?.sampleEntries.first else {
      Issue.record("no video")
      return
    }
    #expect(entry.extendedUsage == nil)
    #expect(entry.otherBoxes == [OpaqueBox("vexu", payload: vexu)])
    #expect(movie.issues.first?.path.hasSuffix("hvc1[0]/vexu/must") == true)
  }

  @Test("a damaged box is an error with its position")
  func damaged() {
    #expect {
      try VideoExtendedUsage(payload: Self.box("eyes", Self.box("stri", [0, 0])))
    } throws: { error in
      "\(error)".contains("stri")
    }
  }
}
