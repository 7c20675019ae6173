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

/// Tracks that are neither video nor audio, through `mvhevcdemux` and `mvhevcmux`; and what ties
/// tracks together.
struct MovieOtherTracksTests {
  let folder: TemporaryFolder
  var path: String { folder.path("movie.mov") }
  var copy: String { folder.path("copy.mov") }

  init() throws {
    folder = try TemporaryFolder()
    try BuiltPlugin.require()
  }

  /// A track beside the video: its samples by their times.
  private struct Other {
    var description: TrackDescription
    var samples: [(time: Int64, duration: UInt32)]
  }

  /// A movie of three seconds with what a phone or an editor has beside video.
  private static let others = {
    let metadata = OtherSampleEntry(
      handlerType: "meta", type: "mebx", payload: OpaqueBox("keys", payload: [1, 2, 3]).bytes)
    var moments = TrackDescription(.other(metadata), timescale: 600)
    moments.references = [TrackReference(type: "cdsc", track: TrackID(rawValue: 1))]
    moments.mediaHeader = OpaqueBox("gmhd", payload: OpaqueBox("gmin", payload: [9]).bytes)
    let code = OtherSampleEntry(
      handlerType: "tmcd", type: "tmcd",
      payload: [0, 0, 0, 0, 0, 0, 0, 1] + Array(repeating: 7, count: 18))
    var time = TrackDescription(.other(code), timescale: 30_000)
    time.isEnabled = false
    time.mediaHeader = OpaqueBox("gmhd", payload: OpaqueBox("tmcd", payload: [8, 8]).bytes)
    let chapters = OtherSampleEntry(
      handlerType: "text", type: "text", payload: Array(repeating: 5, count: 40))
    var text = TrackDescription(.other(chapters), timescale: 1000, language: "fra")
    text.alternateGroup = 3
    return [
      // It starts late, and its times are no whole frames.
      Other(
        description: moments,
        samples: [(901, 100), (1001, 7), (1008, 600), (1608, 200)]),
      Other(description: time, samples: [(0, 90_000)]),
      // Nothing comes while a text lasts.
      Other(description: text, samples: [(0, 2900), (2900, 100)]),
    ]
  }()

  private func make() async throws {
    let plain = folder.path("plain.mov")
    try await OwnMovie.make(plain, frames: 90)
    let file = try MovieFile(plain)
    let video = try file.video()
    var description = TrackDescription(
      .video(try file.videoEntry()), timescale: video.timescale)
    description.references = [
      TrackReference(type: "tmcd", track: TrackID(rawValue: 3)),
      TrackReference(type: "chap", track: TrackID(rawValue: 4)),
    ]
    var pictures = HandmadeMovie.Track(description)
    for sample in video.allSamples {
      var copy = SampleDescription(
        size: sample.size, decodeTime: sample.decodeTime, duration: sample.duration,
        compositionOffset: Int32(sample.presentationTime - sample.decodeTime),
        isSync: sample.isSync)
      copy.dependency = sample.dependency
      let place = Int(sample.offset)..<Int(sample.offset) + Int(sample.size)
      pictures.samples.append((copy, Array(file.bytes[place])))
    }
    let others = Self.others.map { other in
      var track = HandmadeMovie.Track(other.description)
      for (number, sample) in other.samples.enumerated() {
        track.add(
          [UInt8](repeating: UInt8(number), count: 10 + number), at: sample.time,
          duration: sample.duration)
      }
      return track
    }
    try HandmadeMovie([pictures] + others).write(to: path)
  }

  private func play(_ video: String) async throws -> MovieFile {
    try await SpatialTests.play(
      "filesrc location=\(path) ! mvhevcdemux name=d \(video) "
        + (0..<3).map { "d.meta_\($0) ! queue ! m.meta_\($0) " }.joined()
        + "mvhevcmux name=m ! filesink location=\(copy)")
    return try MovieFile(copy)
  }

  @Test("their samples, times and sample entries are kept, and which track refers to which")
  func kept() async throws {
    try await make()
    let (old, new) = (try MovieFile(path), try await play("d.video_0 ! queue ! m.video_0"))
    #expect(old.movie.tracks.count == 4)
    #expect(new.movie.tracks.count == 4)
    for (one, two) in zip(old.movie.tracks, new.movie.tracks) {
      let kind = one.handlerType
      #expect(two.handlerType == kind)
      #expect(two.sampleEntries == one.sampleEntries, "\(kind)")
      #expect(new.content(of: two) == old.content(of: one), "\(kind)")
      #expect(two.references == one.references, "\(kind)")
      #expect(two.isEnabled == one.isEnabled, "\(kind)")
      #expect(two.alternateGroup == one.alternateGroup, "\(kind)")
      #expect(two.language == one.language, "\(kind)")
      guard kind != "vide" else { continue }
      #expect(two.timescale == one.timescale)
      #expect(two.mediaHeader == one.mediaHeader)
      let times = (one.allSamples, two.allSamples)
      #expect(times.0.map(\.decodeTime) == times.1.map(\.decodeTime), "\(kind)")
      #expect(times.0.map(\.duration) == times.1.map(\.duration), "\(kind)")
      #expect(two.edits == one.edits, "\(kind)")
    }
  }

