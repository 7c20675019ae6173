// SPDX-License-Identifier: MPL-2.0

import CGStreamer
import Foundation
import GStreamer
import GStreamerCheck
import ISOBMFF
import Reprojection
import StereoTestScene
import StereoVideo
import TestElements
import TestKit
import Testing

/// The tag `lens-calibration`: from a movie's boxes, into another's, and to what draws with it.
struct SphereLensTests {
  private static let tag = "lens-calibration"
  private let folder: TemporaryFolder

  init() throws {
    try BuiltPlugin.require()
    folder = try TemporaryFolder()
  }

  /// A lens of 150 degrees whose middle is not that of the picture.
  private func calibration(shift: Double) -> LensCalibration {
    var lens = LensCalibration(
      referenceWidth: 512, referenceHeight: 512, focalLengthX: 300, focalLengthY: 310,
      principalPointX: 256 + shift, principalPointY: 250)
    lens.projectionOffset = 1
    (lens.k1, lens.k2, lens.p1) = (-0.02, 0.001, 0.001)
    lens.radialLimit = 75
    return lens
  }

  private func tags(_ payload: [UInt8]) -> TagList {
    let tags = TagList()
    tags.set("stereo-projection", .string("parametric"))
    tags.append(Self.tag, Buffer(payload), name: "lnsc", [])
    return tags
  }

  private func lensPayload(_ path: String) throws -> [UInt8]? {
    try MovieFile(path).videoEntry().extendedUsage?.lensCollection?.payload
  }

