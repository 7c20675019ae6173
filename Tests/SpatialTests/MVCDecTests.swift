// SPDX-License-Identifier: MPL-2.0

import CGStreamer
import Foundation
import GStreamer
import GStreamerCheck
import HEVC
import StereoVideo
import TestElements
import TestKit
import Testing

import struct FuzzTargets.SplitMix

/// `mvcdec` on the streams of `../shared/mvc-media`, which a reference encoder made.
@Suite(
  .enabled(if: MVCMedia.isThere, "the folder ../shared/mvc-media is absent"))
struct MVCDecMediaTests {
  init() throws { try BuiltPlugin.require() }

  private static let streams = MVCMedia.names

  /// Sets the number of pictures that the decoder in the bin decodes at once.
  private func setThreads(_ count: Int, of element: Element) throws {
    let decoder = element.parts.first {
      gst_element_get_factory($0.pointer).map(ElementFactory.nameOf) == "avdec_h264"
    }
    try #require(decoder, "\(element.partNames)").set("max-threads", "\(count)")
  }

  @Test(
    "both eyes are those of the reference decoder, at any chunk size, with one thread and four",
    arguments: streams, [1, 4])
  func exact(name: String, threads: Int) throws {
    let facts = try #require(MVCMedia.all[name])
    let bytes = try MVCMedia.bytes(name)
    let decoder = try StereoDecoder("mvcdec")
    try setThreads(threads, of: decoder.left.element)
    var generator = SplitMix(state: UInt64(threads))
    var chunks: [Buffer] = []
    var offset = 0
    while offset < bytes.count {
      let end = min(offset + 1 + Int(generator.next() % 5000), bytes.count)
      chunks.append(Buffer(Array(bytes[offset..<end])))
      offset = end
    }
    decoder.push(Caps("video/x-h264", ["stream-format": "byte-stream"]), chunks)
    let frames = try decoder.finish()
    for (index, eye) in Eye.allCases.enumerated() {
      let md5s = frames[eye].map { md5($0.pixels) }
      let right = zip(md5s, facts.views[index]).count { $0 == $1 }
      #expect(md5s.count == facts.views[index].count, "\(eye)")
      // Those that H.264 forbids, and one that it allows, are noticed.
      let isExact = facts.legal && name != "corner-h7-cabac-all.264"
      #expect(right >= (isExact ? md5s.count : facts.exactInPrototype[index]), "\(eye)")
    }
    #expect(frames.left.map(\.time) == frames.right.map(\.time))
  }

