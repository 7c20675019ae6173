// SPDX-License-Identifier: LGPL-2.1-or-later

import CGStreamer
import GStreamer
import Testing

@Suite("mvhevcenc tells its latency")
struct LatencyTests {
  /// The smallest latency at the encoder of a live pipeline, in nanoseconds, once data has flowed.
  private func latency(_ options: String) async throws -> UInt64 {
    let pipeline = try pipeline(
      "stereotestsrc is-live=true num-buffers=90 ! video/x-raw,width=128,height=64,framerate=100/1 "
        + "! sbssplit name=s s.left ! e.left s.right ! e.right "
        + "mvhevcenc name=e speed-preset=ultrafast \(options) ! fakesink name=sink async=false")
    let tap = try Tap(pipeline.element(named: "sink")?.staticPad("sink"))
    pipeline.setState(GST_STATE_PLAYING)
    defer { pipeline.setState(GST_STATE_NULL) }
    while tap.buffers.isEmpty { try await Task.sleep(for: .milliseconds(5)) }
    let query = try #require(gst_query_new_latency())
    defer { gst_query_unref(query) }
    let source = try #require(pipeline.element(named: "e")?.staticPad("src"))
    #expect(gst_pad_query(source.pointer, query) != 0)
    var minimum: GstClockTime = 0
    gst_query_parse_latency(query, nil, &minimum, nil)
    try await messages(of: pipeline)
    return UInt64(minimum)
  }

  @Test("the lookahead counts, and zerolatency has none")
  func values() async throws {
    let frame: UInt64 = 10_000_000
    let source = try await latency("tune=zerolatency")
    let lookahead = try await latency("option-string=rc-lookahead=20:bframes=3")
    #expect(lookahead >= source + 20 * frame)
    #expect(lookahead <= source + 40 * frame)
  }
}
