// SPDX-License-Identifier: MPL-2.0

import Foundation
import GStreamer
import TestKit
import Testing

/// The line of docs/channel.md that shows a still picture while a camera gives nothing.
@Suite(.checkedStreams)
struct HLSSlateTests {
  private let folder: HLSFolder

  init() throws {
    folder = try HLSFolder()
  }

  /// The line, with small pictures, ten a second, a valve after the camera, and the test's sink. It
  /// knows of no silent sources.
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
      .components(separatedBy: "mvhevchlssink")
    try #require(parts.count == 2 && parts[0].contains("valve"))
    return parts[0] + folder.sink("playlist-type=event target-duration=1 pad-timeout=0")
  }

  private func waitForSegments(_ count: Int) async throws {
    try await eventually("segment \(count)") {
      folder.holds("video_0_mono/segment0000\(count).m4s")
    }
  }

  @Test("a still picture, then a slate, and the camera again; no gap", .tags(.realTime, .judge))
  func still() async throws {
    let pipeline = try pipeline(try line())
    defer { pipeline.setState(.null) }
    pipeline.setState(.playing)
    try await waitForSegments(0)
    pipeline.element(named: "v")?.set("drop", "true")
    try await waitForSegments(3)
    pipeline.element(named: "v")?.set("drop", "false")
    try await waitForSegments(4)
    pipeline.setState(.null)
    for name in ["video_0", "video_0_mono"] {
      let list = try folder.text("\(name)/index.m3u8")
      #expect(!list.contains("GAP") && !list.contains("DISCONTINUITY"), "\(list)")
    }
    // Of a picture that stands still, nothing is coded.
    var runs: [Int] = []
    var last = ""
    for frame in try folder.frames("video_0_mono/index.m3u8", ["--single"]) {
      if frame == last { runs[runs.count - 1] += 1 } else { runs.append(1) }
      last = frame
    }
    #expect(runs.count { $0 >= 4 } >= 1 && runs.count { $0 == 1 } >= 10, "\(runs)")
  }
}