  @Test(
    "both eyes come out of every container",
    arguments: [
      "two.ts ! mvctsdemux", "two.ts ! parsebin", "one.ts ! mvctsdemux", "one.ts ! tsdemux",
      "one.ts ! tsdemux ! h264parse", "private.mkv ! matroskademux", "private.mkv ! parsebin",
      "mapping.mkv ! matroskademux", "mapping.mkv ! parsebin", "avc1.mp4 ! mvhevcdemux",
      "mvc1.mp4 ! mvhevcdemux",
    ])
  func containers(line: String) async throws {
    let facts = try #require(MVCMedia.all["b2-cabac.264"])
    let pipeline = try pipeline(
      "filesrc location=\(MVCMedia.folder.path)/b2-cabac-\(line) ! queue ! mvcdec name=dec "
        + "dec.left ! queue ! fakesink name=left dec.right ! queue ! fakesink name=right")
    let taps = try ["left", "right"].map {
      try Tap(pipeline.element(named: $0)?.staticPad("sink"))
    }
    try await play(pipeline)
    for (index, tap) in taps.enumerated() {
      #expect(try tap.frames().map { md5($0.pixels) } == facts.views[index])
    }
    let times = try taps.map { try $0.frames().map(\.time) }
    #expect(times[0] == times[1])
    #expect(
      !times[0].contains(nil) && times[0].map { $0 ?? 0 } == times[0].map { $0 ?? 0 }.sorted())
  }

  /// Tells the decoder in a player which eye to decode, as an application does.
  private func ask(for eye: String, _ player: Pipeline) {
    let callback:
      @convention(c) (
        UnsafeMutableRawPointer?, UnsafeMutableRawPointer?, UnsafeMutablePointer<GstElement>?,
        gpointer?
      ) -> Void = { _, _, element, eye in
        guard let element, let eye,
          gst_element_get_factory(element).map(ElementFactory.nameOf) == "mvcautodec"
        else { return }
        gst_util_set_object_arg(
          UnsafeMutableRawPointer(element).assumingMemoryBound(to: GObject.self), "eye",
          eye.assumingMemoryBound(to: CChar.self))
      }
    g_signal_connect_data(
      UnsafeMutableRawPointer(player.pointer), "deep-element-added",
      unsafeBitCast(callback, to: GCallback.self), g_strdup(eye), { data, _ in g_free(data) },
      GConnectFlags(rawValue: 0))
  }

  @Test(
    "decodebin3 decodes the eye that is asked for",
    arguments: ["two.ts", "mapping.mkv"], ["none", "left", "right"])
  func autoplugged(file: String, eye: String) async throws {
    let facts = try #require(MVCMedia.all["b2-cabac.264"])
    let pipeline = try pipeline(
      "filesrc location=\(MVCMedia.folder.path)/b2-cabac-\(file) ! decodebin3 ! fakesink name=sink")
    ask(for: eye, pipeline)
    let tap = try Tap(pipeline.element(named: "sink")?.staticPad("sink"))
    try await play(pipeline)
    #expect(try tap.frames().map { md5($0.pixels) } == facts.views[eye == "right" ? 1 : 0])
  }

  @Test("what is not exact, and what is illegal, is said")
  func warnings() async throws {
    for (name, words) in [
      "b2-implicit.264": "implicit weights", "b2-temporal.264": "temporal direct",
      "corner-h7-cabac-all.264": "still in use",
    ] {
      let pipeline = try pipeline(
        "filesrc location=\(MVCMedia.folder.path)/\(name) ! typefind ! mvcdec name=dec "
          + "base-eye=left dec.left ! queue ! fakesink dec.right ! queue ! fakesink")
      pipeline.setState(.playing)
      let warnings = try await messages(of: pipeline).warnings
      pipeline.setState(.null)
      #expect(warnings.contains { $0.contains(words) }, "\(name): \(warnings)")
      #expect(!warnings.contains { $0.contains("does not say which eye") })
    }
  }
}

/// `mvcdec` and `mvcflatten` on streams made of two plain ones.
struct MVCDecTests {
  init() throws { try BuiltPlugin.require() }

  private static let caps = Caps(
    "video/x-h264", ["stream-format": "byte-stream", "alignment": "au"])

  private func buffers(_ stream: MVCStream) -> [Buffer] {
    zip(stream.units, stream.accessUnits).enumerated().map { index, unit in
      let buffer = Buffer(unit.1)
      (buffer.pts, buffer.dts, buffer.duration) = (unit.0.pts, unit.0.dts, .second / 30)
      buffer.flags = unit.0.isKeyframe ? [] : .deltaUnit
      if index == 0 { buffer.flags.insert(.discont) }
      return buffer
    }
  }

  /// The pictures of a plain stream.
  private func decoded(_ bytes: [UInt8]) throws -> [[UInt8]] {
    let harness = try #require(Harness("avdec_h264"))
    harness.proposeVideoMeta()
    harness.setSourceCaps("video/x-h264,stream-format=byte-stream,alignment=au")
    for unit in accessUnits(bytes) { _ = harness.push(Buffer(unit)) }
    harness.push(.endOfStream)
    var pictures: [[UInt8]] = []
    while let buffer = harness.tryPull() {
      let caps = try #require(harness.sourceCaps)
      pictures.append(try PassedBuffer(buffer: buffer, caps: caps).pixels())
    }
    return pictures
  }

  private func nalUnits(_ bytes: [UInt8]) -> [[UInt8]] {
    AnnexB.nalUnits(in: bytes.span.bytes).map { Array(bytes[$0]) }
  }

  /// The access units of a stream that has delimiters.
  private func accessUnits(_ bytes: [UInt8]) -> [[UInt8]] {
    var units: [[UInt8]] = []
    var start = 0
    for index in bytes.indices.dropLast(4)
    where bytes[index..<index + 5].elementsEqual([0, 0, 0, 1, 9]) && index > start {
      units.append(Array(bytes[start..<index]))
      start = index
    }
    return units + [Array(bytes[start...])]
  }

