// SPDX-License-Identifier: MPL-2.0

import CGStreamer
import Foundation
import GStreamer
import GStreamerCheck
import ISOBMFF
import StereoVideo
import TestKit
import Testing

/// `mvhevcmux` in fragments: streamed to any sink, or finished to an ordinary movie.
struct MuxFragmentTests {
  let folder: TemporaryFolder
  var path: String { folder.path("movie.mov") }

  init() throws {
    folder = try TemporaryFolder()
  }

  private static let third = "fragment-duration=333333333"

  /// Forty frames with a keyframe every tenth, and sound.
  private func movie(_ properties: String, _ sink: String, audio: Bool = true) -> String {
    eyes(40, "width=256,height=128")
      + (audio
        ? "audiotestsrc num-buffers=60 samplesperbuffer=1024 ! "
          + "audio/x-raw,rate=48000,channels=1 ! avenc_aac ! queue ! mux.audio_0 "
        : "")
      + "mvhevcmux name=mux speed-preset=ultrafast key-int-max=10 scene-cuts=false "
      + "option-string=bframes=2 quality=18 \(properties) ! \(sink)"
  }

  /// What leaves the muxer for a sink that cannot be seeked in.
  private func streamed(_ properties: String, audio: Bool = true) async throws -> [PassedBuffer] {
    let pipeline = try pipeline(movie(properties, "fakesink", audio: audio))
    let tap = try Tap(pipeline.element(named: "mux")?.staticPad("src"))
    try await play(pipeline)
    return tap.buffers
  }

  private func write(_ buffers: [PassedBuffer], _ name: String) throws -> String {
    let path = folder.path(name)
    try Data(buffers.flatMap(\.buffer.bytes)).write(to: URL(filePath: path))
    return path
  }

  private func expectSame(_ one: MovieFile, _ other: MovieFile) throws {
    for (old, new) in zip(one.movie.tracks, other.movie.tracks) {
      #expect(new.sampleEntries == old.sampleEntries)
      #expect(new.samples.count == old.samples.count)
      #expect(one.content(of: old) == other.content(of: new))
      #expect(old.presentationTimes == new.presentationTimes)
      #expect(old.allSamples.map(\.isSync) == new.allSamples.map(\.isSync))
    }
    #expect(one.movie.tracks.count == other.movie.tracks.count)
  }

  @Test(
    "a stream of fragments, for an unseekable sink, has the content of a progressive movie",
    arguments: ["mov", "mp4"])
  func streamed(container: String) async throws {
    let buffers = try await streamed("container=\(container) \(Self.third)")
    let file = try MovieFile(try write(buffers, "stream.\(container)"))
    #expect(file.movie.isFragmented)
    try await play(movie("container=\(container)", "filesink location=\(path)"))
    try expectSame(try MovieFile(path), file)
  }

  @Test(
    "an independent decoder finds both eyes in fragments", .tags(.judge), Judge.isThere,
    arguments: ["mov", "mp4", "cmaf"])
  func judged(container: String) async throws {
    let buffers = try await streamed(
      "container=\(container) \(Self.third)", audio: container != "cmaf")
    let path = try write(buffers, "stream.mp4")
    try await Judge.expectEyes(path, folder, count: 40, width: 128, height: 128)
  }

