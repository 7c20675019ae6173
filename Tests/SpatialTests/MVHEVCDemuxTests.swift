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
    "each eye of a foreign movie decodes to its reference frames",
    ForeignMovies.areThere, arguments: ForeignMovies.names)
  func foreign(name: String) async throws {
    let facts = try #require(ForeignMovies.facts[name])
    for (eye, expected) in facts.frame_md5_i420_presentation_order {
      let frames = try await DemuxRun.decoded(ForeignMovies.path(name), eye)
      #expect(frames.map(\.md5) == expected, "\(eye)")
      #expect(frames.compactMap(\.time) == frames.compactMap(\.time).sorted())
    }
  }

  @Test(
    "samples of more than a megabyte keep their bytes, whether they are kept or released",
    arguments: ["queue ! ", ""])
  func largeSamples(queue: String) async throws {
    let caps = "video/x-raw,width=960,height=540"
    try await play(
      ["left", "right"].map {
        "videotestsrc num-buffers=5 pattern=snow ! \(caps),multiview-mode=\($0) ! mux.\($0) "
      }.joined()
        + "mvhevcmux name=mux speed-preset=ultrafast key-int-max=2 option-string=lossless=1 "
        + "! filesink location=\(path)")
    let file = try MovieFile(path)
    let samples = try file.video().allSamples
    #expect(samples.filter { $0.size > 1 << 20 }.count > 1)
    let copy = folder.path("samples")
    try await play(
      "filesrc location=\(path) ! mvhevcdemux name=d d.video_0 ! \(queue) "
        + "filesink location=\(copy)")
    let expected = samples.flatMap { file.bytes[Int($0.offset)..<Int($0.offset) + Int($0.size)] }
    #expect(try [UInt8](Data(contentsOf: URL(filePath: copy))) == expected)
  }

  @Test(
    "both eyes' frames have the same times, also after a parser and from decoders' threads",
    ForeignMovies.areThere, arguments: ForeignMovies.names)
  func times(name: String) async throws {
    let path = ForeignMovies.path(name)
    let plain = try await DemuxRun.decoded(path, "left").map(\.time)
    #expect(plain.allSatisfy { $0 != nil })
    for eye in Eye.allCases {
      let expected = try #require(
        ForeignMovies.facts[name]?.frame_md5_i420_presentation_order[eye.rawValue])
      for decoder in [
        "avdec_h265", "h265parse ! avdec_h265", "h265parse ! avdec_h265 max-threads=1",
      ] {
        let frames = try await DemuxRun.decoded(path, eye.rawValue, decoder: decoder)
        #expect(frames.map(\.time) == plain, "\(eye), \(decoder)")
        #expect(frames.map(\.md5) == expected, "\(eye), \(decoder)")
      }
    }
  }

  @Test(
    "pulled, pushed and pushed in chunks, a foreign movie gives the same",
    ForeignMovies.areThere, arguments: ForeignMovies.names)
  func foreignModes(name: String) async throws {
    try await expectSameInAllModes(ForeignMovies.path(name), pads)
  }

  @Test("pulled, pushed and pushed in chunks, a movie with its index at the end gives the same")
  func ownModes() async throws {
    try await OwnMovie.make(path, audio: true)
    try await expectSameInAllModes(path, pads + ["audio_0"])
  }

  private func expectSameInAllModes(_ path: String, _ pads: [String]) async throws {
    let pulled = try await DemuxRun.file(path, pads)
    for pad in pads {
      #expect(pulled[pad]?.buffers.isEmpty == false, "\(pad)")
      #expect(pulled[pad]?.events.last == "eos", "\(pad)")
    }
    let queued = try await DemuxRun.file(path, pads, between: "queue !")
    for pad in pads { #expect(queued[pad] == pulled[pad], "\(pad) through a queue") }
    let bytes = [UInt8](try Data(contentsOf: URL(filePath: path)))
    for limit in [1, 1000, 100_000, 1_000_000] where limit > 1 || bytes.count < 300_000 {
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

  @Test(
    "the samples of a track that is neither video nor audio are output unchanged",
    arguments: ["", "queue !"])
  func metadata(between: String) async throws {
    let subtitles = folder.path("subtitles.srt")
    try "1\n00:00:00,000 --> 00:00:00,500\nhello\n\n".write(
      toFile: subtitles, atomically: true, encoding: .utf8)
    try await play(
      "videotestsrc num-buffers=15 ! video/x-raw,width=64,height=64 ! x265enc ! h265parse ! "
        + "qtmux name=m ! filesink location=\(path) filesrc location=\(subtitles) ! subparse ! "
        + "m.subtitle_0")
    let frames = try await record(
      "filesrc location=\(path) ! \(between) mvhevcdemux name=d d.meta_0 ! fakesink name=sink")
    let text = try #require(frames[0].first)
    #expect(text.caps.description.hasPrefix("meta/x-gst-fourcc-tx3g"))
    #expect(text.buffer.bytes == [0, 5] + Array("hello".utf8))
    #expect(text.buffer.pts == 0)
    #expect(text.buffer.duration == .second / 2)
  }

  @Test("demultiplexed and multiplexed again, samples and descriptions are the same bytes")
  func roundTrip() async throws {
    try await OwnMovie.make(
      path, mux: "hero-eye=left baseline=19.24 horizontal-field-of-view=71.5",
      audio: true)
    let copy = folder.path("copy.mov")
    try await play(
      "filesrc location=\(path) ! mvhevcdemux name=d d.video_0 ! queue ! m.video_0 "
        + "d.audio_0 ! queue ! m.audio_0 mvhevcmux name=m ! filesink location=\(copy)")
    let (old, new) = (try MovieFile(path), try MovieFile(copy))
    for handler in ["vide", "soun"] as [FourCC] {
      let tracks = (
        try #require(old.tracks(handler).first), try #require(new.tracks(handler).first)
      )
      #expect(old.content(of: tracks.0) == new.content(of: tracks.1), "\(handler)")
    }
    let entries = (try old.videoEntry(), try new.videoEntry())
    #expect(entries.0.hvcC == entries.1.hvcC)
    #expect(entries.0.lhvC == entries.1.lhvC)
    #expect(entries.0.extendedUsage == entries.1.extendedUsage)
    #expect(entries.0.horizontalFieldOfView == entries.1.horizontalFieldOfView)
    #expect(try old.video().presentationTimes == new.video().presentationTimes)
  }

  @Test(
    "a foreign movie that is multiplexed again has the same samples and boxes that describe them",
    ForeignMovies.areThere, arguments: ForeignMovies.names)
  func foreignRoundTrip(name: String) async throws {
    let copy = folder.path("copy.mov")
    try await play(
      "filesrc location=\(ForeignMovies.path(name)) ! mvhevcdemux name=d d.video_0 ! queue ! "
        + "m.video_0 mvhevcmux name=m ! filesink location=\(copy)")
    let (old, new) = (try MovieFile(ForeignMovies.path(name)), try MovieFile(copy))
    let isSame = old.content(of: try old.video()) == new.content(of: try new.video())
    #expect(isSame)
    var (one, two) = (try old.videoEntry(), try new.videoEntry())
    // A name for people, which goes with the container.
    (one.compressorName, two.compressorName) = ("", "")
    // QuickTime's `nclc`, which the copy has, cannot say that the range is the usual one.
    let ranges = (one.colour?.fullRange ?? false, two.colour?.fullRange ?? false)
    one.colour?.fullRange = ranges.0
    two.colour?.fullRange = ranges.1
    #expect(one == two)
    #expect(one.extendedUsage?.payload == two.extendedUsage?.payload)
    for (a, b) in zip(
      try old.video().presentationTimes, try new.video().presentationTimes)
    {
      #expect(max(a, b) - min(a, b) < 100_000)
    }
  }

  @Test("unknown content of a foreign vexu is kept, whatever else is changed")
  func unknownExtendedUsage() async throws {
    let (changed, copy) = (folder.path("changed.mov"), folder.path("copy.mov"))
    try await OwnMovie.make(path, frames: 4, mux: "baseline=19.24")
    let usage = try #require(try MovieFile(path).videoEntry().extendedUsage)
    let unknown = OpaqueBox("must", payload: [1, 2, 3, 4])
    let payload = unknown.bytes + usage.payload
    for field in [nil, HorizontalFieldOfView(thousandthsOfDegree: 71_590)] {
      try MovieFile(path).rebuildVideo(at: changed) {
        $0.extendedUsage = try VideoExtendedUsage(payload: payload)
        $0.horizontalFieldOfView = field
      }
      let remux = { (mux: String) in
        _ = try await play(
          "filesrc location=\(changed) ! mvhevcdemux name=d d.video_0 ! queue ! m.video_0 "
            + "mvhevcmux name=m \(mux) ! filesink location=\(copy)")
      }
      try await remux("")
      #expect(try MovieFile(copy).videoEntry().extendedUsage?.payload == payload)
      #expect(try MovieFile(copy).videoEntry().horizontalFieldOfView == field)
      try await remux("baseline=64")
      let edited = try #require(try MovieFile(copy).videoEntry().extendedUsage)
      #expect(edited.baseline?.millimetres == 64)
      #expect(OpaqueBox.all(in: edited.payload).contains(unknown))
    }
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