  @Test("both eyes are those of the two streams, at the times of their access units")
  func woven() async throws {
    let stream = try await MVCStream.make()
    let decoder = try StereoDecoder("mvcdec")
    decoder.push(Self.caps, buffers(stream))
    #expect(decoder.flows.allSatisfy { $0 == .ok })
    let frames = try decoder.finish()
    for (index, eye) in Eye.allCases.enumerated() {
      #expect(frames[eye].map(\.pixels) == (try decoded(stream.eyes[index])), "\(eye)")
      #expect(frames[eye].map(\.time) == stream.units.map(\.pts).sorted(), "\(eye)")
    }
  }

  @Test("a decoder with limits is told the size and profile of a stream without a parser")
  func limits() async throws {
    let stream = try await MVCStream.make()
    try await OtherDecoder.limitedAVC.asHighest {
      let decoder = try StereoDecoder("mvcdec")
      decoder.push(Caps("video/x-h264", ["stream-format": "byte-stream"]), buffers(stream))
      #expect(decoder.flows.allSatisfy { $0 == .ok })
      #expect(decoder.decoderNames.contains(OtherDecoder.limitedAVC.rawValue))
      let frames = try decoder.finish()
      for (index, eye) in Eye.allCases.enumerated() {
        #expect(frames[eye].map(\.pixels) == (try decoded(stream.eyes[index])), "\(eye)")
      }
    }
  }

  @Test("base-eye swaps the eyes, and view selects one", arguments: ["left", "right", "base"])
  func views(view: String) async throws {
    let stream = try await MVCStream.make(frames: 20)
    let pictures = try stream.eyes.map(decoded)
    for baseEye in Eye.allCases {
      let decoder = try StereoDecoder(
        "mvcdec", view: view, settings: ["base-eye": baseEye.rawValue])
      decoder.push(Self.caps, buffers(stream))
      let frames = try decoder.finish()
      let wanted = Eye(rawValue: view) ?? baseEye
      #expect(frames[wanted].map(\.pixels) == pictures[wanted == baseEye ? 0 : 1])
      #expect(frames[wanted.other].isEmpty)
      #expect(decoder.events(wanted.other).contains { $0.type == GST_EVENT_EOS })
    }
  }

  @Test("missing pictures of one eye leave gaps, and the other eye as it is")
  func lost() async throws {
    let stream = try await MVCStream.make()
    var damaged = stream
    for index in 20..<28 { damaged.units[index].dependent = [] }
    let decoder = try StereoDecoder("mvcdec")
    decoder.push(Self.caps, buffers(damaged))
    let frames = try decoder.finish()
    #expect(frames.left.map(\.pixels) == (try decoded(stream.eyes[0])))
    let gaps = decoder.events(.right).filter { $0.type == GST_EVENT_GAP }
    #expect(gaps.count >= 8 && gaps.count + frames.right.count == 60)
    // From the next keyframe on, both are whole again.
    let right = try decoded(stream.eyes[1])
    #expect(frames.right.suffix(30).map(\.pixels) == right.suffix(30))
  }

  @Test("a segment that is only known better does not interrupt decoding")
  func segmentUpdate() async throws {
    let stream = try await MVCStream.make(frames: 30)
    let decoder = try StereoDecoder("mvcdec")
    let units = buffers(stream)
    decoder.push(Self.caps, Array(units.prefix(7)))
    // As matroskademux sends one when it has found the first cluster.
    var segment = Segment()
    segment.duration = 1_000_000_000
    decoder.left.push(Event.segment(segment))
    decoder.push(Array(units.dropFirst(7)))
    let frames = try decoder.finish()
    #expect(frames.left.count == 30 && frames.right.count == 30)
  }

  @Test("after a flush in the middle, decoding goes on with the next keyframe")
  func flush() async throws {
    let stream = try await MVCStream.make()
    let decoder = try StereoDecoder("mvcdec")
    let units = buffers(stream)
    decoder.push(Self.caps, Array(units.prefix(22)))
    _ = try decoder.taken()
    decoder.left.push(Event.flushStart)
    decoder.left.push(Event.flushStop())
    decoder.left.push(Event.segment(Segment()))
    decoder.push(Array(units.dropFirst(22)))
    let frames = try decoder.finish()
    for (index, eye) in Eye.allCases.enumerated() {
      #expect(frames[eye].map(\.pixels) == (try decoded(stream.eyes[index]).suffix(30)), "\(eye)")
    }
  }