  @Test("caps have the variant and the header; buffers have their flags")
  func caps() async throws {
    let buffers = try await streamed("container=mp4 \(Self.third)")
    let caps = try #require(buffers.first?.caps.first)
    #expect(caps.string("variant") == "iso-fragmented")
    guard case .array(let headers)? = caps["streamheader"],
      case .buffer(let header)? = headers.first
    else { throw Failure("no streamheader: \(caps)") }
    #expect(header.bytes == buffers.first?.buffer.bytes)
    let starts = buffers.dropFirst().filter { $0.buffer.flags.contains(.header) }
    #expect(starts.count == 4)
    #expect(starts.allSatisfy { !$0.buffer.flags.contains(.deltaUnit) })
    #expect(
      starts.map { ($0.buffer.pts ?? 500_000).units(perSecond: 1000) } == [0, 333, 666, 1000])
    #expect(buffers.filter { $0.buffer.flags.contains(.marker) }.count == 4)
  }

  @Test(
    "fragments leave in chunks before they are whole, and hold the same samples",
    arguments: ["container=mp4", "container=cmaf"])
  func chunks(container: String) async throws {
    let isCMAF = container.contains("cmaf")
    let whole = try await streamed("\(container) \(Self.third)", audio: !isCMAF)
    let buffers = try await streamed(
      "\(container) \(Self.third) chunk-duration=99000000", audio: !isCMAF)
    let headers = buffers.dropFirst().filter { $0.buffer.flags.contains(.header) }
    // Ten pictures of a thirtieth of a second each are chunks of 3, 3, 3 and 1.
    #expect(headers.count == 16)
    let starts = headers.indices.filter { !headers[$0].buffer.flags.contains(.deltaUnit) }
    #expect(starts == [0, 4, 8, 12])
    let numbers: [UInt64?] = headers.map(\.buffer.offset)
    #expect(numbers == [1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4])
    #expect(buffers.filter { $0.buffer.flags.contains(.marker) }.count == 16)
    try expectSame(
      try MovieFile(try write(whole, "whole.mp4")), try MovieFile(try write(buffers, "chunks.mp4")))
  }

  @Test("the latency is that of a chunk, if there are chunks")
  func chunkLatency() async throws {
    for (properties, latency) in [
      ("fragment-duration=2000000000", 2000),
      ("fragment-duration=2000000000 chunk-duration=200000000", 200),
      ("fragment-duration=100000000 chunk-duration=200000000", 100),
    ] {
      let live = try LiveRun(
        "mvhevcenc name=x speed-preset=ultrafast tune=zerolatency ! mux.video_0 "
          + "mvhevcmux name=mux \(properties) ! fakesink sync=false async=false")
      defer { live.pipeline.setState(.null) }
      let mux = try #require(live.pipeline.element(named: "mux"))
      let coded = try Tap(mux.staticPad("video_0"))
      try live.start()
      live.push(0..<5)
      try await coded.waitForBuffers(1)
      let query = try #require(gst_query_new_latency())
      defer { gst_query_unref(query) }
      let source = try #require(mux.staticPad("src"))
      #expect(gst_pad_query(source.pointer, query) != 0)
      var (isLive, least, most): (gboolean, GstClockTime, GstClockTime) = (0, 0, 0)
      gst_query_parse_latency(query, &isLive, &least, &most)
      #expect(isLive != 0 && least / 1_000_000 >= UInt64(latency))
      #expect(least / 1_000_000 < UInt64(latency) + 500, "\(least)")
    }
  }

  @Test("fragments begin with requested keyframes", arguments: ["mux", "enc"])
  func keyframes(element: String) async throws {
    // What is asked of an encoder that has already taken later pictures comes late: without
    // lookahead, it takes none.
    let encoder =
      element == "mux"
      ? ""
      : "mvhevcenc name=enc speed-preset=ultrafast tune=zerolatency scene-cuts=false ! mux.video_0 "
    let pipeline = try pipeline(
      eyes(60, "width=128,height=64").replacing("mux.", with: "\(element).") + encoder
        + "mvhevcmux name=mux speed-preset=ultrafast scene-cuts=false "
        + "fragment-duration=500000000 ! fakesink")
    let tap = try Tap(pipeline.element(named: "mux")?.staticPad("src"))
    try await play(pipeline)
    let path = try write(tap.buffers, "stream.mov")
    let samples = try MovieFile(path).video().allSamples
    #expect(samples.count == 60)
    #expect(samples.indices.filter { samples[$0].isSync } == [0, 15, 30, 45])
    let starts = tap.buffers.dropFirst().filter { $0.buffer.flags.contains(.header) }
    #expect(starts.count == 4)
  }

  @Test("keyframes are requested in the encoder's times, although they jump after it")
  func keyframesAfterJump() async throws {
    let pipeline = try pipeline(
      eyes(90, "width=128,height=64").replacing("mux.", with: "enc.")
        + "mvhevcenc name=enc speed-preset=ultrafast tune=zerolatency key-int-max=1000 "
        + "scene-cuts=false ! identity name=jumps ! mux.video_0 "
        + "mvhevcmux name=mux fragment-duration=500000000 ! fakesink")
    let pad = try #require(pipeline.element(named: "jumps")?.staticPad("src"))
    let count = Locked(0)
    pad.onEachBuffer { pad, _ in
      let number = count.withLock {
        $0 += 1
        return $0
      }
      if number == 40 { pad.offset = -3_000_000_000 }
      return .passes
    }
    let tap = try Tap(pipeline.element(named: "mux")?.staticPad("src"))
    try await play(pipeline)
    let samples = try MovieFile(write(tap.buffers, "stream.mov")).video().allSamples
    #expect(samples.indices.filter { samples[$0].isSync } == [0, 15, 30, 45, 60, 75])
  }

  @Test("an application starts a fragment at a running time, and repeats the header")
  func actions() async throws {
    let pipeline = try pipeline(
      eyes(60, "width=128,height=64")
        + "mvhevcmux name=mux speed-preset=ultrafast scene-cuts=false key-int-max=250 "
        + "start-fragment-sequence-number=7 fragment-duration=500000000 ! fakesink")
    let mux = try #require(pipeline.element(named: "mux"))
    #expect(throws: ElementError.self) { try mux.emit("split-at-running-time") }
    #expect(throws: ElementError.self) { try mux.emit("pad-added", [.uint64(1)]) }
    let tap = try Tap(mux.staticPad("src"))
    // The sink holds the header up, and with it the encoder.
    pipeline.setState(.paused)
    #expect(pipeline.waitForState())
    try mux.emit("split-at-running-time", [.uint64(1_600_000_000)])
    try mux.emit("split-at-running-time", [.uint64(.max)])
    try mux.emit("send-headers")
    try await play(pipeline)
    let samples = try MovieFile(try write(tap.buffers, "stream.mov")).video().allSamples
    #expect(samples.count == 60)
    #expect(samples.indices.filter { samples[$0].isSync } == [0, 15, 30, 45, 48])
    let headers = tap.buffers.filter { $0.buffer.flags.contains(.header) }.map(\.buffer)
    // Header, fragment, header again, fragments.
    try #require(headers.count == 7)
    #expect(headers.indices.filter { headers[$0].flags.contains(.discont) } == [0, 2])
    #expect(headers[0].bytes == headers[2].bytes)
    #expect(headers.filter { !$0.flags.contains(.discont) }.map(\.offset) == [7, 8, 9, 10, 11])
  }

  @Test("at the end, the header has the movie's duration", arguments: ["rewrite", "update"])
  func headerUpdate(mode: String) async throws {
    let properties = "container=mp4 write-mehd=true header-update-mode=\(mode) \(Self.third)"
    try await play(movie(properties, "filesink location=\(path)"))
    let bytes = try [UInt8](Data(contentsOf: URL(filePath: path)))
    let box = Array("mehd".utf8)
    let places = bytes.indices.dropLast(16).filter { Array(bytes[$0..<$0 + 4]) == box }
    let place = try #require(places.first)
    #expect(places.count == 1)
    let duration = bytes[place + 8..<place + 16].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    // Forty frames, in ninety-thousandths of a second.
    #expect(duration == 120_000)
    #expect((place < 4000) == (mode == "rewrite"), "at \(place) of \(bytes.count)")
    let untouched = folder.path("untouched.mov")
    try await play(movie("container=mp4 \(Self.third)", "filesink location=\(untouched)"))
    try expectSame(try MovieFile(untouched), try MovieFile(path))
    let error = try await failure(of: movie("header-update-mode=rewrite \(Self.third)", "fakesink"))
    #expect(mode == "update" || error.message.contains("seek"), "\(error)")
  }

  @Test(
    "edit lists are written as requested, and pictures have the same times in any case",
    .tags(.judge),
    Judge.isThere,
    arguments: [
      ("container=mp4", true), ("container=mp4 write-edts-mode=never", false),
      ("container=mov write-edts-mode=never", false), ("container=cmaf", false),
      ("container=cmaf write-edts-mode=always", true),
    ])
  func editLists(properties: String, areThere: Bool) async throws {
    let buffers = try await streamed("\(properties) \(Self.third)", audio: false)
    let path = try write(buffers, "stream.mp4")
    let file = try MovieFile(path)
    #expect(try file.video().edits.isEmpty != areThere)
    try await play(movie("", "filesink location=\(self.path)", audio: false))
    let video = try file.video()
    let progressive = try MovieFile(self.path).video()
    #expect(video.presentationTimes == progressive.presentationTimes)
    // An independent reader shows each frame when it is due, from its own start time on: FFmpeg
    // begins at the first decode time if there is no edit list.
    let program = Repository.url.appending(path: "Tests/Tools/decode_views.py").path
    let times = try Python.lines([program, "--single", path]).map(\.words)
      .filter { $0.count == 3 }.compactMap { Double($0[2]) }
    #expect(times.count == 40)
    for (number, time) in times.enumerated() {
      #expect(abs((time - times[0]) / Double(video.timescale) - Double(number) / 30) < 0.001)
    }
  }

  @Test("mfra ends the file if requested")
  func randomAccess() async throws {
    let buffers = try await streamed("container=mp4 write-mfra=true \(Self.third)")
    let bytes = buffers.flatMap(\.buffer.bytes)
    #expect(FragmentRandomAccess.size(fromTail: Array(bytes.suffix(16))) != nil)
  }

  @Test("CMAF has one track, and fragments")
  func cmafErrors() async throws {
    let two = try await failure(of: movie("container=cmaf \(Self.third)", "fakesink"))
    #expect(two.message.contains("one track"), "\(two)")
    let none = try await failure(
      of: movie("container=cmaf", "filesink location=\(path)", audio: false))
    #expect(none.message.contains("fragment-duration"), "\(none)")
  }

  // MARK: Crash-safe recording

  private static let recorder = "fragment-mode=first-moov-then-finalise \(third)"

  @Test("a recording that is finished is a progressive movie", arguments: ["mov", "mp4"])
  func finalised(container: String) async throws {
    try await play(
      movie("container=\(container) \(Self.recorder)", "filesink location=\(path)"))
    let other = folder.path("progressive.\(container)")
    try await play(movie("container=\(container)", "filesink location=\(other)"))
    let file = try MovieFile(path)
    #expect(!file.movie.isFragmented)
    try expectSame(try MovieFile(other), file)
    let boxes = try topLevelBoxes(file.bytes)
    #expect(boxes == ["ftyp", container == "mov" ? "wide" : "free", "mdat", "moov"])
  }

  private func topLevelBoxes(_ bytes: [UInt8]) throws -> [String] {
    var types: [String] = []
    var place = 0
    while place + 8 <= bytes.count {
      let size = bytes[place..<place + 4].reduce(0) { $0 << 8 | Int($1) }
      types.append(String(decoding: bytes[place + 4..<place + 8], as: UTF8.self))
      try #require(size >= 8)
      place += size
    }
    return types
  }

  @Test(
    "a recording that ends anywhere plays up to its last complete fragment", .tags(.judge),
    Judge.isThere)
  func torn() async throws {
    let pipeline = try pipeline(
      movie("container=mp4 \(Self.recorder)", "filesink location=\(path)"))
    let tap = try Tap(pipeline.element(named: "mux")?.staticPad("src"))
    try await play(pipeline)
    // Without the index, and without what makes it count.
    let recorded = tap.buffers.dropLast(2).flatMap(\.buffer.bytes)
    let whole = try write(Array(tap.buffers.dropLast(2)), "recorded.mp4")
    try await Judge.expectEyes(whole, folder, count: 40, width: 128, height: 128)
    let unpatched = try write(Array(tap.buffers.dropLast()), "unpatched.mp4")
    try await Judge.expectEyes(unpatched, folder, count: 40, width: 128, height: 128)
    // Every buffer that ends a fragment is on the disk before the next one begins.
    let ends = tap.buffers.filter { $0.buffer.flags.contains(.marker) }
    #expect(ends.count == 4)
    #expect(ends.allSatisfy { $0.buffer.flags.contains(.syncAfter) })
    var starts: [Int] = []
    var place = 0
    for buffer in tap.buffers.dropLast(2) {
      if buffer.buffer.flags.contains(.header), place > 0 { starts.append(place) }
      place += buffer.buffer.size
    }
    // The first is the initialization segment.
    let fragments = starts.dropFirst()
    for cut in stride(from: recorded.count / 3, to: recorded.count, by: recorded.count / 7) {
      let torn = folder.path("torn.mp4")
      try Data(recorded.prefix(cut)).write(to: URL(filePath: torn))
      let complete = max(0, fragments.filter { $0 <= cut }.count - 1) * 10
      let shown = try await record(
        "filesrc location=\(torn) ! mvhevcdemux name=d d.left ! queue ! fakesink name=sink")
      #expect(shown[0].count >= complete, "\(cut) of \(recorded.count)")
    }
  }
}
