// SPDX-License-Identifier: MPL-2.0

import CGStreamer
import Foundation
import GStreamer
import TestKit
import Testing

/// `mvhevchlssink` where one stream runs far ahead of the others, which wait for it in memory.
@Suite(.serialized, .tags(.realTime))
struct HLSPacingTests {
  private let folder: HLSFolder

  init() throws {
    folder = try HLSFolder()
  }

  /// What brings a stream to a pad of the sink, from any thread: no live source.
  private final class Feeder: @unchecked Sendable {
    let pad: Pad
    let sink: Pad
    private let element: Element
    private let sent = Locked(0)

    init(_ element: Element, _ name: String) throws {
      self.element = element
      pad = Pad(
        adopting: try #require(gst_object_ref_sink(gst_pad_new(nil, GST_PAD_SRC)))
          .assumingMemoryBound(to: GstPad.self))
      sink = try #require(element.requestPad(name))
      gst_pad_set_query_function_full(
        pad.pointer,
        { pad, parent, query in
          guard let query, query.pointee.type == GST_QUERY_LATENCY else {
            return gst_pad_query_default(pad, parent, query)
          }
          gst_query_set_latency(query, 0, 0, .max)
          return 1
        }, nil, nil)
      try #require(gst_pad_link(pad.pointer, sink.pointer) == GST_PAD_LINK_OK)
      pad.setActive(true)
    }

    /// - Parameter start: the timestamp of the running time 0.
    func begin(_ caps: Caps, from start: ClockTime = 0) {
      var segment = Segment()
      segment.start = start
      pad.push(.streamStart(id: sink.name))
      pad.push(.caps(caps))
      pad.push(.segment(segment))
    }

    /// How many buffers were taken.
    var count: Int { sent.current }

    /// Sound up to a time in seconds, 100 packets in each; how the last one was taken.
    @discardableResult
    func pushAudio(from start: Int = 0, to end: Int) -> FlowReturn {
      for index in start * 100..<end * 100 {
        let buffer = Buffer([UInt8](repeating: 0x21, count: 100))
        buffer.pts = ClockTime(index) * 10_000_000
        buffer.duration = 10_000_000
        let flow = pad.push(buffer)
        guard flow == .ok else { return flow }
        sent.withLock { $0 += 1 }
      }
      return .ok
    }

    /// Gives the sink's pad back.
    func release() { gst_element_release_request_pad(element.pointer, sink.pointer) }

    func push(_ buffers: [PassedBuffer]) {
      for passed in buffers { _ = pad.push(passed.buffer.copied()) }
    }
  }

  private static let audio = Caps(
    "audio/mpeg",
    [
      "mpegversion": 4, "stream-format": "raw", "rate": 48_000, "channels": 1,
      "codec_data": .buffer(Buffer([0x11, 0x88])),
    ])

  /// `seconds` of both eyes, encoded.
  private func pictures(_ seconds: Int) async throws -> [PassedBuffer] {
    let pipeline = try pipeline(
      eyes(seconds * 30, "width=256,height=128,framerate=30/1").replacing("mux.", with: "enc.")
        + "mvhevcenc name=enc speed-preset=ultrafast key-int-max=30 ! fakesink")
    let tap = try Tap(pipeline.element(named: "enc")?.staticPad("src"))
    try await play(pipeline)
    return tap.buffers
  }

  /// A sink that plays, and what feeds it.
  private func sink() throws -> (pipeline: Pipeline, video: Feeder, audio: Feeder) {
    let pipeline = try pipeline(folder.sink("playlist-type=vod target-duration=1"))
    let element = try #require(pipeline.element(named: "h"))
    let (video, audio) = (try Feeder(element, "video_0"), try Feeder(element, "audio_0"))
    pipeline.setState(.playing)
    return (pipeline, video, audio)
  }

  private func wait(
    _ what: String, seconds: Double = 20, until isDone: () -> Bool
  ) async throws {
    for _ in 0..<Int(seconds * 100) {
      if isDone() { return }
      try await Task.sleep(for: .milliseconds(10))
    }
    throw Failure("\(what) was waited for in vain")
  }

  /// Waits until `least` buffers have been taken, and then for possible further ones. Returns their
  /// number.
  private func countAtRest(_ feeder: Feeder, from least: Int) async throws -> Int {
    try await wait("buffer \(least)") { feeder.count >= least }
    try await Task.sleep(for: .milliseconds(300))
    return feeder.count
  }

  private static func run(_ body: @escaping @Sendable () -> Void) {
    Thread(block: body).start()
  }