  @Test("seeks to every keyframe of a disc's movie show that frame", .tags(.long))
  func seeks() async throws {
    let folder = try TemporaryFolder()
    let stream = try await MVCStream.make()
    try await MVCStream.writeDisc(folder.path("disc"))
    let pictures = try stream.eyes.map(decoded)
    let pipeline = try pipeline(
      "filesrc location=\(folder.path("disc.mkv")) ! matroskademux ! queue ! mvcdec name=dec "
        + "base-eye=left dec.left ! queue ! fakesink name=left sync=false "
        + "dec.right ! queue ! fakesink name=right sync=false")
    let taps = try ["left", "right"].map {
      try Tap(pipeline.element(named: $0)?.staticPad("sink"))
    }
    defer { pipeline.setState(.null) }
    pipeline.setState(.paused)
    #expect(pipeline.waitForState())
    let start = try #require(taps[0].buffers.first?.buffer.pts)
    for frame in [45, 15, 30, 0] {
      let seen = taps.map(\.buffers.count)
      let time = start + ClockTime(UInt64(frame), perSecond: 30)
      #expect(pipeline.seek(to: time + 1_000_000, flags: .keyUnit))
      #expect(pipeline.waitForState())
      for (index, tap) in taps.enumerated() {
        let shown = try #require(tap.buffers.dropFirst(seen[index]).first)
        #expect(try shown.pixels() == pictures[index][frame], "frame \(frame)")
      }
    }
  }

  // MARK: mvcflatten

  @Test("flattened, the eyes alternate in time, and any decoder shows them one after the other")
  func flattened() async throws {
    let stream = try await MVCStream.make(frames: 24)
    let harness = try #require(Harness("mvcflatten"))
    harness.setSourceCaps(
      "video/x-h264,stream-format=byte-stream,alignment=au,framerate=30/1")
    for buffer in buffers(stream) { _ = harness.push(buffer) }
    harness.push(.endOfStream)
    var units: [Buffer] = []
    while let buffer = harness.tryPull() { units.append(buffer) }
    let caps = try #require(harness.sourceCaps?.first)
    #expect(caps.fraction("framerate") == Fraction(60, 1))
    #expect(caps.string("multiview-mode") == "frame-by-frame")
    let times = units.compactMap(\.pts).sorted()
    #expect(times.count == 48)
    #expect(
      zip(times.dropFirst(), times).allSatisfy { $0 - $1 > 16_000_000 && $0 - $1 < 17_000_000 })
    let pictures = try decoded(units.flatMap(\.bytes))
    let eyes = try stream.eyes.map(decoded)
    #expect(pictures == (0..<24).flatMap { [eyes[0][$0], eyes[1][$0]] })
  }

  @Test("one view alone is extracted: the base byte for byte, the other one if it stands alone")
  func extracted() async throws {
    let stream = try await MVCStream.make(frames: 24)
    for (views, index) in [("base", 0), ("dependent", 1)] {
      let harness = try #require(Harness("mvcflatten"))
      harness.element.setState(.null)
      harness.element.set("views", views)
      harness.play()
      harness.setSourceCaps("video/x-h264,stream-format=byte-stream,alignment=au")
      for buffer in buffers(stream) { _ = harness.push(buffer) }
      harness.push(.endOfStream)
      var bytes: [UInt8] = []
      while let buffer = harness.tryPull() { bytes += buffer.bytes }
      // The views share their PPSs.
      let others = [nalUnits(bytes), nalUnits(stream.eyes[0])].map { $0.filter { $0[0] & 31 != 8 } }
      if views == "base" { #expect(others[0] == others[1]) }
      #expect(try decoded(bytes) == decoded(stream.eyes[index]))
    }
  }

  @Test("plain H.264 goes on alone, with a word")
  func plain() async throws {
    let stream = try await MVCStream.make(frames: 20)
    let decoder = try StereoDecoder("mvcdec")
    decoder.push(Self.caps, accessUnits(stream.eyes[0]).map { Buffer($0) })
    let frames = try decoder.finish()
    #expect(frames.left.count == 20 && frames.right.isEmpty)
    let gaps = decoder.events(.right).filter { $0.type == GST_EVENT_GAP }
    #expect(gaps.count == 20)
  }
}