  @Test(
    "the samples of a track that is neither video nor audio are output unchanged",
    arguments: ["", "queue !"])
  func metadata(between: String) async throws {
    let subtitles = folder.path("subtitles.srt")
    try "1\n00:00:00,000 --> 00:00:00,500\nhello\n\n".write(
      toFile: subtitles, atomically: true, encoding: .utf8)
    try await SpatialTests.play(
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

  @Test("if the eyes are woven again, their track has the references of their original track")
  func eyes() async throws {
    try await make()
    let new = try await play("d.left ! queue ! m.left d.right ! queue ! m.right")
    #expect(try new.video().references.map(\.type) == ["tmcd", "chap"])
    #expect(try new.video().references.map(\.track.rawValue) == [3, 4])
    let moments = try #require(new.tracks("meta").first)
    #expect(moments.references.first?.track == (try new.video().id))
  }

  @Test("of two languages, the one that is not played by default stays so")
  func languages() async throws {
    let pcm = AudioSampleEntry(
      coding: .pcm(PCMFormat(bitsPerSample: 16)), channelCount: 1, sampleRate: 8000)
    for enabled in [[true, false], [false, false]] {
      let tracks = enabled.map { isEnabled in
        var description = TrackDescription(.audio(pcm), timescale: 8000)
        (description.isEnabled, description.alternateGroup) = (isEnabled, 2)
        var track = HandmadeMovie.Track(description)
        var run = SampleDescription(size: 2, decodeTime: 0, duration: 1)
        run.count = 4000
        track.samples.append((run, [UInt8](repeating: 1, count: 8000)))
        return track
      }
      try HandmadeMovie(tracks).write(to: path)
      try await SpatialTests.play(
        "filesrc location=\(path) ! mvhevcdemux name=d d.audio_0 ! queue ! m.audio_0 "
          + "d.audio_1 ! queue ! m.audio_1 mvhevcmux name=m ! filesink location=\(copy)")
      let copies = try MovieFile(copy).tracks("soun")
      // If all are disabled, that is taken for a mistake.
      #expect(copies.map(\.isEnabled) == (enabled[0] ? enabled : [true, true]))
      #expect(copies.map(\.alternateGroup) == [2, 2])
    }
  }

  @Test("audio that begins seconds after the picture is not waited for, and keeps its start")
  func lateAudio() async throws {
    for audio in ["audio/x-raw,format=S16LE", "avenc_ac3 ! ac3parse"] {
      try await SpatialTests.play(
        eyesOfFrames(150) + "audiotestsrc num-buffers=30 samplesperbuffer=1600 "
          + "timestamp-offset=4000000000 ! audio/x-raw,rate=48000,channels=2 ! audioconvert ! "
          + "\(audio) ! m.audio_0 mvhevcmux name=m speed-preset=ultrafast ! "
          + "filesink location=\(path)")
      try await SpatialTests.play(
        "filesrc location=\(path) ! mvhevcdemux name=d d.video_0 ! queue ! m.video_0 "
          + "d.audio_0 ! queue ! m.audio_0 mvhevcmux name=m ! filesink location=\(copy)")
      let (old, new) = (try MovieFile(path), try MovieFile(copy))
      let start = try #require(try new.audio().edits.first)
      #expect(start.mediaTime == nil)
      // The encoder puts 256 samples before its input.
      let early = audio.contains("ac3") ? Int64(new.movie.timescale) * 256 / 48_000 : 0
      #expect(abs(Int64(start.duration) + early - 4 * Int64(new.movie.timescale)) < 100)
      #expect(new.content(of: try new.audio()) == old.content(of: try old.audio()))
      #expect(new.content(of: try new.video()) == old.content(of: try old.video()))
    }
  }

  /// Both eyes for a muxer named `m`.
  private func eyesOfFrames(_ count: Int) -> String {
    "stereotestsrc num-buffers=\(count) ! video/x-raw,width=128,height=64,framerate=30/1 ! "
      + "sbssplit name=s s.left ! queue ! m.left s.right ! queue ! m.right "
  }

  @Test("a metadata stream without a description is refused")
  func unknown() async throws {
    let problem = try await failure(
      of: "fakesrc num-buffers=5 sizetype=fixed sizemax=100 format=time datarate=4800 ! "
        + "meta/x-gst-fourcc-mebx ! mvhevcmux ! filesink location=\(path)")
    #expect(problem.message.contains("meta_0 has no codec_data"), "\(problem)")
  }
}
