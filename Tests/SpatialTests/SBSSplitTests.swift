// SPDX-License-Identifier: MPL-2.0

import CGStreamer
import GStreamer
import GStreamerCheck
import StereoVideo
import TestElements
import Testing

/// `sbssplit` in whole pipelines: which pixels, caps and times each eye gets.
struct SBSSplitTests {
  static let formats = [
    "I420", "NV12", "I420_10LE", "RGB", "BGR", "RGBx", "BGRx", "xRGB", "xBGR",
  ]

  /// The two eyes of a packed stream.
  private func split(
    _ source: String, _ properties: String = "", takingReferences: Bool = false
  ) async throws -> (left: [PassedBuffer], right: [PassedBuffer]) {
    let eyes = try await record(
      "\(source) ! sbssplit name=s \(properties) "
        + "s.left ! fakesink name=left async=false s.right ! fakesink name=right async=false",
      sinks: ["left", "right"], takingReferences: takingReferences)
    return (eyes[0], eyes[1])
  }

  /// One eye as the source draws it alone.
  private func alone(_ eye: String, _ caps: String, count: Int = 2) async throws -> [[UInt8]] {
    try await record(
      "stereotestsrc num-buffers=\(count) ! video/x-raw,\(caps),multiview-mode=\(eye) ! "
        + "fakesink name=sink")[0].map { try $0.pixels() }
  }

  private static func cases() -> [(layout: String, size: String, format: String)] {
    [("side-by-side", "width=104,height=32"), ("top-bottom", "width=52,height=64")].flatMap {
      layout in formats.map { (layout.0, layout.1, $0) }
    } + ["I420", "NV12", "RGB"].map { ("frame-by-frame", "width=52,height=32", $0) }
  }

  @Test(
    "each eye has the pixels that the source draws for it alone, as a reference and as a copy",
    arguments: cases())
  func pixels(layout: String, size: String, format: String) async throws {
    let frames = layout == "frame-by-frame" ? 4 : 2
    let source =
      "stereotestsrc num-buffers=\(frames) ! "
      + "video/x-raw,format=\(format),\(size),multiview-mode=\(layout)"
    let expected = try await [
      alone("left", "format=\(format),width=52,height=32"),
      alone("right", "format=\(format),width=52,height=32"),
    ]
    for takingReferences in [true, false] {
      let (left, right) = try await split(source, takingReferences: takingReferences)
      #expect(try left.map { try $0.pixels() } == expected[0])
      #expect(try right.map { try $0.pixels() } == expected[1])
    }
    #expect(expected[0] != expected[1])
  }

  @Test("the flags right-view-first and half-aspect of caps hold, and those of the property")
  func flags() throws {
    try BuiltPlugin.require()
    for (bits, flags, firstEye, par) in [
      ("1", "right-view-first", "right", Fraction(1, 1)),
      ("4000", "half-aspect", "left", Fraction(2, 1)),
      ("4001", "right-view-first+half-aspect", "right", Fraction(2, 1)),
    ] {
      for isOverride in [false, true] {
        let harness = try #require(Harness("sbssplit", sourcePad: firstEye))
        let caps = "video/x-raw,format=GRAY8,width=12,height=1,framerate=25/1"
        if isOverride {
          harness.element.set("input-mode-override", "side-by-side")
          harness.element.set("input-flags-override", flags)
        }
        harness.play()
        harness.setSourceCaps(
          isOverride
            ? caps
            : caps + ",multiview-mode=side-by-side,"
              + "multiview-flags=(GstVideoMultiviewFlagsSet)\(bits):ffffffff")
        #expect(harness.push(Buffer([UInt8](0..<12))) == .ok)
        let buffer = try #require(harness.pull())
        let eye = PassedBuffer(buffer: buffer, caps: try #require(harness.sourceCaps))
        #expect(try eye.pixels() == [0, 1, 2, 3, 4, 5])
        #expect(eye.caps.first?.string("multiview-mode") == firstEye)
        #expect(eye.caps.first?.fraction("pixel-aspect-ratio") == par)
      }
    }
  }

  @Test(
    "the packing comes from caps, the property or the aspect ratio",
    arguments: [
      // The source's caps, the property, and an eye's size and pixel aspect ratio.
      ("width=640,height=180,multiview-mode=mono", "", 320, 180, 1, 1),
      ("width=320,height=180,multiview-mode=mono", "", 160, 180, 2, 1),
      ("width=320,height=360,multiview-mode=mono", "", 320, 180, 1, 1),
      ("width=640,height=180", "", 320, 180, 1, 1),
      ("width=320,height=180", "input-mode-override=side-by-side", 160, 180, 2, 1),
      (
        "width=640,height=180",
        "input-mode-override=side-by-side input-flags-override=half-aspect", 320, 180, 2, 1
      ),
      ("width=320,height=180", "input-mode-override=top-bottom", 320, 90, 1, 2),
      ("width=640,height=180", "input-mode-override=side-by-side", 320, 180, 1, 1),
      ("width=320,height=360", "input-mode-override=top-bottom", 320, 180, 1, 1),
      (
        "width=320,height=180,pixel-aspect-ratio=4/1",
        "input-mode-override=side-by-side", 160, 180, 4, 1
      ),
    ] as [(String, String, Int, Int, Int32, Int32)])
  func layouts(
    caps: String, property: String, width: Int, height: Int, parNumerator: Int32,
    parDenominator: Int32
  ) async throws {
    let (left, right) = try await split(
      "videotestsrc num-buffers=1 ! video/x-raw,\(caps)", property)
    for (eye, frames) in [("left", left), ("right", right)] {
      let caps = try #require(frames.first?.caps.first)
      #expect(caps.int("width") == width)
      #expect(caps.int("height") == height)
      #expect(caps.fraction("pixel-aspect-ratio") == Fraction(parNumerator, parDenominator))
      #expect(caps.string("multiview-mode") == eye)
      #expect(!caps.has("multiview-flags"))
      #expect(!caps.has("views"))
    }
  }

  @Test("frame by frame, both eyes get the first frame's time and half the rate")
  func frameByFrameTimes() async throws {
    let (left, right) = try await split(
      "stereotestsrc num-buffers=6 ! "
        + "video/x-raw,width=32,height=32,framerate=50/1,multiview-mode=frame-by-frame")
    for frames in [left, right] {
      #expect(frames.map { $0.buffer.pts } == [0, 40_000_000, 80_000_000])
      #expect(frames.allSatisfy { $0.buffer.duration == 40_000_000 })
      #expect(frames.first?.caps.first?.fraction("framerate") == Fraction(25, 1))
      #expect(
        frames.allSatisfy { $0.buffer.flags.isDisjoint(with: [.multipleView, .firstInBundle]) })
    }
  }

