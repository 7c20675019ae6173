// SPDX-License-Identifier: MPL-2.0

import CGStreamer
import Foundation
import GStreamer
import GStreamerCheck
import ISOBMFF
import StereoVideo
import TestElements
import TestKit
import Testing

/// `mvhevcdemux`: what comes out of its pads.
struct MVHEVCDemuxTests {
  let folder: TemporaryFolder
  var path: String { folder.path("movie.mov") }
  private let pads = ["left", "right", "video_0"]

  init() throws {
    folder = try TemporaryFolder()
    try BuiltPlugin.require()
  }

  @Test(
    "eyes of foreign movies decode to their reference frames, both at the same times",
    ForeignMovies.areThere, arguments: ForeignMovies.names)
  func times(name: String) async throws {
    let path = ForeignMovies.path(name)
    let plain = try await DemuxRun.decoded(path, "left").map(\.time)
    #expect(plain.allSatisfy { $0 != nil })
    #expect(plain.compactMap { $0 } == plain.compactMap { $0 }.sorted())
    for eye in Eye.allCases {
      let expected = try #require(
        ForeignMovies.facts[name]?.frame_md5_i420_presentation_order[eye.rawValue])
      for decoder in [
        "avdec_h265 max-threads=2", "avdec_h265", "h265parse ! avdec_h265",
        "h265parse ! avdec_h265 max-threads=1",
      ] {
        let frames = try await DemuxRun.decoded(path, eye.rawValue, decoder: decoder)
        #expect(frames.map(\.time) == plain, "\(eye), \(decoder)")
        #expect(frames.map(\.md5) == expected, "\(eye), \(decoder)")
      }
    }
  }

  @Test("pulled, pushed and pushed in chunks, a movie with its index at the end gives the same")
  func modes() async throws {
    try await OwnMovie.make(path, audio: true)
    let pads = pads + ["audio_0"]
    let pulled = try await DemuxRun.file(path, pads)
    for pad in pads {
      #expect(pulled[pad]?.buffers.isEmpty == false, "\(pad)")
      #expect(pulled[pad]?.events.last == "eos", "\(pad)")
    }
    let queued = try await DemuxRun.file(path, pads, between: "queue !")
    for pad in pads { #expect(queued[pad] == pulled[pad], "\(pad) through a queue") }
    let bytes = [UInt8](try Data(contentsOf: URL(filePath: path)))
    for limit in [1, 1000, 100_000, 1_000_000] {
      var dice = Dice(UInt64(limit))
      let pushed = try await DemuxRun.pushed(bytes, pads) { dice.next(below: limit) + 1 }
      for pad in pads { #expect(pushed[pad] == pulled[pad], "\(pad) in up to \(limit) bytes") }
    }
  }

  @Test(
    "both eyes of our own movies are exact", .tags(.judge), Judge.isThere,
    arguments: [
      ("format=I420,width=320,height=96", "hero-eye=left", Eye.left),
      ("format=I420,width=320,height=96", "hero-eye=right", .right),
      ("format=I420_10LE,width=320,height=96", "hero-eye=left", .left),
    ])
  func own(caps: String, mux: String, base: Eye) async throws {
    try await OwnMovie.make(path, caps: caps, mux: mux)
    let expected = try OwnMovie.judged(path, base: base)
    for eye in Eye.allCases {
      for between in ["", "queue !"] {
        let frames = try await DemuxRun.decoded(path, eye.rawValue, between: between)
        #expect(frames.map(\.md5) == expected[eye], "\(eye) \(between)")
      }
    }
  }

  @Test("the eyes' caps have all that a decoder or player needs")
  func caps() async throws {
    try await OwnMovie.make(path, frames: 4, mux: "hero-eye=right")
    let taken = try await DemuxRun.file(path, pads)
    for eye in Eye.allCases {
      let line = try #require(taken[eye.rawValue]?.events.first { $0.hasPrefix("caps ") })
      for field in [
        "stream-format=(string)hvc1", "alignment=(string)au", "parsed=(boolean)true",
        "width=(int)160", "height=(int)96", "framerate=(fraction)30/1",
        "multiview-mode=(string)\(eye)", "profile=(string)main", "tier=(string)main", "level=",
        "chroma-format=(string)4:2:0", "bit-depth-luma=(uint)8", "bit-depth-chroma=(uint)8",
        "codec_data=",
      ] {
        #expect(line.contains(field), "\(field) in \(line)")
      }
      let tags = try #require(taken[eye.rawValue]?.events.first { $0.contains("stereo-") })
      #expect(tags.contains("stereo-hero-eye=(string)right"))
    }
    let whole = try #require(taken["video_0"]?.events.first { $0.hasPrefix("caps ") })
    #expect(whole.contains("profile=(string)multiview-main"))
    #expect(whole.contains("layered_codec_data="))
  }
}

extension MovieFile {
  /// The bytes of all samples of a track.
  func content(of track: Track) -> [UInt8] {
    track.allSamples.reduce(into: []) { all, sample in
      all += bytes[Int(sample.offset)..<Int(sample.offset) + Int(sample.size)]
    }
  }
}