  @Test("a stream waits for a slower one")
  func waits() async throws {
    let pictures = try await pictures(20)
    let (pipeline, video, audio) = try sink()
    defer { pipeline.setState(.null) }
    video.begin(pictures[0].caps, from: pictures[0].buffer.pts ?? 0)
    audio.begin(Self.audio)
    let flow = Locked<FlowReturn?>(nil)
    Self.run {
      let last = audio.pushAudio(to: 20)
      // After the end, the test does not wait for this thread any more.
      flow.withLock { $0 = last }
      audio.pad.push(.endOfStream)
    }
    // Ten seconds ahead of pictures that have not begun, and of those that have come.
    #expect(try await countAtRest(audio, from: 1001) == 1001)
    video.push(Array(pictures.prefix(151)))
    #expect((1490...1520).contains(try await countAtRest(audio, from: 1490)))
    video.push(Array(pictures.dropFirst(151)))
    video.pad.push(.endOfStream)
    _ = try await messages(of: pipeline)
    #expect(flow.current == .ok)
    #expect(audio.count == 2000)
    let list = try folder.text("audio_0/index.m3u8")
    #expect(list.hasSuffix("#EXT-X-ENDLIST\n"))
    let seconds = list.split(separator: "\n").compactMap {
      $0.hasPrefix("#EXTINF:") ? Double($0.dropFirst(8).prefix { $0 != "," }) : nil
    }
    #expect(abs(seconds.reduce(0, +) - 20) < 0.1, "\(list)")
  }

  @Test(
    "a waiting stream continues when the other ends or is released, and stops if it has to",
    arguments: ["end", "release", "flush", "stop", "own release"])
  func wakes(_ cause: String) async throws {
    let (pipeline, video, audio) = try sink()
    defer { pipeline.setState(.null) }
    video.pad.push(.streamStart(id: "video"))
    audio.begin(Self.audio)
    let flow = Locked<FlowReturn?>(nil)
    Self.run {
      let last = audio.pushAudio(to: 15)
      flow.withLock { $0 = last }
    }
    #expect(try await countAtRest(audio, from: 1001) == 1001)
    let start = ContinuousClock.now
    switch cause {
    case "end": video.pad.push(.endOfStream)
    case "release": video.release()
    case "flush": audio.pad.push(.flushStart)
    case "stop": pipeline.setState(.null)
    default: audio.release()
    }
    try await wait("the thread") { flow.current != nil }
    // Not only because it looks again after a while.
    #expect(ContinuousClock.now - start < .seconds(4))
    let goesOn = ["end", "release"].contains(cause)
    #expect(flow.current == (goesOn ? .ok : .flushing))
    #expect(audio.count == (goesOn ? 1500 : 1001))
  }

  @Test("a thread that delivers both streams, one far ahead, does not wait for itself")
  func oneThread() async throws {
    let pictures = try await pictures(15)
    let (pipeline, video, audio) = try sink()
    defer { pipeline.setState(.null) }
    Self.run {
      video.begin(pictures[0].caps, from: pictures[0].buffer.pts ?? 0)
      audio.begin(Self.audio)
      audio.pushAudio(to: 15)
      video.push(pictures)
      for feeder in [audio, video] { feeder.pad.push(.endOfStream) }
    }
    let messages = try await messages(of: pipeline)
    #expect(!messages.warnings.contains { $0.contains("continues and its data") })
    #expect(audio.count == 1500)
  }

  @Test("a stream that blocks the awaited one continues after a while")
  func oneBehindTheOther() async throws {
    let pictures = try await pictures(15)
    let (pipeline, video, audio) = try sink()
    defer { pipeline.setState(.null) }
    video.begin(pictures[0].caps, from: pictures[0].buffer.pts ?? 0)
    audio.begin(Self.audio)
    Self.run {
      audio.pushAudio(to: 15)
      Self.run {
        video.push(pictures)
        video.pad.push(.endOfStream)
      }
      audio.pad.push(.endOfStream)
    }
    let messages = try await messages(of: pipeline)
    let continued = messages.warnings.filter { $0.contains("continues and its data") }
    #expect(continued.count == 1, "\(messages.warnings)")
    #expect(audio.count == 1500)
  }

  @Test("data from one thread is limited in memory")
  func refuses() async throws {
    let (pipeline, video, audio) = try sink()
    defer { pipeline.setState(.null) }
    Self.run {
      video.pad.push(.streamStart(id: "video"))
      audio.begin(Self.audio)
      // The memory of one buffer, again and again.
      let large = Buffer([UInt8](repeating: 0, count: 1 << 20))
      for second in 0..<400 {
        let buffer = large.copied()
        buffer.pts = ClockTime(second) * .second
        buffer.duration = .second
        guard audio.pad.push(buffer) == .ok else { break }
      }
    }
    let failure = await #expect(throws: PipelineFailure.self) {
      try await messages(of: pipeline)
    }
    #expect(failure?.message.contains("so far ahead") ?? false, "\(String(describing: failure))")
  }
}
