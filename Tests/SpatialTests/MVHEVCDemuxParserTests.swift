// SPDX-License-Identifier: MPL-2.0

import Foundation
import GStreamer
import GStreamerCheck
import StereoVideo
import TestElements
import TestKit
import Testing

/// The dependent eye of movies with inter-layer prediction, whose stream contains the other eye's
/// pictures, after `h265parse`: parsers take two pictures with the same time for one.
@Suite(.tags(.judge))
struct MVHEVCDemuxParserTests {
  let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
    try BuiltPlugin.require()
    try #require(Python.hasAVAndNumPy)
  }

  /// What the stream is written to, and the name of the file's kind.
  static let sinks = [
    "mp4mux": "mp4", "qtmux": "mov", "matroskamux": "mkv", "mpegtsmux": "ts",
    "video/x-h265,stream-format=byte-stream,alignment=au": "hevc",
  ]

  /// The movies whose dependent eye is written.
  enum Movie: CustomTestStringConvertible, Hashable, Sendable {
    case committed
    case keyframesAlone(base: Eye)
    case foreign(String)

    static let all =
      [committed, keyframesAlone(base: .left), keyframesAlone(base: .right)]
      + ForeignMovies.names.map { foreign($0) }

    var testDescription: String { "\(self)" }
  }

  /// The movie's path, its dependent eye, and what that eye's pictures are.
  private func open(_ movie: Movie) async throws -> (path: String, eye: Eye, md5s: [String]) {
    switch movie {
    case .committed:
      let streams = Repository.url.appending(path: "Tests/HEVCTests/Streams")
      let md5s = try JSONDecoder().decode(
        [String: [String: [String]]].self,
        from: Data(contentsOf: streams.appending(path: "interlayer.json")))
      let name = "interlayer-128x96"
      return (
        streams.appending(path: "\(name).hevc").path, .right,
        try #require(md5s[name]?["right"])
      )
    case .keyframesAlone(let base):
      let path = folder.path("keyframes.mov")
      try await play(
        "stereotestsrc num-buffers=8 ! video/x-raw,width=256,height=64 ! sbssplit name=s "
          + "s.left ! queue ! e.left s.right ! queue ! e.right "
          + "mvhevcenc name=e speed-preset=ultrafast inter-view-prediction=keyframes key-int-max=1 "
          + "hero-eye=\(base.rawValue) ! m.video_0 mvhevcmux name=m ! filesink location=\(path)")
      let md5s = try OwnMovie.judged(path, base: base)[base.other] ?? []
      #expect(md5s.count == 8)
      return (path, base.other, md5s)
    case .foreign(let name):
      let facts = try #require(ForeignMovies.facts[name])
      let eye: Eye = facts.base_layer_eye == "right" ? .left : .right
      return (
        ForeignMovies.path(name), eye,
        facts.frame_md5_i420_presentation_order[eye.rawValue] ?? []
      )
    }
  }

  @Test(
    "every picture reaches the file, each at a time of its own, and decodes exactly", .tags(.long),
    arguments: Movie.all, sinks.keys.sorted().sampled(1))
  func kept(movie: Movie, sink: String) async throws {
    let (path, eye, md5s) = try await open(movie)
    try #require(!md5s.isEmpty)
    let output = folder.path("eye." + (Self.sinks[sink] ?? ""))
    try await play(
      "filesrc location=\(path) ! mvhevcdemux name=d d.\(eye.rawValue) ! queue ! h265parse ! "
        + "\(sink) ! filesink location=\(output)")
    let tool = Repository.url.appending(path: "Tests/Tools/decode_views.py").path
    let lines = try Python.lines([tool, "--single", output]).map(\.words)
    #expect(lines.map { $0[1] } == md5s)
  }
}
