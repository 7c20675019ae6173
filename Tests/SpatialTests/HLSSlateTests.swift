// SPDX-License-Identifier: MPL-2.0

import Foundation
import GStreamer
import TestKit
import Testing

/// The line of docs/channel.md that shows a still picture while a camera gives nothing, and has
/// silence while a microphone does.
@Suite(.checkedStreams)
struct HLSSlateTests {
  private let folder: HLSFolder

  init() throws {
    folder = try HLSFolder()
  }

  /// The line, with small pictures, ten a second, a valve after the camera and the microphone, and
  /// the test's sink. It knows of no silent sources.
  private func line() throws -> String {
    let page = try String(
      contentsOf: Repository.url.appending(path: "docs/channel.md"), encoding: .utf8)
    let section = try #require(page.components(separatedBy: "in place of a gap\n").last)
    let block = try #require(section.firstMatch(of: #/```sh\ngst-launch-1.0 -e ((?s).*?)```/#)).1
    let parts = String(block).replacing("\\\n", with: " ").replacing("640", with: "128")
      .replacing("height=180", with: "height=64").replacing("30/1", with: "10/1")
      .replacing("repeat=5", with: "repeat=1")
      .replacing(
        "stereotestsrc is-live=true !", with: "stereotestsrc is-live=true ! valve name=v !"
      )
      .replacing("audiotestsrc is-live=true !", with: "audiotestsrc is-live=true ! valve name=a !")
      .components(separatedBy: "mvhevchlssink")
    try #require(parts.count == 2 && parts[0].matches(of: /valve/).count == 2)
    return parts[0] + folder.sink("playlist-type=event target-duration=1 pad-timeout=0")
  }

  /// Waits until there are `more` segments more than now.
  private func waitForSegments(_ more: Int) async throws {
    func count() throws -> Int {
      try folder.files().count { $0.hasSuffix(".m4s") && $0.contains("video_0_mono/") }
    }
    let wanted = try count() + more
    try await eventually("\(more) more segments") { (try? count()) ?? 0 >= wanted }
  }

  @Test("a still picture, then a slate, and the camera again; no gap", .tags(.realTime, .judge))
  func still() async throws {
    let pipeline = try pipeline(try line())
    defer { pipeline.setState(.null) }
    pipeline.setState(.playing)
    try await waitForSegments(1)
    for name in ["v", "a"] { pipeline.element(named: name)?.set("drop", "true") }
    try await waitForSegments(3)
    for name in ["v", "a"] { pipeline.element(named: name)?.set("drop", "false") }
    try await waitForSegments(2)
    pipeline.setState(.null)
    for name in ["video_0", "video_0_mono", "audio_0"] {
      let list = try folder.text("\(name)/index.m3u8")
      #expect(!list.contains("GAP") && !list.contains("DISCONTINUITY"), "\(list)")
    }
    // By what the luma of the left eye differs from that of the frame before, of 255.
    let luma = 64 * 64
    let size = luma * 3 / 2
    _ = try folder.frames("video_0_mono/index.m3u8", ["--single", "--write", folder.path(".")])
    let samples = [UInt8](try Data(contentsOf: URL(filePath: folder.path("-.yuv"))))
    let changes = stride(from: size, to: samples.count, by: size).map { start in
      (start..<start + luma).reduce(0) { $0 + abs(Int(samples[$1]) - Int(samples[$1 - size])) }
        / luma
    }
    // A second of a picture that stands still, the slate in its place, and the camera again. The
    // first pictures are of whichever source begins first.
    #expect(changes.dropFirst(5).count { $0 > 20 } == 2, "\(changes)")
    let first = changes.dropFirst(5).split { $0 > 20 }.first
    #expect(first?.suffix(5) == [0, 0, 0, 0, 0], "\(changes)")
  }
}
