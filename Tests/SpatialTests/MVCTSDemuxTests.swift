// SPDX-License-Identifier: MPL-2.0

import CGStreamer
import Foundation
import GStreamer
import GStreamerCheck
import ISOBMFF
import StereoVideo
import TestElements
import TestKit
import Testing

/// `mvctsdemux` on transport streams whose views and audio come and go.
@Suite(.tags(.judge))
struct MVCTSDemuxTests {
  private let folder: TemporaryFolder

  init() throws {
    try BuiltPlugin.require()
    folder = try TemporaryFolder()
  }

  /// Writes a stream of both views with AC-3.
  ///
  /// - Parameter hasAudio: whether the audio that the program names comes.
  private func write(_ stream: MVCStream, hasAudio: Bool = true) throws -> String {
    let path = folder.path("in.m2ts")
    let sound = folder.path("sound.ac3")
    let made = try Program.run([
      "ffmpeg", "-v", "error", "-y", "-f", "lavfi", "-i", "sine=sample_rate=48000:duration=20",
      "-c:a", "ac3", "-b:a", "192k", sound,
    ])
    try #require(made.status == 0, "\(made.output)")
    let bytes = [UInt8](try Data(contentsOf: URL(filePath: sound)))
    // 32 ms of 192 kbit/s, which is about as long as a picture.
    let size = 768
    let writer = stream.transport(streams: [.base, .dependent, .ac3]) { writer, index, time in
      let frame = bytes.dropFirst(index * size).prefix(size)
      if hasAudio, frame.count == size { writer.pes(0x1100, Array(frame), pts: time) }
    }
    try Data(writer.discBytes).write(to: URL(filePath: path))
    return path
  }

  /// Demuxes and decodes, and copies both to a movie.
  private func run(_ path: String) async throws -> (video: Int, audio: Int, warnings: [String]) {
    let output = folder.path("out.mov")
    let pipeline = try pipeline(
      "filesrc location=\(path) ! mvctsdemux name=d d.video_0 ! queue ! mux. "
        + "d.audio_0 ! ac3parse ! queue ! mux. mvhevcmux name=mux "
        + "! filesink location=\(output)")
    let warnings = try await play(pipeline).warnings
    let movie = try MovieFile(output)
    return (
      try movie.video().allSamples.count, movie.tracks("soun").first?.allSamples.count ?? 0,
      warnings
    )
  }

  @Test("a second view that ends, or begins late, holds up neither pictures nor audio")
  func lateView() async throws {
    let whole = try await MVCStream.make(
      frames: 450, caps: "width=128,height=48,framerate=30/1", bFrames: 0)
    for missing in [60..<450, 0..<36] {
      var stream = whole
      for index in missing { stream.units[index].dependent = [] }
      let result = try await run(write(stream))
      #expect(result.video == 450, "\(missing)")
      #expect(result.audio >= 440, "\(missing)")
    }
  }

  @Test("keyframes without the second view do not change the format")
  func lonelyKeyframe() async throws {
    var stream = try await MVCStream.make(frames: 60)
    for index in 20..<40 { stream.units[index].dependent = [] }
    let result = try await run(write(stream))
    #expect(result.video == 60)
    let entry = try MovieFile(folder.path("out.mov")).videoEntry()
    #expect(entry.mvcC != nil)
  }

  @Test("audio that the program names and that never comes holds up nothing")
  func silentAudio() async throws {
    let stream = try await MVCStream.make(
      frames: 120, caps: "width=128,height=48,framerate=30/1", bFrames: 0)
    let path = try write(stream, hasAudio: false)
    let pipeline = try pipeline(
      "filesrc location=\(path) ! mvctsdemux name=d d.video_0 ! queue ! fakesink name=v "
        + "d.audio_0 ! queue ! fakesink name=a")
    let taps = try ["v", "a"].map { try Tap(pipeline.element(named: $0)?.staticPad("sink")) }
    try await play(pipeline)
    #expect(taps[0].buffers.count == 120)
    #expect(taps[1].buffers.isEmpty)
    #expect(taps[1].events.count { $0.type == GST_EVENT_GAP } >= 3)
    #expect(taps[1].events.contains { $0.type == GST_EVENT_SEGMENT })
  }

