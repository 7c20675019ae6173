// SPDX-License-Identifier: MPL-2.0

import CGStreamer
import GStreamer
import GStreamerCheck
import StereoVideo
import TestElements
import Testing

/// `stereopack` at its pads: memory, metas, caps, tags.
struct StereoPackTests {
  private static let caps = "video/x-raw,format=I420,width=32,height=16,framerate=25/1"
  private let left: Harness
  private let right: Harness

  init() throws {
    try BuiltPlugin.require()
    left = try #require(Harness("stereopack", sinkPad: "left", sourcePad: "src"))
    right = try #require(Harness(sharing: left, sinkPad: "right", sourcePad: nil))
  }

  private func begin(_ mode: String = "side-by-side", caps: String = Self.caps) {
    left.element.setState(.null)
    left.element.set("mode", mode)
    left.play()
    for harness in [left, right] { harness.setSourceCaps(caps) }
  }

  /// A frame with rows longer than the caps say and its own noise.
  private func strided(_ seed: UInt8, at pts: ClockTime = 0) -> Buffer {
    let buffer = Buffer(
      (0..<64 * 16 * 2).map { UInt8(truncatingIfNeeded: $0 &* 7) &+ seed &* 31 })
    buffer.pts = pts
    buffer.duration = 40_000_000
    buffer.setVideoLayout(
      VideoLayout(width: 32, height: 16, offsets: [8, 1024, 1600], strides: [64, 40, 48]),
      format: VideoFormat(name: "I420"))
    return buffer
  }

  private func pixels(_ buffer: Buffer) throws -> [UInt8] {
    let caps = try #require(Caps(parsing: Self.caps))
    return try PassedBuffer(buffer: buffer, caps: caps).pixels()
  }

  @Test(
    "an eye's own frames have the layout of their caps for a peer without GstVideoMeta",
    arguments: ["left", "right", "frame-by-frame"], [false, true])
  func memory(mode: String, takesMeta: Bool) throws {
    if takesMeta { left.proposeVideoMeta() }
    begin(mode)
    let eyes = [strided(1), strided(2)]
    let expected = try eyes.map(pixels)
    let memories = eyes.map { gst_buffer_peek_memory($0.pointer, 0) }
    #expect(left.push(eyes[0]) == .ok)
    #expect(right.push(eyes[1]) == .ok)
    let places = mode == "left" ? [0] : mode == "right" ? [1] : [0, 1]
    for place in places {
      let frame = try #require(left.pull())
      #expect(try pixels(frame) == expected[place])
      if takesMeta {
        #expect(gst_buffer_peek_memory(frame.pointer, 0) == memories[place])
      } else {
        #expect(frame.size == 32 * 16 * 3 / 2)
        #expect(frame.videoLayout?.strides ?? [32, 16, 16] == [32, 16, 16])
      }
    }
  }

  @Test("a frame that is smaller than its caps is an error in every mode")
  func shortFrames() throws {
    for mode in ["left", "frame-by-frame", "side-by-side", "top-bottom"] {
      begin(mode)
      let short = Buffer([UInt8](repeating: 1, count: 700))
      short.pts = 0
      short.setVideoLayout(
        VideoLayout(width: 32, height: 16, offsets: [0, 512, 640], strides: [32, 16, 16]),
        format: VideoFormat(name: "I420"))
      let other = strided(1)
      #expect(left.push(short) == .ok)
      _ = right.push(other)
      var flow = FlowReturn.ok
      for _ in 0..<1000 where flow == .ok { flow = left.push(strided(2, at: 40_000_000)) }
      #expect(flow == .error, "\(mode)")
    }
  }

