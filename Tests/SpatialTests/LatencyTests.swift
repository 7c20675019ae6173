// SPDX-License-Identifier: MPL-2.0

import CGStreamer
import Foundation
import GStreamer
import GStreamerCheck
import HEVC
import StereoVideo
import TestKit
import Testing

/// The smallest latency at a source pad of an element that is not stopped.
private func minimumLatency(_ element: Element?, _ pad: String) throws -> ClockTime {
  let query = try #require(gst_query_new_latency())
  defer { gst_query_unref(query) }
  let source = try #require(element?.staticPad(pad))
  #expect(gst_pad_query(source.pointer, query) != 0)
  var minimum: GstClockTime = 0
  gst_query_parse_latency(query, nil, &minimum, nil)
  return ClockTime(nanoseconds: minimum)
}

@Suite("Elements report their latency")
struct LatencyTests {
  /// The encoder's in a live pipeline, once data has flowed.
  private func encoding(_ options: String) async throws -> ClockTime {
    let live = try LiveRun(
      "mvhevcenc name=x speed-preset=ultrafast \(options) ! fakesink name=sink async=false")
    defer { live.pipeline.setState(.null) }
    let tap = try Tap(live.pipeline.element(named: "sink")?.staticPad("sink"))
    try live.start()
    live.push(0..<90)
    try await tap.waitForBuffers(1)
    return try minimumLatency(live.element, "src")
  }

  @Test("mvhevcenc: the lookahead counts, and zerolatency has none", .tags(.long))
  func encoder() async throws {
    let frame = LiveRun.time(1)
    let source = try await encoding("tune=zerolatency")
    let options = "option-string=rc-lookahead=20:bframes=3"
    let lookahead = try await encoding("inter-view-prediction=none \(options)")
    #expect(lookahead >= source + 20 * frame)
    #expect(lookahead <= source + 40 * frame)
    // The second eye, whose keyframes are predicted, is encoded after the first.
    let predicted = try await encoding(options)
    #expect(predicted >= source + 40 * frame)
    #expect(predicted <= source + 80 * frame)
  }

  /// Dependent pictures of this stream are held back.
  private let layered = Repository.url
    .appending(path: "Tests/HEVCTests/Streams/interlayer-128x96.hevc").path
  /// At 25 frames a second.
  private let frame = 40 * ClockTime.millisecond

  @Test("mvhevcdemux: by as much as the dependent eye is held back, and that eye alone")
  func demuxer() async throws {
    let pipeline = try pipeline(
      "filesrc location=\(layered) ! mvhevcdemux name=d framerate=25/1 "
        + DemuxRun.sinks(["left", "right"]))
    defer { pipeline.setState(.null) }
    pipeline.setState(.playing)
    let seen = try await messages(of: pipeline)
    #expect(seen.contains { $0.type == GST_MESSAGE_LATENCY && $0.sourceName == "d" })
    let demuxer = pipeline.element(named: "d")
    #expect(try minimumLatency(demuxer, "left") == 0)
    let right = try minimumLatency(demuxer, "right")
    #expect(
      right >= frame && right <= 9 * frame && right == right.units(perSecond: 25) * frame,
      "\(right)")
  }

  @Test("mvhevcdec: for both eyes, which leave in pairs")
  func decoder() throws {
    let decoder = try StereoDecoder()
    var assembler = AccessUnitAssembler()
    let bytes = try [UInt8](Data(contentsOf: URL(filePath: layered)))
    let units = try assembler.append(bytes.span.bytes) + assembler.finish()
    // A harness is a live source.
    decoder.push(
      Caps("video/x-h265", ["stream-format": "byte-stream", "alignment": "au"]),
      units.enumerated().map { index, unit in
        let buffer = Buffer(unit.bytes)
        (buffer.pts, buffer.duration) = (index * frame, frame)
        return buffer
      })
    for eye in ["left", "right"] {
      let latency = try minimumLatency(decoder.left.element, eye)
      #expect(latency >= frame && latency <= 20 * frame, "\(latency)")
    }
    _ = try decoder.finish()
  }
}