  @Test(
    "audio keeps its pad when a program map names another stream before it",
    arguments: [("", 4096), ("queue ! ", 1000), ("queue ! ", 1 << 20)])
  func otherMap(queue: String, size: Int) async throws {
    let stream = try await MVCStream.make(frames: 60)
    let (first, other) = (
      TransportWriter.Stream(type: 3, pid: 0x1100), TransportWriter.Stream(type: 3, pid: 0x1101)
    )
    var maps = 0
    let writer = stream.transport(streams: [.base, .dependent, first]) { writer, index, time in
      func frame(_ mark: UInt8) -> [UInt8] { [0xFF, 0xFB, 0x54, mark] }
      if index == 30 {
        writer.map(
          [.base, .dependent, other, first], version: 1, descriptors: TransportWriter.hdmv)
        maps += 1
      }
      writer.pes(0x1100, frame(1), pts: time)
      if index >= 30 { writer.pes(0x1101, frame(2), pts: time) }
    }
    let path = folder.path("in.m2ts")
    try Data(writer.discBytes).write(to: URL(filePath: path))
    let pipeline = try pipeline(
      "filesrc location=\(path) blocksize=\(size) ! \(queue)mvctsdemux name=d "
        + "d.video_0 ! queue ! fakesink "
        + "d.audio_0 ! queue ! fakesink name=a")
    let tap = try Tap(pipeline.element(named: "a")?.staticPad("sink"))
    let warnings = try await play(pipeline).warnings
    #expect(maps == 1 && tap.buffers.count == 60)
    #expect(tap.buffers.allSatisfy { $0.buffer.bytes.last == 1 })
    #expect(warnings.contains { $0.contains("begins in the middle") }, "\(warnings)")
  }

  @Test(
    "autopluggers take the demuxer for streams of two PIDs alone, pushed or pulled",
    arguments: ["", "queue ! "])
  func autoplugging(queue: String) async throws {
    let stream = try await MVCStream.make(frames: 30)
    let path = try write(stream)
    let pipeline = try pipeline(
      "filesrc location=\(path) blocksize=4096 ! \(queue)parsebin ! video/x-h264 "
        + "! mvcdec name=dec base-eye=left dec.left ! queue ! fakesink name=l "
        + "dec.right ! queue ! fakesink name=r")
    let taps = try ["l", "r"].map { try Tap(pipeline.element(named: $0)?.staticPad("sink")) }
    try await play(pipeline)
    #expect(taps.map(\.buffers.count) == [30, 30])
  }

  @Test("where the input has no random access, seeks are refused, and leave the stream as it is")
  func refusedSeeks() async throws {
    let stream = try await MVCStream.make(frames: 60)
    let path = try write(stream)
    let pipeline = try pipeline(
      "filesrc location=\(path) ! queue ! mvctsdemux ! queue ! h264parse "
        + "! fakesink name=v sync=false")
    let tap = try Tap(pipeline.element(named: "v")?.staticPad("sink"))
    defer { pipeline.setState(.null) }
    pipeline.setState(.paused)
    #expect(pipeline.waitForState())
    #expect(!pipeline.seek(to: 1_000_000_000, flags: .keyUnit))
    try await play(pipeline)
    #expect(tap.buffers.count == 60)
    #expect(!tap.events.contains { $0.type == GST_EVENT_FLUSH_START })
  }

  /// A pipeline that plays a file with both eyes, and what its sinks see.
  private func playing(_ path: String) throws -> (pipeline: Pipeline, taps: [Tap]) {
    let pipeline = try pipeline(
      "filesrc location=\(path) ! mvctsdemux name=d d.video_0 ! queue ! mvcdec name=dec "
        + "base-eye=left dec.left ! queue ! fakesink name=left sync=false "
        + "dec.right ! queue ! fakesink name=right sync=false "
        + "d.audio_0 ! queue ! fakesink sync=false")
    let taps = try ["left", "right"].map {
      try Tap(pipeline.element(named: $0)?.staticPad("sink"))
    }
    return (pipeline, taps)
  }

