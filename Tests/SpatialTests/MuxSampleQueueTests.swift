// SPDX-License-Identifier: MPL-2.0

import GStreamer
import GStreamerCheck
import ISOBMFF
import TestKit
import Testing

/// Many samples of a source that is not live, which `mvhevcmux` takes and writes together.
struct MuxSampleQueueTests {
  let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
  }

  private static let count = 2000

  /// Samples of one size, thirty a second, into a movie; how many buffers leave the muxer.
  private func write(size: Int, _ path: String, _ properties: String = "") async throws -> Int {
    let pipeline = try pipeline(
      "fakesrc num-buffers=\(Self.count) sizetype=fixed sizemax=\(size) filltype=zero format=time "
        + "datarate=\(size * 30) ! "
        + "video/x-h265,stream-format=hvc1,alignment=au,width=128,height=64,"
        + "framerate=30/1,codec_data=(buffer)0101600000009000000000003cf000fcfdf8f800000f00 ! "
        + "mux.video_0 mvhevcmux name=mux \(properties) ! filesink location=\(path)")
    let tap = try Tap(pipeline.element(named: "mux")?.staticPad("src"))
    try await play(pipeline)
    #expect(try MovieFile(path).video().samples.count == Self.count)
    return tap.buffers.count
  }

  @Test("small samples are sent together", arguments: ["", "fragment-duration=2000000000"])
  func small(properties: String) async throws {
    let count = try await write(size: 100, folder.path("small.mov"), properties)
    #expect(count < Self.count / 4, "\(count)")
  }

  @Test("large samples are sent one by one, without copies")
  func large() async throws {
    // With the header, the index, and the size of the media data.
    #expect(try await write(size: 10_000, folder.path("large.mov")) == Self.count + 3)
  }
}
