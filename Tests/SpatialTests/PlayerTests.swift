// SPDX-License-Identifier: MPL-2.0

import Foundation
import TestElements
import TestKit
import Testing

/// GStreamer's own players and tools, which take `mvhevcautodemux` by themselves, or `mvhevcdemux`
/// where its rank is raised above `qtdemux`'s.
struct PlayerTests {
  let folder: TemporaryFolder
  var path: String { folder.path("movie.mov") }
  private static let environments = [[:], ["GST_PLUGIN_FEATURE_RANK": "mvhevcdemux:MAX"]]

  init() throws {
    folder = try TemporaryFolder()
    try BuiltPlugin.require()
  }

  @Test(
    "gst-discoverer-1.0 lists both eyes and the audio", .tags(.process), arguments: environments)
  func discoverer(environment: [String: String]) async throws {
    try await OwnMovie.make(path, audio: true)
    let ended = try Program.run(["gst-discoverer-1.0", path], environment: environment)
    #expect(ended.status == 0)
    for words in [
      "Duration: 0:00:01.333333333", "Seekable: yes", "container #0: Quicktime",
      "/1/left", "/1/right", "Width: 160", "Height: 96", "Frame rate: 30/1", "audio #",
      "Sample rate: 48000",
    ] {
      #expect(ended.output.contains(words), "\(words) in \(ended.output)")
    }
    #expect(
      ended.output.components(separatedBy: "H.265 (Main Profile)").count == 3, "\(ended.output)")
  }

  @Test(
    "gst-play-1.0 plays a movie from its start to its end", .tags(.process),
    arguments: ["mov", "mp4"], environments)
  func play(container: String, environment: [String: String]) async throws {
    try await OwnMovie.make(path, mux: "container=\(container)", audio: container == "mov")
    let ended = try Program.run(
      [
        "gst-play-1.0", "--videosink=fakevideosink sync=false", "--audiosink=fakesink sync=false",
        path,
      ], environment: environment)
    #expect(ended.status == 0)
    #expect(ended.output.contains("Reached end of play list"), "\(ended.output)")
    #expect(!ended.output.contains("ERROR"), "\(ended.output)")
  }
}
