// SPDX-License-Identifier: MPL-2.0

import CGStreamer
import GStreamer
import GStreamerCheck
import StereoTestScene
import StereoVideo
import Testing

/// `stereotestsrc`: the scene in every format and packing, at the right times.
struct StereoTestSourceTests {
  private func frames(_ caps: String, _ properties: String = "num-buffers=3") async throws
    -> [PassedBuffer]
  {
    try await record(
      "stereotestsrc \(properties) ! video/x-raw\(caps) ! fakesink name=sink sync=false")[0]
  }

  @Test("by default: side by side, 960x540 per eye, I420, 30 frames per second")
  func defaults() async throws {
    let frame = try #require(try await frames("", "num-buffers=1").first)
    let caps = try #require(frame.caps.first)
    #expect(caps.string("format") == "I420")
    #expect(caps.int("width") == 1920)
    #expect(caps.int("height") == 540)
    #expect(caps.fraction("framerate") == Fraction(30, 1))
    #expect(caps.string("multiview-mode") == "side-by-side")
    #expect(caps.string("colorimetry") == "bt709")
    #expect(frame.buffer.size == 1920 * 540 * 3 / 2)
  }

  @Test("times follow the rate without drift", arguments: [(30, 1), (30000, 1001), (1, 2)])
  func times(numerator: Int32, denominator: Int32) async throws {
    let frames = try await frames(
      ",width=32,height=16,framerate=\(numerator)/\(denominator)", "num-buffers=5")
    #expect(frames.count == 5)
    for (index, frame) in frames.enumerated() {
      let start = ClockTime(index, perSecond: numerator, over: denominator)
      let end = ClockTime(index + 1, perSecond: numerator, over: denominator)
      #expect(frame.buffer.pts == start)
      #expect(frame.buffer.duration == end - start)
      #expect(frame.buffer.offset == UInt64(index))
    }
  }

  /// The luma of one eye.
  private func luma(_ eye: String) async throws -> [PassedBuffer] {
    try await frames(",format=I420,width=320,height=180,multiview-mode=\(eye)")
  }

  @Test("the landscape and the objects have the scene's disparities")
  func disparities() async throws {
    let scene = try #require(StereoTestScene(width: 320, height: 180))
    let (left, right) = (try await luma("left"), try await luma("right"))
    for (frame, pair) in zip(left, right).enumerated() {
      let (left, right) = (try pair.0.pixels(), try pair.1.pixels())
      for object in scene.objects {
        let a = scene.position(of: object, frame: frame, eye: .left)
        let b = scene.position(of: object, frame: frame, eye: .right)
        #expect(b.x - a.x == object.disparity)
        // The shift at which a patch in the middle of the object matches best.
        let best = (-24...24).min { one, two in
          func difference(_ shift: Int) -> Int {
            var sum = 0
            for y in a.y - 4...a.y + 4 {
              for x in a.x - 4...a.x + 4 {
                let (l, r) = (x, x + shift)
                guard (0..<180).contains(y), (0..<320).contains(l), (0..<320).contains(r) else {
                  continue
                }
                sum += abs(Int(left[y * 320 + l]) - Int(right[y * 320 + r]))
              }
            }
            return sum
          }
          return difference(one) < difference(two)
        }
        #expect(best == object.disparity, "\(object.name)")
      }
    }
  }

  @Test("a seek goes to the frame of that time, exactly", arguments: [0, 1, 7, 100] as [UInt64])
  func seek(frame: UInt64) async throws {
    let pipeline = try pipeline(
      "stereotestsrc ! video/x-raw,width=32,height=16 ! fakesink name=sink sync=false")
    let tap = try Tap(pipeline.element(named: "sink")?.staticPad("sink"))
    pipeline.setState(.paused)
    #expect(pipeline.waitForState())
    let start = ClockTime(frame, perSecond: 30)
    gst_element_seek(
      pipeline.pointer, 1, GST_FORMAT_TIME,
      GstSeekFlags(GST_SEEK_FLAG_FLUSH.rawValue | GST_SEEK_FLAG_ACCURATE.rawValue),
      GST_SEEK_TYPE_SET, gint64(start.nanoseconds), GST_SEEK_TYPE_SET,
      gint64(ClockTime(frame + 3, perSecond: 30).nanoseconds))
    #expect(pipeline.waitForState())
    let before = tap.buffers.count
    try await play(pipeline)
    let played = tap.buffers.dropFirst(before - 1).map(\.buffer)
    #expect(played.first?.pts == start)
    #expect(played.first?.offset == frame)
    #expect(played.map(\.offset) == [frame, frame + 1, frame + 2])
  }

  @Test("a seek backwards is refused")
  func seekBackwards() async throws {
    let pipeline = try pipeline("stereotestsrc ! video/x-raw,width=32,height=16 ! fakesink")
    pipeline.setState(.paused)
    #expect(pipeline.waitForState())
    #expect(
      gst_element_seek(
        pipeline.pointer, -1, GST_FORMAT_TIME, GST_SEEK_FLAG_FLUSH, GST_SEEK_TYPE_SET, 0,
        GST_SEEK_TYPE_SET, 1_000_000_000) == 0)
    pipeline.setState(.null)
  }

  @Test("in live mode, frames follow the clock")
  func live() async throws {
    let pipeline = try pipeline(
      "stereotestsrc is-live=true num-buffers=6 ! video/x-raw,width=32,height=16,framerate=20/1 ! "
        + "fakesink name=sink sync=false")
    let clock = TestClock()
    clock.use(by: pipeline)
    let tap = try Tap(pipeline.element(named: "sink")?.staticPad("sink"))
    pipeline.setState(.paused)
    #expect(
      gst_element_get_state(pipeline.pointer, nil, nil, 0) == GST_STATE_CHANGE_NO_PREROLL)
    pipeline.setState(.playing)
    defer { pipeline.setState(.null) }
    for frame in 0..<6 as Range<UInt64> {
      #expect(try clock.waitForPending() == frame * .second / 20)
      #expect(tap.buffers.count == Int(frame))
      try clock.crank()
    }
    try await messages(of: pipeline)
    #expect(tap.buffers.count == 6)
  }

  @Test(
    "sizes that cannot hold two equal eyes are refused with a reason",
    arguments: ["width=33,height=16", "width=16,height=16", "width=32,height=16385"])
  func sizes(size: String) async throws {
    await #expect(throws: (any Error).self) {
      try await play("stereotestsrc ! video/x-raw,\(size) ! fakesink")
    }
  }
}
