// SPDX-License-Identifier: MPL-2.0

import CGStreamer
import Foundation
import GStreamer
import GStreamerCheck
import StereoVideo
import TestKit
import Testing

/// `mvhevchlssink` while one stream runs far ahead of the others, which wait for it in memory.
@Suite(.checkedStreams)
struct HLSPacingTests {
  private let folder: HLSFolder

  init() throws {
    folder = try HLSFolder()
  }

  /// A sink that plays, and what feeds it, which can wait.
  private struct Run {
    let pipeline: Pipeline
    let video: TestSource
    let audio: TestSource
    /// The number of pictures that have been brought or are about to be.
    let begun = Locked(0)

    init(_ folder: HLSFolder) throws {
      pipeline = try SpatialTests.pipeline(folder.sink("playlist-type=vod target-duration=1"))
      let element = pipeline.element(named: "h")
      video = try TestSource(feeding: element, "video_0", isLive: false)
      audio = try TestSource(feeding: element, "audio_0", isLive: false)
      pipeline.setState(.playing)
    }

    func begin(_ pictures: [PassedBuffer]) {
      video.begin(pictures)
      audio.begin(HLSFolder.audioCaps)
    }

    func push(_ pictures: some Sequence<PassedBuffer>) {
      for picture in pictures {
        begun.withLock { $0 += 1 }
        video.push(picture.buffer.copied())
      }
    }
  }

  @Test("a stream waits for a slower one")
  func waits() async throws {
    let pictures = try await HLSFolder.pictures(20)
    let run = try Run(folder)
    defer { run.pipeline.setState(.null) }
    run.begin(pictures)
    // How many pictures had come, or were about to, when each packet was taken.
    let known = Locked([Int]())
    run.audio.run { audio in
      for packet in HLSFolder.packets(0..<2000) where audio.push(packet) == .ok {
        known.withLock { $0.append(run.begun.current) }
      }
      audio.end()
    }
    // Ten seconds ahead of pictures that have not begun, and of those that have come.
    try await run.audio.waitForTaken(1001)
    run.push(pictures.prefix(151))
    try await run.audio.waitForTaken(1490)
    run.push(pictures.dropFirst(151))
    run.video.end()
    _ = try await messages(of: run.pipeline)
    try await run.audio.waitForRuns()
    #expect(known.current.count == 2000)
    for (packet, pictures) in known.current.enumerated() {
      #expect(Double(packet) / 100 <= 10.04 + Double(pictures) / 30)
    }
    let list = try folder.text("audio_0/index.m3u8")
    #expect(list.hasSuffix("#EXT-X-ENDLIST\n"))
    let seconds = list.split(separator: "\n").compactMap {
      $0.hasPrefix("#EXTINF:") ? Double($0.dropFirst(8).prefix { $0 != "," }) : nil
    }
    #expect(abs(seconds.reduce(0, +) - 20) < 0.1, "\(list)")
  }

  @Test(
    "what waits continues when the other ends or is given back, and stops when it has to",
    arguments: ["end", "release", "flush", "stop", "own release"])
  func wakes(_ cause: String) async throws {
    let run = try Run(folder)
    defer { run.pipeline.setState(.null) }
    let warnings = Locked([String]())
    run.pipeline.bus.watch { message in
      guard case .warning(let said) = message.content else { return }
      warnings.withLock { $0.append(said.message) }
    }
    run.video.push(.streamStart(id: "video"))
    run.audio.begin(HLSFolder.audioCaps)
    let arrivals = Awaited(0)
    run.audio.sink.onEachBuffer { _, _ in
      arrivals.change { $0 += 1 }
      return .passes
    }
    run.audio.run { $0.push(HLSFolder.packets(0..<1500)) }
    // Packet 1002 has come to the pad, and waits there.
    try await arrivals.wait(for: "packet 1002") { $0 == 1002 }
    var looks = 0
    try await eventually("a thread that waits") {
      looks = run.audio.isWaiting ? looks + 1 : 0
      return looks == 3
    }
    #expect(run.audio.takenCount == 1001)
    let element = try #require(run.pipeline.element(named: "h"))
    switch cause {
    case "end": run.video.end()
    case "release": gst_element_release_request_pad(element.pointer, run.video.sink.pointer)
    case "flush": run.audio.push(.flushStart)
    case "stop": run.pipeline.setState(.null)
    default: gst_element_release_request_pad(element.pointer, run.audio.sink.pointer)
    }
    try await run.audio.waitForRuns()
    let continues = ["end", "release"].contains(cause)
    #expect(run.audio.lastFlow == (continues ? .ok : .flushing))
    switch cause {
    case "end", "release": #expect(run.audio.takenCount == 1500)
    // Its pads stop one after the other.
    case "stop": #expect((1001..<1500).contains(run.audio.takenCount))
    default: #expect(run.audio.takenCount == 1001)
    }
    // Woken, not tired of waiting.
    #expect(warnings.current.isEmpty)
  }

  @Test("a thread that delivers both streams, one far ahead, does not wait for itself")
  func oneThread() async throws {
    let pictures = try await HLSFolder.pictures(15)
    let run = try Run(folder)
    defer { run.pipeline.setState(.null) }
    run.audio.run { audio in
      run.begin(pictures)
      audio.push(HLSFolder.packets(0..<1500))
      run.push(pictures)
      for source in [audio, run.video] { source.end() }
    }
    let messages = try await messages(of: run.pipeline)
    #expect(!messages.warnings.contains { $0.contains("continues and its data") })
    #expect(run.audio.takenCount == 1500)
    try await run.audio.waitForRuns()
  }

  @Test(
    "a stream whose partner only comes after it goes on after five seconds", .tags(.realTime))
  func oneAfterTheOther() async throws {
    let pictures = try await HLSFolder.pictures(15)
    let run = try Run(folder)
    defer { run.pipeline.setState(.null) }
    run.begin(pictures)
    run.audio.run { audio in
      audio.push(HLSFolder.packets(0..<1500))
      run.video.run { video in
        run.push(pictures)
        video.end()
      }
      audio.end()
    }
    let messages = try await messages(of: run.pipeline)
    let continued = messages.warnings.filter { $0.contains("continues and its data") }
    #expect(continued.count == 1, "\(messages.warnings)")
    #expect(run.audio.takenCount == 1500)
    for source in [run.audio, run.video] { try await source.waitForRuns() }
  }

  @Test("data from one thread is limited in memory")
  func refuses() async throws {
    let run = try Run(folder)
    defer { run.pipeline.setState(.null) }
    run.audio.run { audio in
      run.video.push(.streamStart(id: "video"))
      audio.begin(HLSFolder.audioCaps)
      // The memory of one buffer, again and again.
      let large = Buffer([UInt8](repeating: 0, count: 1 << 20))
      for second in 0..<400 {
        let buffer = large.copied()
        buffer.pts = second * .second
        buffer.duration = .second
        guard audio.push(buffer) == .ok else { break }
      }
    }
    let failure = await #expect(throws: PipelineFailure.self) {
      try await messages(of: run.pipeline)
    }
    #expect(failure?.message.contains("so far ahead") ?? false, "\(String(describing: failure))")
    try await run.audio.waitForRuns()
  }
}

extension TestSource {
  /// Begins the stream that these buffers are of, at the running time 0.
  fileprivate func begin(_ buffers: [PassedBuffer]) {
    var segment = Segment()
    segment.start = buffers[0].buffer.pts ?? 0
    begin(buffers[0].caps, segment)
  }
}
