// SPDX-License-Identifier: MPL-2.0

import Foundation
import GStreamer
import GStreamerCheck
import Testing

/// Sources that have few buffers, such as cameras, have to know how many of them are kept.
@Suite("Elements that keep frames request additional buffers")
struct KeptFramesTests {
  private let sources =
    "videotestsrc name=l is-live=true ! %@ ! identity name=left-frames ! x.left "
    + "videotestsrc is-live=true ! %@ ! x.right "
  private let caps = "video/x-raw,format=I420,width=128,height=64,framerate=50/1"

  /// The number of buffers requested from the source upstream of an `identity`, while the pipeline
  /// plays.
  private func count(_ line: String, after name: String = "left-frames") async throws -> Int {
    let pipeline = try pipeline(line)
    let source = try #require(pipeline.element(named: name)?.staticPad("src"))
    let tap = try Tap(source)
    pipeline.setState(.playing)
    defer { pipeline.setState(.null) }
    try await tap.waitForBuffers(1)
    let query = Query.allocation(try #require(source.currentCaps), needsPool: false)
    let isAnswered = source.queryPeer(query)
    let acceptsVideoMeta = query.acceptsVideoMeta
    #expect(isAnswered && acceptsVideoMeta)
    return query.requiredBufferCount
  }

  @Test(
    "the frames that wait for their partner, and those that the encoder reads",
    arguments: [
      ("mvhevcenc name=x speed-preset=ultrafast", 5),
      ("mvhevcmux name=x speed-preset=ultrafast fragment-duration=200000000", 5),
      ("stereopack name=x", 2),
    ])
  func pairs(element: String, count: Int) async throws {
    let line =
      sources.replacing("%@", with: caps)
      + "\(element) ! fakesink name=sink async=false"
    #expect(try await self.count(line) == count)
  }

  @Test("an audio source gets no frame size, which it would use for its own buffers")
  func audio() async throws {
    let line =
      sources.replacing("%@", with: caps)
      + "audiotestsrc is-live=true ! audio/x-raw,rate=48000 ! identity name=sound ! x.audio_0 "
      + "mvhevcmux name=x speed-preset=ultrafast fragment-duration=200000000 "
      + "! fakesink name=sink async=false"
    #expect(try await count(line, after: "sound") == 0)
  }

  @Test("sbssplit: the frames that its peers keep")
  func split() async throws {
    let line =
      "videotestsrc is-live=true ! \(caps) ! identity name=left-frames ! "
      + "sbssplit input-mode-override=side-by-side name=s s.left ! x.left s.right ! x.right "
      + "mvhevcenc name=x speed-preset=ultrafast ! fakesink name=sink async=false"
    #expect(try await count(line) == 5)
  }
}
