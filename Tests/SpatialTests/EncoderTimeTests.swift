// SPDX-License-Identifier: MPL-2.0

import CGStreamer
import GStreamer
import GStreamerCheck
import ISOBMFF
import StereoVideo
import TestKit
import Testing

/// What `mvhevcenc` and `mvhevcmux` make of times, requests and tags.
struct EncoderTimeTests {
  private static let frame = EncoderHarness.frameDuration

  private func segment(_ start: ClockTime, time: ClockTime, base: ClockTime = 0) -> Event {
    var segment = Segment()
    (segment.start, segment.time, segment.base) = (start, time, base)
    return .segment(segment)
  }

  /// The running times of keyframes, in frames.
  private func keyframes(_ buffers: [Buffer]) -> [UInt64] {
    buffers.filter { !$0.flags.contains(.deltaUnit) }
      .map { (($0.pts ?? 0) - 3_600_000 * .second).units(perSecond: 25) }
  }

  private func keyUnit(at time: ClockTime?) throws -> Event {
    Event(
      adopting: try #require(
        gst_video_event_new_upstream_force_key_unit(time.cValue, 1, 0)))
  }

  @Test("stream time is that of the input, also after another segment")
  func streamTime() throws {
    let harness = try EncoderHarness(["key-int-max": "100", "scene-cuts": "false"])
    harness.push(segment(10 * .second, time: 70 * .second))
    for index in 0..<12 as Range<UInt64> { try harness.push(10 * .second + index * Self.frame) }
    harness.push(segment(3 * .second, time: 20 * .second, base: 12 * Self.frame))
    for index in 0..<12 as Range<UInt64> { try harness.push(3 * .second + index * Self.frame) }
    let buffers = harness.finish()
    #expect(buffers.count == 24)
    // Where the segment changes, a keyframe begins a group.
    #expect(keyframes(buffers) == [0, 12])
    harness.noteEvents()
    let segments = harness.events.compactMap(\.segment)
    try #require(segments.count == 2)
    let times = buffers.compactMap(\.pts).sorted().enumerated().map { index, pts in
      segments[index / 12].streamTime(pts)
    }
    let starts: [ClockTime] = [70 * .second, 20 * .second]
    let expected = starts.flatMap { start in
      (0..<12 as Range<UInt64>).map { start + $0 * Self.frame }
    }
    #expect(times == expected)
    let running = buffers.compactMap(\.pts).sorted().enumerated().map { index, pts in
      segments[index / 12].runningTime(pts)
    }
    #expect(running == (0..<24).map { $0 * Self.frame })
  }

  @Test("playback at another speed keeps the stream time")
  func fastForward() throws {
    let harness = try EncoderHarness()
    var fast = Segment()
    (fast.start, fast.time, fast.segment.rate) = (0, 5 * .second, 4)
    harness.push(.segment(fast))
    for index in 0..<8 as Range<UInt64> { try harness.push(index * 4 * Self.frame) }
    let buffers = harness.finish()
    harness.noteEvents()
    let made = try #require(harness.events.compactMap(\.segment).last)
    let times = buffers.compactMap(\.pts).sorted()
    #expect(times.map { made.runningTime($0) } == (0..<8).map { $0 * Self.frame })
    #expect(
      times.map { made.streamTime($0) } == (0..<8).map { 5 * .second + $0 * 4 * Self.frame }
    )
  }

  @Test("after a seek, the output has the requested time", .tags(.long))
  func seek() async throws {
    let pipeline = try pipeline(LifeCycleTests.stream.replacing("=6", with: "=400"))
    let tap = try Tap(pipeline.element(named: "sink")?.staticPad("sink"))
    pipeline.setState(.paused)
    #expect(pipeline.waitForState())
    #expect(pipeline.seek(to: 2 * .second, flags: .accurate))
    try await play(pipeline)
    // The first keyframe after the last segment.
    var segment: Segment?
    var first: ClockTime?
    for item in tap.items {
      switch item {
      case .event(let event):
        guard let next = event.segment else { continue }
        (segment, first) = (next, nil)
      case .buffer(let passed):
        if first == nil, !passed.buffer.flags.contains(.deltaUnit) { first = passed.buffer.pts }
      }
    }
    let pts = try #require(first)
    #expect(segment?.streamTime(pts) == 2 * .second)
  }

  @Test(
    "frames with equal or earlier timestamps are dropped and counted, and recording continues")
  func lateFrames() throws {
    let harness = try EncoderHarness(caps: "framerate=0/1")
    for frame in [0, 2, 2, 1, 3, 0, 4] as [UInt64] { try harness.push(frame * Self.frame) }
    let buffers = harness.finish()
    #expect(
      buffers.compactMap(\.pts).sorted().map { ($0 - 3_600_000 * .second).units(perSecond: 25) }
        == [
          0, 2, 3, 4,
        ])
    let warnings = harness.messages().warnings
    #expect(warnings.last?.contains("are not after those of the previous pair") == true)
    #expect(warnings.last?.contains("3 so far") == true, "\(warnings)")
  }

  @Test("a source that begins again is encoded without a break, and back on its own times as well")
  func jumpBack() throws {
    let harness = try EncoderHarness(["tune": "zerolatency"])
    let starts: [ClockTime] = [100 * .second, 2 * .second, 50 * .second, 200 * .second]
    for start in starts {
      harness.left.clock.advance(to: max(start, harness.left.clock.time))
      for index in 0..<5 as Range<UInt64> { try harness.push(start + index * Self.frame) }
    }
    let times = harness.finish().compactMap(\.pts)
      .map { ($0 - 3_600_100 * .second).units(perSecond: 25) }
    // 50 s is 48 s after the second start, and 200 s is after all frames so far.
    #expect(times == Array(0..<10) + Array(1205..<1210) + Array(2500..<2505))
    let warnings = harness.messages().warnings
    #expect(
      warnings.count { $0.contains("jumped back by 98.2 s (1 times so far)") } == 1, "\(warnings)")
  }

  @Test(
    "a live source that begins again after a silence continues where it would be by now",
    arguments: [2, 7200] as [UInt64])
  func jumpWhileSilent(to seconds: UInt64) throws {
    let harness = try EncoderHarness(["tune": "zerolatency"])
    let start = 100 * ClockTime.second
    harness.left.clock.advance(to: start)
    for index in 0..<5 as Range<UInt64> { try harness.push(start + index * Self.frame) }
    // What is encoded has been taken before the clock moves on.
    let before = (0..<5).compactMap { _ in harness.left.pull() }
    harness.left.clock.advance(by: 3 * .second)
    for index in 0..<5 as Range<UInt64> {
      try harness.push(seconds * .second + index * Self.frame)
    }
    let times = (before + harness.finish()).compactMap(\.pts)
      .map { ($0 - 3_600_100 * .second).units(perSecond: 25) }
    #expect(times == Array(0..<5) + Array(79..<84))
  }

  @Test(
    "a frame without a timestamp has the other eye's time, or follows the one before it",
    arguments: [[0, 1, nil, 3, nil, nil, 6], [nil, nil, 2, 3]] as [[UInt64?]])
  func missingTimes(of frames: [UInt64?]) throws {
    for rightHasTimes in [false, true] {
      let harness = try EncoderHarness(["tune": "zerolatency"])
      for (index, frame) in frames.enumerated() {
        let told = frame.map { $0 * Self.frame }
        try harness.push(left: told, right: rightHasTimes ? UInt64(index) * Self.frame : told)
      }
      let buffers = harness.finish()
      let times = buffers.compactMap(\.pts).map {
        ($0 - 3_600_000 * .second).units(perSecond: 25)
      }
      #expect(times == Array(0..<UInt64(frames.count)))
      harness.noteEvents()
      let segment = try #require(harness.events.compactMap(\.segment).last)
      #expect(segment.streamTime(buffers[0].pts ?? 0) == 0)
      let warnings = harness.messages().warnings
      #expect(
        warnings.count { $0.contains("Frames had no timestamp (1 so far)") }
          == (rightHasTimes ? 0 : 1), "\(warnings)")
    }
  }

  @Test(
    "where one eye's source begins again alone, its frames are paired with the other's",
    arguments: ["left", "right"], ["back", "ahead"])
  func oneJumps(eye: String, direction: String) throws {
    let harness = try EncoderHarness(["tune": "zerolatency"])
    func push(_ range: Range<UInt64>, left: ClockTime, right: ClockTime) throws {
      for index in range {
        try harness.push(left: left + index * Self.frame, right: right + index * Self.frame)
      }
    }
    let start: ClockTime = 100 * .second
    try push(0..<5, left: start, right: start)
    let again: ClockTime = (direction == "back" ? 2 : 7200) * .second
    // It was away for two seconds.
    let later = start + 2 * .second
    try push(
      5..<10, left: eye == "left" ? again : later, right: eye == "right" ? again : later)
    // The clocks of both are the same again.
    try push(10..<15, left: later, right: later)
    let times = harness.finish().compactMap(\.pts)
      .map { ($0 - 3_600_100 * .second).units(perSecond: 25) }
    #expect(times == Array(0..<5) + Array(55..<65))
    let warnings = harness.messages().warnings
    #expect(
      warnings.count { $0.contains("the \(eye) eye's frames jumped \(direction)") } == 1,
      "\(warnings)")
    #expect(!warnings.contains { $0.contains("dropped") }, "\(warnings)")
  }

  @Test("frames with neither times nor a rate are an error that says what to do")
  func neitherTimesNorRate() throws {
    let harness = try EncoderHarness(caps: "framerate=0/1")
    try harness.push(left: nil, right: nil)
    _ = harness.finish()
    let errors = harness.messages().compactMap {
      if case .error(let failure) = $0.content { failure.message } else { nil }
    }
    #expect(errors.contains { $0.contains("do-timestamp=true") }, "\(errors)")
  }

  @Test("a recording of raw eyes goes on when their sources begin again")
  func recordingGoesOn() async throws {
    let folder = try TemporaryFolder()
    let eye = "videotestsrc num-buffers=40 ! video/x-raw,width=64,height=64,framerate=30/1"
    let eyes = ["left", "right"].map { eye in
      "concat name=\(eye) adjust-base=false ! queue ! mux.\(eye) "
    }
    let sources = ["left", "right"].flatMap { name in [0, 1].map { _ in "\(eye) ! \(name). " } }
    try await play(
      (eyes + sources).joined() + "mvhevcmux name=mux speed-preset=ultrafast "
        + "! filesink location=\(folder.path("a.mov"))")
    let video = try MovieFile(folder.path("a.mov")).video()
    #expect(video.allSamples.count == 80)
    #expect(Set(video.allSamples.map { $0.duration }).count == 1)
  }

  @Test("a recording goes on, with its audio, when one eye's source begins again")
  func oneEyeBeginsAgain() async throws {
    let folder = try TemporaryFolder()
    let caps = "video/x-raw,width=64,height=64,framerate=30/1"
    try await play(
      "concat name=again adjust-base=false ! queue ! mux.left "
        + "videotestsrc num-buffers=60 ! \(caps) ! again. "
        + "videotestsrc num-buffers=60 ! \(caps) ! again. "
        + "videotestsrc num-buffers=120 ! \(caps) ! queue ! mux.right "
        + "audiotestsrc num-buffers=188 ! audio/x-raw,rate=48000 ! avenc_aac ! queue ! mux.audio_0 "
        + "mvhevcmux name=mux speed-preset=ultrafast ! filesink location=\(folder.path("a.mov"))")
    let file = try MovieFile(folder.path("a.mov"))
    #expect(try file.video().allSamples.count == 120)
    #expect(try file.track("soun").samples.count >= 187)
  }

  @Test("a still picture lasts a second")
  func still() async throws {
    let harness = try EncoderHarness(caps: "framerate=0/1")
    try harness.push(0)
    #expect(harness.finish().map(\.duration) == [.second])
    let folder = try TemporaryFolder()
    for tune in ["none", "zerolatency"] {
      let source = "videotestsrc num-buffers=1 ! video/x-raw,width=64,height=64,framerate=0/1 ! "
      try await play(
        "\(source) mux.left \(source) mux.right mvhevcmux name=mux speed-preset=ultrafast "
          + "tune=\(tune) ! filesink location=\(folder.path("still.mov"))")
      let video = try MovieFile(folder.path("still.mov")).video()
      #expect(video.allSamples.map { UInt64($0.duration) } == [UInt64(video.timescale)])
    }
  }

  @Test("the last frame of a varying rate lasts as long as the one before")
  func lastFrame() throws {
    let harness = try EncoderHarness(caps: "framerate=0/1")
    for time in [0, 100, 350] as [UInt64] { try harness.push(time * ClockTime.millisecond) }
    let frames = harness.finish().sorted { $0.pts ?? 0 < $1.pts ?? 0 }
    #expect(frames.last?.duration == 250_000_000)
  }

  @Test("a keyframe requested for a later time waits for it")
  func futureKeyframe() throws {
    let harness = try EncoderHarness(["tune": "zerolatency", "scene-cuts": "false"])
    harness.left.pushUpstream(try keyUnit(at: 7 * Self.frame))
    harness.left.pushUpstream(try keyUnit(at: 4 * Self.frame - 5))
    for index in 0..<12 as Range<UInt64> { try harness.push(index * Self.frame) }
    #expect(keyframes(harness.finish()) == [0, 4, 7])
  }

  @Test("a request for a keyframe survives dropped frames")
  func droppedKeyframe() throws {
    let harness = try EncoderHarness(["tune": "zerolatency", "scene-cuts": "false"])
    try harness.push(0)
    try harness.push(Self.frame)
    // Only requests after the first pairs have passed apply to the following pairs.
    while harness.left.pull()?.pts != 3_600_000 * .second + Self.frame {}
    harness.left.pushUpstream(try keyUnit(at: nil))
    try harness.push(Self.frame)
    try harness.push(2 * Self.frame)
    try harness.push(3 * Self.frame)
    #expect(keyframes(harness.finish()) == [2])
  }

  @Test("mvhevcmux makes the requested keyframes")
  func muxKeyframes() async throws {
    let folder = try TemporaryFolder()
    let pipeline = try pipeline(
      eyes(40, "width=128,height=64,framerate=25/1")
        + "mvhevcmux name=mux speed-preset=ultrafast scene-cuts=false ! filesink location="
        + folder.path("movie.mov"))
    let mux = try #require(pipeline.element(named: "mux"))
    let pad = try #require(mux.staticPad("left"))
    pad.onEachBuffer { pad, buffer in
      guard buffer.pts == 0, let mux = gst_pad_get_parent_element(pad.pointer) else {
        return .passes
      }
      for time in [13, 22] as [GstClockTime] {
        gst_element_send_event(
          mux, gst_video_event_new_upstream_force_key_unit(time * 40_000_000, 1, 0))
      }
      gst_object_unref(mux)
      return .passes
    }
    try await play(pipeline)
    let samples = try MovieFile(folder.path("movie.mov")).video().allSamples
    #expect(samples.indices.filter { samples[$0].isSync } == [0, 13, 22])
  }

  @Test("a seek to the end is no error")
  func flushThenEnd() throws {
    let harness = try EncoderHarness()
    try harness.push(0)
    harness.push(.flushStart)
    harness.push(.flushStop())
    harness.push(segment(10 * .second, time: 10 * .second))
    _ = harness.finish()
    let errors = harness.messages().filter { if case .error = $0.content { true } else { false } }
    #expect(errors.isEmpty)
  }

  @Test("the source's codec, container and bitrate are not the output's")
  func codecTags() throws {
    let harness = try EncoderHarness()
    let tags = TagList()
    tags.set("video-codec", "Motion JPEG")
    tags.set("container-format", "Matroska")
    tags.set("encoder", "camera")
    tags.set("title", "Film")
    harness.push(.tags(tags))
    for index in 0..<4 as Range<UInt64> { try harness.push(index * Self.frame) }
    _ = harness.finish()
    let sent = try #require(harness.events.compactMap(\.tags).last)
    #expect(sent.string("title") == "Film")
    for name in ["video-codec", "container-format", "encoder"] {
      #expect(sent[name] == nil, "\(name)")
    }
  }

  @Test("quality changes while playing; an impossible change is a warning, and encoding continues")
  func changedQuality() throws {
    let harness = try EncoderHarness(["tune": "zerolatency", "quality": "12"])
    func sizes(_ frames: Range<UInt64>) throws -> [Int] {
      for index in frames { try harness.push(index * Self.frame, seed: UInt32(index)) }
      return try frames.map { _ in try #require(harness.left.pull()).size }
    }
    let fine = try sizes(0..<10).reduce(0, +)
    harness.left.element.set("quality", "40")
    let coarse = try sizes(10..<20).reduce(0, +)
    #expect(coarse * 3 < fine)
    harness.left.element.set("bitrate", "2000")
    _ = try sizes(20..<30)
    #expect(harness.messages().warnings.isEmpty)
    harness.left.element.set("max-bitrate", "1000")
    _ = try sizes(30..<40)
    #expect(harness.messages().warnings.count == 1)
    harness.left.element.set("max-bitrate", "3000")
    _ = try sizes(40..<50)
    #expect(harness.finish().isEmpty)
    #expect(harness.messages().warnings.isEmpty)
  }
}