  @Test(
    "time codes, captions, reference timestamps and flags are copied; the eye's position is not")
  func metas() throws {
    for mode in ["side-by-side", "anaglyph", "left"] {
      begin(
        mode, caps: Self.caps.replacing("I420", with: mode == "anaglyph" ? "BGRx" : "I420"))
      for (harness, eye) in [(left, Eye.left), (right, Eye.right)] {
        let frame = Buffer([UInt8](repeating: 9, count: mode == "anaglyph" ? 2048 : 768))
        frame.pts = 0
        frame.flags = [.discont]
        Self.describe(frame, eye)
        #expect(harness.push(frame) == .ok)
      }
      let packed = try #require(left.pull())
      #expect(packed.flags.contains(.discont))
      #expect(Self.timeCode(packed) == 25 * 3600)
      #expect(Self.captions(packed) == [0x80, 0x80])
      #expect(Self.referenceTime(packed) == 77)
      #expect(
        eye(of: packed) == (mode == "left" ? "left" : nil), "\(mode)")
      let region = gst_video_region_of_interest_meta_api_get_type()
      #expect((gst_buffer_get_meta(packed.pointer, region) != nil) == (mode == "left"))
    }
  }

  @Test("an access unit has the metas of its picture")
  func codedMetas() throws {
    let harness = try EncoderHarness(["option-string": "bframes=3:rc-lookahead=10"])
    for index in 0..<12 {
      for (side, eye) in [(harness.left, Eye.left), (harness.right, Eye.right)] {
        let frame = Buffer([UInt8](repeating: UInt8(index * 9), count: 64 * 64 * 3 / 2))
        frame.pts = index * EncoderHarness.frameDuration
        Self.describe(frame, eye, number: UInt64(index))
        #expect(side.push(frame) == .ok)
      }
    }
    let units = harness.finish()
    #expect(units.count == 12)
    let first = try #require(units.compactMap(\.pts).min())
    for unit in units {
      let number = (try #require(unit.pts) - first).units(perSecond: 25)
      #expect(Self.referenceTime(unit) == 77 + number)
      #expect(Self.captions(unit) == [0x80, 0x80])
      #expect(Self.timeCode(unit) == 25 * 3600)
      #expect(eye(of: unit) == nil)
      #expect(unit.videoLayout == nil)
    }
  }

  @Test("both eyes change their size together")
  func changedCaps() throws {
    begin()
    for (index, size) in [32, 48, 16].enumerated() {
      for harness in [left, right] {
        if index > 0 {
          harness.setSourceCaps(Self.caps.replacing("width=32", with: "width=\(size)"))
        }
        let buffer = Buffer([UInt8](repeating: 50, count: size * 16 * 3 / 2))
        buffer.pts = index * 40 * .millisecond
        #expect(harness.push(buffer) == .ok)
      }
      let packed = try #require(left.pull())
      #expect(packed.size == size * 2 * 16 * 3 / 2)
      #expect(left.sourceCaps?.first?.int("width") == Int(size * 2))
    }
  }

  @Test(
    "a stream that is marked as the other eye causes a warning",
    arguments: [
      "stereopack", "mvhevcenc speed-preset=ultrafast",
      "mvhevcmux speed-preset=ultrafast fragment-duration=1000000000",
    ])
  func otherEye(element: String) async throws {
    for (first, second) in [("left", "right"), ("right", "left")] {
      func source(_ eye: String) -> String {
        "stereotestsrc num-buffers=3 ! "
          + "video/x-raw,format=I420,width=64,height=64,multiview-mode=\(eye) ! queue ! "
      }
      let messages = try await play(
        "\(source(first)) p.left \(source(second)) p.right \(element) name=p ! fakesink")
      #expect(messages.warnings.count == (first == "left" ? 0 : 2), "\(messages.warnings)")
      #expect(messages.warnings.allSatisfy { $0.contains("the other way round") })
    }
  }

  @Test("frames without timestamps follow those before them")
  func missingTimes() async throws {
    let pipeline = try pipeline(
      "stereotestsrc num-buffers=8 ! video/x-raw,width=64,height=32,framerate=25/1 ! "
        + "sbssplit name=s s.left ! queue ! p.left s.right ! queue ! p.right "
        + "stereopack name=p ! fakesink name=sink")
    for eye in Eye.allCases {
      let pad = try #require(pipeline.element(named: "p")?.staticPad(eye.rawValue))
      pad.addFilter(TimeRemover([0, 3, 4, 7]))
    }
    let tap = try Tap(pipeline.element(named: "sink")?.staticPad("sink"))
    let warnings = try await play(pipeline).warnings
    #expect(tap.buffers.map(\.buffer.pts) == (0..<8).map { 40 * .millisecond * $0 })
    #expect(warnings.count { $0.contains("had no timestamp (1 so far)") } == 1, "\(warnings)")
  }

  @Test("interlaced video is refused with a message", arguments: ["interleaved", "mixed"])
  func interlaced(mode: String) async throws {
    let failure = try await failure(
      of: "videotestsrc num-buffers=3 ! "
        + "video/x-raw,format=I420,width=64,height=64,interlace-mode=\(mode) ! tee name=t "
        + "t. ! queue ! p.left t. ! queue ! p.right stereopack name=p ! fakesink")
    #expect(failure.element == "p" && failure.message.contains("deinterlace"), "\(failure)")
  }

  // MARK: Metas

  private static func describe(_ frame: Buffer, _ eye: Eye, number: UInt64 = 0) {
    gst_buffer_add_video_time_code_meta_full(
      frame.pointer, 25, 1, nil, GST_VIDEO_TIME_CODE_FLAGS_NONE, 1, 0, 0, 0, 0)
    var captions: [UInt8] = [0x80, 0x80]
    gst_buffer_add_video_caption_meta(
      frame.pointer, GST_VIDEO_CAPTION_TYPE_CEA608_RAW, &captions, 2)
    let reference = gst_caps_new_empty_simple("timestamp/x-test")
    gst_buffer_add_reference_timestamp_meta(
      frame.pointer, reference, GstClockTime(77 + number), .max)
    gst_caps_unref(reference)
    gst_buffer_add_video_region_of_interest_meta(frame.pointer, "face", 1, 2, 3, 4)
    let view = CustomMeta("GstStereoViewMeta")
    view.register()
    view.set(["eye": .string(eye.rawValue)], on: frame)
  }

  private static func captions(_ buffer: Buffer) -> [UInt8]? {
    guard let meta = gst_buffer_get_meta(buffer.pointer, gst_video_caption_meta_api_get_type())
    else { return nil }
    return UnsafeMutableRawPointer(meta).withMemoryRebound(
      to: GstVideoCaptionMeta.self, capacity: 1
    ) { Array(UnsafeBufferPointer(start: $0.pointee.data, count: Int($0.pointee.size))) }
  }

  /// The frame that a buffer's time code counts; -1 without one. An optional here is compared as
  /// AnyHashable by Swift 6.3, which reads a byte too many.
  private static func timeCode(_ buffer: Buffer) -> Int {
    buffer.timeCode.map { Int($0.frame) } ?? -1
  }

  private static func referenceTime(_ buffer: Buffer) -> UInt64? {
    gst_buffer_get_reference_timestamp_meta(buffer.pointer, nil).map {
      UInt64($0.pointee.timestamp)
    }
  }

  /// The eye that a buffer's custom meta names.
  private func eye(of buffer: Buffer) -> String? {
    CustomMeta("GstStereoViewMeta").fields(of: buffer)?.string("eye")
  }
}