  @Test("each eye is drawn through its own lens")
  func twoLenses() throws {
    let lenses = try [("left", -20.0), ("rght", 15)].map { role, shift in
      try #require(Lens(calibration(shift: shift), role: FourCC(exactly: role) ?? "mono"))
    }
    var frame = [UInt8](repeating: 0, count: 512 * 1024 * 4)
    for (index, eye) in Eye.allCases.enumerated() {
      let lens = try #require(lenses[index].calibration(width: 1, height: 1))
      let scene = try #require(SphereScene(.parametric(lens), width: 512, height: 512))
      try frame.withUnsafeMutableBytes { all in
        let part = UnsafeMutableRawBufferPointer(rebasing: all[(index * 512 * 512 * 4)...])
        try scene.render(eye: eye, frame: 5, into: .packed(.init(bytes: part, stride: 2048), .rgbx))
      }
    }
    for eyes in ["both", "right"] {
      let harness = try #require(Harness("sphericalview"))
      for (name, value) in [
        "n-threads": "1", "field-of-view": "70", "yaw": "8", "output-eyes": eyes,
      ] {
        harness.element.set(name, value)
      }
      harness.setSinkCaps("video/x-raw,width=320,height=\(eyes == "both" ? 400 : 200)")
      harness.play()
      harness.setSourceCaps(
        "video/x-raw,format=RGBx,width=512,height=1024,framerate=25/1,multiview-mode=top-bottom,"
          + "multiview-flags=(GstVideoMultiviewFlagsSet)0:ffffffff,pixel-aspect-ratio=1/1")
      #expect(harness.push(.tags(tags(LensCollection(lenses).payload))))
      #expect(harness.push(Buffer(frame)) == .ok)
      let drawn = try #require(harness.pull()).bytes
      let window = try PictureGeometry(
        .rectilinear(horizontalFieldOfView: 70), width: 320, height: 200)
      let turn = Rotation(view: SphereOrientation(yaw: 8))
      for (index, eye) in (eyes == "both" ? Eye.allCases : [.right]).enumerated() {
        var sum = 0.0
        for y in 0..<200 {
          for x in 0..<320 {
            let own = try #require(
              window.direction(of: PicturePosition(x: Double(x), y: Double(y))))
            let color = SphereWorld(.ahead).color(of: turn(own), eye: eye, frame: 5)
            let start = ((index * 200 + y) * 320 + x) * 4
            for (found, wanted) in zip(drawn[start...], [color.red, color.green, color.blue]) {
              let difference = Double(found) - Double(wanted)
              sum += difference * difference
            }
          }
        }
        // Through the other eye's lens it is 18 dB.
        let decibels = 10 * log10(255 * 255 * 320 * 200 * 3 / max(sum, 1))
        #expect(decibels > 24, "\(eye): \(decibels)")
      }
      // The flat view has no lens.
      var last: TagList?
      while let event = harness.tryPullEvent() { last = event.tags ?? last }
      #expect(last?.string("stereo-projection") == "rectilinear")
      #expect(last?.samples(Self.tag).isEmpty == true)
    }
  }

  @Test(
    "a movie of one eye or of a packed pair has the lenses in its boxes, and so has its copy",
    arguments: ["left", "top-bottom"])
  func coded(mode: String) async throws {
    let (path, copy) = (folder.path("a.mov"), folder.path("b.mov"))
    try await play(
      "stereotestsrc projection=parametric num-buffers=4 ! video/x-raw,format=I420,width=128,"
        + "height=\(mode == "left" ? 128 : 256),multiview-mode=\(mode) ! "
        + "x265enc speed-preset=ultrafast ! h265parse ! mux.video_0 mvhevcmux name=mux "
        + "! filesink location=\(path)")
    let entry = try MovieFile(path).videoEntry()
    #expect(entry.extendedUsage?.projectionKind == "prim")
    #expect(entry.extendedUsage?.lensCollection?.lenses.first?.referenceSize?.width == 4096)
    #expect(entry.extendedUsage?.packing?.arrangement == (mode == "left" ? nil : .topBottom))
    try await play(
      "filesrc location=\(path) ! mvhevcdemux name=d d.video_0 ! queue ! m.video_0 "
        + "mvhevcmux name=m ! filesink location=\(copy)")
    #expect(try MovieFile(copy).videoEntry() == entry)
  }

  @Test("layered, copied and encoded again, the lenses' bytes stay the same, unknown boxes too")
  func layered() async throws {
    let paths = ["a", "b", "c"].map { folder.path("\($0).mov") }
    let lens = try #require(Lens(calibration(shift: 3), role: "mono"))
    let unknown: [UInt8] = [0, 0, 0, 12] + Array("what".utf8) + [1, 2, 3, 4]
    let payload = LensCollection([lens]).payload + unknown
    let pipeline = try pipeline(
      "stereotestsrc num-buffers=4 ! video/x-raw,format=I420,width=256,height=128 ! "
        + "sbssplit name=s "
        + "s.left ! queue ! mux.left s.right ! queue ! mux.right mvhevcmux name=mux "
        + "speed-preset=ultrafast ! filesink location=\(paths[0])")
    let mux = try #require(pipeline.element(named: "mux"))
    let said = tags(payload)
    gst_tag_setter_merge_tags(
      OpaquePointer(mux.pointer), said.pointer, GST_TAG_MERGE_REPLACE)
    #expect(try await play(pipeline).warnings.isEmpty)
    #expect(try lensPayload(paths[0]) == payload)
    let entry = try MovieFile(paths[0]).videoEntry()
    #expect(entry.extendedUsage?.views == [.leftEye, .rightEye])
    #expect(entry.extendedUsage?.projectionKind == "prim")
    try await play(
      "filesrc location=\(paths[0]) ! mvhevcdemux name=d d.video_0 ! queue ! m.video_0 "
        + "mvhevcmux name=m ! filesink location=\(paths[1])")
    #expect(try MovieFile(paths[1]).videoEntry() == entry)
    try await play(
      "filesrc location=\(paths[0]) ! mvhevcdemux name=d d.video_0 ! mvhevcdec name=e "
        + "e.left ! queue ! m.left e.right ! queue ! m.right "
        + "mvhevcmux name=m speed-preset=ultrafast ! filesink location=\(paths[2])")
    #expect(try lensPayload(paths[2]) == payload)
    #expect(try MovieFile(paths[2]).videoEntry().extendedUsage?.projectionKind == "prim")
  }

  @Test("invalid lenses are an error only of elements that draw")
  func hostile() async throws {
    var huge = try #require(Lens(calibration(shift: 0), role: "mono"))
    huge.distortion?.k1 = .nan
    huge.intrinsics?.projectionOffset = .infinity
    let payloads: [[UInt8]] = [
      [], [0], [0, 0, 0, 8] + Array("lens".utf8), [255, 255, 255, 255] + Array("lens".utf8),
      [UInt8](repeating: 0, count: 100_000), LensCollection([huge]).payload,
      LensCollection([Lens()]).payload,
    ]
    for payload in payloads {
      let harness = try #require(Harness("sphericalview"))
      harness.element.set("n-threads", "1")
      harness.setSinkCaps("video/x-raw,width=64,height=36")
      harness.play()
      harness.setSourceCaps("video/x-raw,format=GRAY8,width=64,height=64,framerate=25/1")
      _ = harness.push(.tags(tags(payload)))
      #expect(harness.push(Buffer([UInt8](repeating: 9, count: 64 * 64))) != .ok)
    }
  }
}
