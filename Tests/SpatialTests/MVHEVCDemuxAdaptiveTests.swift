// SPDX-License-Identifier: MPL-2.0

import CGStreamer
import Foundation
import GStreamer
import GStreamerCheck
import StereoVideo
import TestElements
import TestKit
import Testing

/// `mvhevcdemux`: fragments that come one by one, as adaptive streaming and live encoders give
/// them.
struct MVHEVCDemuxAdaptiveTests {
  let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
    try BuiltPlugin.require()
  }

  /// The index, and the fragments with their media, of a movie with a key frame each third of a
  /// second.
  private func fragments() async throws -> (index: [UInt8], fragments: [[UInt8]]) {
    let (path, copy) = (folder.path("movie.mov"), folder.path("fragments.mp4"))
    try await OwnMovie.make(path, frames: 60)
    let script = Repository.url.appending(path: "Tests/Tools/fragment.py").path
    _ = try Python.lines([script, path, copy])
    let bytes = [UInt8](try Data(contentsOf: URL(filePath: copy)))
    var (index, fragments): ([UInt8], [[UInt8]]) = ([], [])
    var place = 0
    while place + 8 <= bytes.count {
      let size = bytes[place..<place + 4].reduce(0) { $0 << 8 | Int($1) }
      let box = Array(bytes[place..<min(place + max(size, 8), bytes.count)])
      switch String(decoding: box[4..<8], as: UTF8.self) {
      case "moof": fragments.append(box)
      case "mdat": fragments[fragments.count - 1] += box
      case "mfra": break
      default: index += box
      }
      place += max(size, 8)
    }
    try #require(fragments.count == 6)
    return (index, fragments)
  }

  /// A source that cannot be sought, before a demuxer.
  private final class Source {
    let pipeline: Pipeline
    let source: TestSource
    let taps: [String: Tap]
    var pad: Pad { source.pad }

    init(_ pads: [String]) throws {
      pipeline = try SpatialTests.pipeline("mvhevcdemux name=d " + DemuxRun.sinks(pads))
      var taps: [String: Tap] = [:]
      for pad in pads { taps[pad] = try Tap(pipeline.element(named: pad)?.staticPad("sink")) }
      self.taps = taps
      source = try TestSource(feeding: pipeline.element(named: "d"), "sink", isLive: false)
      pipeline.setState(.playing)
      pad.push(.streamStart(id: "test"))
    }

    deinit { pipeline.setState(.null) }

    func push(_ bytes: [UInt8], at time: ClockTime? = nil, discontinuous: Bool = false) {
      let buffer = Buffer(bytes)
      buffer.pts = time
      if discontinuous { buffer.flags.insert(.discont) }
      #expect(source.push(buffer) == .ok)
    }

    func waitForBuffers(_ count: Int) async throws {
      for tap in taps.values { try await tap.waitForBuffers(count) }
      // A sink that is flushed on its way to PLAYING may stay in PAUSED.
      try #require(pipeline.waitForState())
    }

    func flush() {
      pad.push(.flushStart)
      pad.push(.flushStop())
    }
  }

  private static let fragmentLength = ClockTime.second / 3

  @Test(
    "below an adaptive demuxer, segments and times are upstream's, also after its seeks",
    .tags(.judge),
    Python.hasAVTrait)
  func upstreamTimes() async throws {
    let (index, fragments) = try await fragments()
    let source = try Source(["left", "right", "video_0"])
    // Playing begins in the third fragment.
    var segment = Segment()
    segment.start = 2 * Self.fragmentLength + 10_000_000
    (segment.time, segment.base) = (segment.start, 5 * .second)
    source.pad.push(.segment(segment))
    source.push(index)
    for number in 2..<4 {
      source.push(
        fragments[number], at: number * Self.fragmentLength,
        discontinuous: number == 2)
    }
    // What sinks have not taken when a flush comes is dropped.
    try await source.waitForBuffers(20)
    // Upstream seeks: no bytes are counted, and any fragment comes next.
    source.flush()
    segment.start = Self.fragmentLength
    (segment.time, segment.base) = (segment.start, 0)
    source.pad.push(.segment(segment))
    for number in 1..<3 {
      source.push(
        fragments[number], at: number * Self.fragmentLength,
        discontinuous: number == 1)
    }
    source.pad.push(.endOfStream)
    try await messages(of: source.pipeline)
    for (pad, tap) in source.taps {
      let segments = tap.events.filter { $0.type == GST_EVENT_SEGMENT }.compactMap(\.segment)
      #expect(segments.map(\.base) == [5 * .second, 0], "\(pad)")
      #expect(segments.map(\.time) == segments.map(\.start), "\(pad)")
      let shown = tap.buffers.filter { !$0.buffer.flags.contains(.decodeOnly) }
      try #require(shown.count == 40, "\(pad)")
      // Without an edit list, media begins two frames late, which are put in order.
      for (half, first) in [(shown.prefix(20), 22), (shown.suffix(20), 12)] {
        let times = half.compactMap(\.buffer.pts).sorted().map {
          ($0 + 1_000_000).units(perSecond: 30)
        }
        #expect(times == (first..<first + 20).map { UInt64($0) }, "\(pad)")
      }
    }
  }

  @Test(
    "the duration of a growing movie is updated", .tags(.judge),
    Python.hasAVTrait)
  func growing() async throws {
    var (index, fragments) = try await fragments()
    // What was known when writing began: half a second.
    let header = try #require(index.firstRange(of: Array("mvhd".utf8))).upperBound
    let timescale = index[header + 12..<header + 16].reduce(0) { $0 << 8 | UInt32($1) }
    index.replaceSubrange(
      header + 16..<header + 20, with: withUnsafeBytes(of: (timescale / 2).bigEndian) { Array($0) })
    let source = try Source(["left"])
    source.pad.push(.segment(Segment(.bytes)))
    source.push(index)
    source.push(fragments[0])
    let pad = try #require(source.pipeline.element(named: "d")?.staticPad("left"))
    #expect(pad.duration == .second / 2)
    for fragment in fragments[1..<4] { source.push(fragment) }
    // Forty pictures, which without an edit list begin two frames late.
    #expect(pad.duration.map { $0 / 100_000_000 } == 14)
    for fragment in fragments[4...] { source.push(fragment) }
    source.pad.push(.endOfStream)
    let told = try await messages(of: source.pipeline)
    #expect(told.contains { $0.type == GST_MESSAGE_DURATION_CHANGED })
    #expect(source.taps["left"]?.buffers.count == 60)
  }
}