  @Test("a file tells its duration, and seeks show the right pictures of both eyes")
  func seeks() async throws {
    let path = try write(try await MVCStream.make(frames: 120))
    let whole = try playing(path)
    try await play(whole.pipeline)
    let pictures = try whole.taps.map { try $0.buffers.map { try $0.pixels() } }
    #expect(pictures.map(\.count) == [120, 120])
    // Stream time 0 is the first decoding time.
    let times = try whole.taps[0].buffers.map { try #require($0.runningTime) }
    let (pipeline, taps) = try playing(path)
    defer { pipeline.setState(.null) }
    pipeline.setState(.paused)
    #expect(pipeline.waitForState())
    let duration = try #require(pipeline.duration)
    let end = try #require(times.last) + ClockTime(1, perSecond: 30)
    #expect(max(duration, end) - min(duration, end) < .second / 100, "\(duration) \(end)")
    for frame in [45, 13, 119, 0, 77] {
      for (flags, expected) in [
        (SeekFlags.accurate, frame), (SeekFlags.keyUnit, frame / 15 * 15),
      ] {
        let seen = taps.map(\.buffers.count)
        #expect(pipeline.seek(to: times[frame] + 1_000_000, flags: flags))
        #expect(pipeline.waitForState())
        for (index, tap) in taps.enumerated() {
          let shown = try #require(tap.buffers.dropFirst(seen[index]).first)
          let place = try pictures[index].firstIndex(of: shown.pixels())
          #expect(place == expected, "frame \(frame) \(flags)")
        }
      }
    }
    // After a seek back, all is there again.
    let seen = taps[0].buffers.count
    #expect(pipeline.seek(to: 0, flags: .accurate))
    try await play(pipeline)
    #expect(taps[0].buffers.count - seen == 120)
  }

  @Test("a part is played up to its end, and says so if the application wants to continue")
  func part() async throws {
    let (pipeline, taps) = try playing(write(try await MVCStream.make(frames: 120)))
    defer { pipeline.setState(.null) }
    let done = Awaited(false)
    pipeline.bus.watch { message in
      if case .other("segment-done") = message.content { done.change { $0 = true } }
    }
    pipeline.setState(.paused)
    #expect(pipeline.waitForState())
    let seen = taps[0].buffers.count
    var seek = Seek()
    (seek.format, seek.flags) = (.time, [.flush, .accurate, .segment])
    (seek.start, seek.stop) = (.at(.second), .at(2 * .second))
    #expect(pipeline.send(.seek(seek)))
    #expect(pipeline.waitForState())
    pipeline.setState(.playing)
    try await done.wait(for: "the end of the segment") { $0 }
    // The demuxer is ahead of the sinks.
    for tap in taps {
      try await tap.waitForEvent("its end at the sinks") { $0.type == GST_EVENT_SEGMENT_DONE }
    }
    #expect((29...31).contains(taps[0].buffers.count - seen), "\(taps[0].buffers.count - seen)")
  }

  @Test("a file whose time stamps jump claims no duration, and plays to its end")
  func jump() async throws {
    let path = try write(try await MVCStream.make(frames: 60))
    let bytes = try Data(contentsOf: URL(filePath: path))
    // The time stamps of another recording.
    let other = try await MVCStream.make(frames: 60).transport(
      streams: [.base, .dependent], start: 90_000 * 1000)
    try (bytes + Data(other.discBytes)).write(to: URL(filePath: path))
    let (pipeline, taps) = try playing(path)
    let warnings = try await play(pipeline).warnings
    #expect(taps.map(\.buffers.count) == [120, 120])
    #expect(warnings.contains { $0.contains("jump") }, "\(warnings)")
    #expect(pipeline.duration == nil)
  }
}

/// What `mvhevcmux` takes for MVC.
struct MVCMuxTests {
  init() throws { try BuiltPlugin.require() }

  @Test(
    "H.264 that has been decoded, flattened or extracted is not MVC any more",
    arguments: [
      ("mvcflatten ! h264parse", 120), ("mvcflatten views=base ! h264parse", 60),
      ("avdec_h264 ! x264enc ! h264parse", 60),
    ])
  func plain(line: String, frames: Int) async throws {
    let folder = try TemporaryFolder()
    try await MVCStream.writeDisc(folder.path("disc"))
    try await TestMovie.play(
      "filesrc location=\(folder.path("disc.mkv")) ! matroskademux ! \(line) ! queue ! mvhevcmux "
        + "! filesink location=\(folder.path("out.mov"))")
    let movie = try MovieFile(folder.path("out.mov"))
    #expect(try movie.videoEntry().mvcC == nil)
    #expect(try movie.video().allSamples.count == frames)
  }
}