  @Test("frame by frame, a lost frame does not make the eyes change places", arguments: 0..<6)
  func frameByFrameLoss(lost: UInt64) throws {
    try BuiltPlugin.require()
    let harness = try #require(Harness("sbssplit", sourcePad: "left"))
    let right = try #require(Harness(sharing: harness, sourcePad: "right"))
    harness.play()
    harness.setSourceCaps(
      "video/x-raw,format=GRAY8,width=4,height=4,framerate=50/1,multiview-mode=frame-by-frame")
    for number in 0..<8 as Range<UInt64> where number != lost {
      let frame = Buffer([UInt8](repeating: UInt8(number), count: 16))
      frame.pts = number * 20 * .millisecond
      frame.duration = 20_000_000
      frame.flags = number.isMultiple(of: 2) ? [.multipleView, .firstInBundle] : .multipleView
      #expect(harness.push(frame) == .ok)
    }
    for (eye, start) in [(harness, 0 as UInt64), (right, 1)] {
      let expected = (0..<4).map { start + 2 * $0 }.filter { $0 != lost }
      for number in expected {
        let frame = try #require(eye.tryPull())
        #expect(frame.bytes.first == UInt8(number))
        #expect(frame.pts == number / 2 * 40 * .millisecond)
      }
      #expect(eye.tryPull() == nil)
    }
  }

  static let allFormats = [
    "I420", "YV12", "NV12", "NV21", "Y42B", "Y444", "Y41B", "YUY2", "UYVY", "YVYU", "AYUV", "GRAY8",
    "GRAY16_LE", "RGB", "BGRA", "xRGB", "RGB16", "RGB15", "GBR", "A420", "I420_10LE", "I422_10LE",
    "v210", "UYVP", "IYU1", "NV12_64Z32", "NV12_4L4", "GRAY10_LE32", "NV12_10LE32", "RGB8P",
  ]

  @Test(
    "each format is cut as videocrop cuts it, or refused by a message",
    arguments: allFormats, [72, 74])
  func formats(format: String, width: Int) async throws {
    let source =
      "videotestsrc num-buffers=1 pattern=zone-plate kx2=20 ky2=20 ! "
      + "video/x-raw,format=\(format),width=\(width),height=20"
    let eyes: (left: [PassedBuffer], right: [PassedBuffer])
    do {
      eyes = try await split(source, "input-mode-override=side-by-side")
    } catch let failure as PipelineFailure {
      #expect(failure.message.contains("cannot be cut"), "\(failure)")
      #expect(failure.message.contains(format))
      return
    }
    let references = try await split(
      source, "input-mode-override=side-by-side", takingReferences: true)
    let half = width / 2
    for (first, second, crop) in [
      (eyes.left, references.left, "right=\(half)"), (eyes.right, references.right, "left=\(half)"),
    ] {
      let cropped = try await record("\(source) ! videocrop \(crop) ! fakesink name=sink")[0]
      let expected = try #require(cropped.first).pixels()
      #expect(try first.first?.pixels() == expected)
      #expect(try second.first?.pixels() == expected)
    }
  }
}
