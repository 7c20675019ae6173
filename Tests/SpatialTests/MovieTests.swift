// SPDX-License-Identifier: MPL-2.0

import CGStreamer
import Foundation
import GStreamer
import GStreamerCheck
import ISOBMFF
import StereoVideo
import TestKit
import Testing

/// Whole movies by `mvhevcmux`: what is in the file.
struct MovieTests {
  let folder: TemporaryFolder
  var path: String { folder.path("movie.mov") }

  init() throws {
    folder = try TemporaryFolder()
  }

  @Test(
    "frames and times are exact, whatever the rate and container",
    arguments: [(30, 1), (30000, 1001), (24000, 1001), (90, 1)], ["mov", "mp4"])
  func times(rate: (Int, Int), container: String) async throws {
    try await play(
      eyes(40, "width=128,height=64,framerate=\(rate.0)/\(rate.1)")
        + mux(to: path, "container=\(container) option-string=bframes=3"))
    let file = try MovieFile(path)
    #expect(file.fileType?.isQuickTime == (container == "mov"))
    let video = try file.video()
    let frame = UInt64(video.timescale) * UInt64(rate.1) / UInt64(rate.0)
    #expect(UInt64(video.timescale) * UInt64(rate.1) == frame * UInt64(rate.0))
    #expect(video.samples.count == 40)
    #expect(video.allSamples.allSatisfy { UInt64($0.duration) == frame })
    #expect(video.mediaDuration == 40 * frame)
    let start = video.edits.first { $0.mediaTime != nil }?.mediaTime ?? 0
    let times = video.allSamples.map { UInt64($0.presentationTime - start) }.sorted()
    #expect(times == (0..<40).map { frame * $0 })
    // B frames are there, so decoding order is another.
    #expect(
      video.allSamples.map(\.presentationTime) != video.allSamples.map(\.presentationTime).sorted())
    #expect(file.movie.issues.isEmpty)
  }

  @Test("frames at a variable rate keep their times, and the last one its duration")
  func variableRate() async throws {
    try await play(
      "stereotestsrc num-buffers=9 ! video/x-raw,width=128,height=64,framerate=25/1 ! "
        + "capssetter caps=video/x-raw,framerate=0/1 ! sbssplit name=s "
        + "s.left ! queue ! mux.left s.right ! queue ! mux.right " + mux(to: path))
    let video = try MovieFile(path).video()
    #expect(video.timescale == 90_000)
    #expect(video.presentationTimes == (0..<9).map { $0 * 40 * .millisecond })
    #expect(video.allSamples.map(\.duration) == Array(repeating: 3600, count: 9))
  }

  @Test("sync samples are at the requested keyframes")
  func syncSamples() async throws {
    try await play(
      eyes(35, "width=128,height=64") + mux(to: path, "key-int-max=10 scene-cuts=false"))
    let samples = try MovieFile(path).video().allSamples
    #expect(samples.indices.filter { samples[$0].isSync } == [0, 10, 20, 30])
  }

  @Test("the eyes of a splitter may be linked without the names of pads")
  func unnamedPads() async throws {
    let source =
      "stereotestsrc num-buffers=3 ! "
      + "video/x-raw,format=I420,width=128,height=64,framerate=30/1,multiview-mode=side-by-side ! "
      + "sbssplit name=s "
    let other = folder.path("other.mov")
    try await play(
      mux(to: path) + source + "s. ! queue ! mux. s. ! queue ! mux. ")
    try await play(
      mux(to: other) + source + "s.left ! queue ! mux.left s.right ! queue ! mux.right ")
    let (file, named) = (try MovieFile(path), try MovieFile(other))
    #expect(file.content(of: try file.video()) == named.content(of: try named.video()))
  }

  @Test(
    "AAC packets are copied byte for byte, with their times",
    arguments: ["mov", "mp4"])
  func aac(container: String) async throws {
    let pipeline = try pipeline(
      eyes(20, "width=128,height=64") + mux(to: path, "container=\(container)")
        + "audiotestsrc num-buffers=30 samplesperbuffer=1024 ! audio/x-raw,rate=48000,channels=2 ! "
        + "avenc_aac ! aacparse name=parse ! queue ! mux.audio_0")
    let tap = try Tap(pipeline.element(named: "parse")?.staticPad("src"))
    try await play(pipeline)
    let file = try MovieFile(path)
    let audio = try file.audio()
    let samples = audio.allSamples
    #expect(audio.timescale == 48000)
    #expect(samples.count == tap.buffers.count)
    for (sample, packet) in zip(samples, tap.buffers) {
      let start = Int(sample.offset)
      #expect(Array(file.bytes[start..<start + Int(sample.size)]) == packet.buffer.bytes)
      #expect(sample.duration == 1024)
    }
    guard case .audio(let entry) = audio.sampleEntries.first,
      case .aac(let config) = entry.coding
    else { throw Failure("no AAC") }
    let codecData = tap.buffers.first?.caps.first?.buffer("codec_data")
    #expect(config == codecData?.bytes)
    #expect(entry.channelCount == 2)
    #expect(entry.sampleRate == 48000)
  }

  @Test(
    "PCM samples are copied byte for byte",
    arguments: [("S16LE", 44100, 2), ("S24BE", 48000, 1), ("F32LE", 96000, 6)])
  func pcm(format: String, rate: Int, channels: Int) async throws {
    let pipeline = try pipeline(
      eyes(20, "width=128,height=64") + mux(to: path)
        + "audiotestsrc num-buffers=25 samplesperbuffer=997 ! audioconvert ! "
        + "audio/x-raw,format=\(format),rate=\(rate),channels=\(channels) ! queue name=q ! "
        + "mux.audio_0"
    )
    let tap = try Tap(pipeline.element(named: "q")?.staticPad("src"))
    try await play(pipeline)
    let file = try MovieFile(path)
    let samples = try file.audio().allSamples
    #expect(samples.count == 25 * 997)
    #expect(samples.allSatisfy { $0.duration == 1 })
    var copied: [UInt8] = []
    for sample in samples {
      copied += file.bytes[Int(sample.offset)..<Int(sample.offset) + Int(sample.size)]
    }
    #expect(copied == tap.buffers.flatMap(\.buffer.bytes))
  }

  @Test("several audio tracks keep their content and language")
  func audioTracks() async throws {
    try await play(
      eyes(10, "width=128,height=64") + mux(to: path)
        + "audiotestsrc num-buffers=10 ! audio/x-raw,rate=44100,channels=1,format=S16LE ! "
        + "taginject tags=language-code=de ! mux.audio_0 "
        + "audiotestsrc num-buffers=10 ! audio/x-raw,rate=48000,channels=2,format=S16LE ! "
        + "taginject tags=language-code=fra ! mux.audio_1")
    let tracks = try MovieFile(path).tracks("soun")
    #expect(tracks.map(\.timescale) == [44100, 48000])
    #expect(tracks.map(\.language) == ["deu", "fra"])
  }

  @Test("audio that is longer than the video, and video longer than the audio, stay complete")
  func lengths() async throws {
    for (frames, packets) in [(10, 200), (60, 10)] {
      try await play(
        eyes(frames, "width=128,height=64") + mux(to: path)
          + "audiotestsrc num-buffers=\(packets) samplesperbuffer=441 ! "
          + "audio/x-raw,rate=44100,channels=1,format=S16LE ! mux.audio_0")
      let file = try MovieFile(path)
      #expect(try file.video().samples.count == frames)
      #expect(try file.audio().samples.count == packets * 441)
    }
  }

  @Test("a track that starts later than the other starts later in the movie")
  func offset() async throws {
    let pipeline = try pipeline(
      eyes(10, "width=128,height=64,framerate=25/1") + mux(to: path)
        + "audiotestsrc name=audio num-buffers=10 samplesperbuffer=441 "
        + "timestamp-offset=200000000 ! "
        + "audio/x-raw,rate=44100,channels=1,format=S16LE ! mux.audio_0")
    try await play(pipeline)
    let file = try MovieFile(path)
    let edits = try file.audio().edits
    #expect(edits.first?.mediaTime == nil)
    #expect(edits.first?.duration == UInt64(file.movie.timescale) / 5)
    #expect(try file.video().edits.allSatisfy { $0.mediaTime != nil })
  }

  @Test("samples of the tracks lie in the file in the order of their times")
  func interleaving() async throws {
    try await play(
      eyes(120, "width=128,height=64") + mux(to: path)
        + "audiotestsrc num-buffers=172 samplesperbuffer=1024 ! "
        + "audio/x-raw,rate=44100,channels=2,format=S16LE ! mux.audio_0")
    let file = try MovieFile(path)
    let starts = try [file.video(), file.audio()].flatMap { track in
      track.allSamples.map { ($0.offset, Double($0.decodeTime) / Double(track.timescale)) }
    }.sorted { $0.0 < $1.0 }
    var latest = 0.0
    for (_, time) in starts {
      #expect(time > latest - 1.1)
      latest = max(latest, time)
    }
  }

  @Test("a GAP event is a time without samples, not a sample")
  func gaps() async throws {
    let pipeline = try pipeline(
      eyes(10, "width=128,height=64") + mux(to: path)
        + "audiotestsrc num-buffers=4 samplesperbuffer=4410 ! "
        + "audio/x-raw,rate=44100,channels=1,format=S16LE ! identity name=i ! mux.audio_0")
    let pad = try #require(pipeline.element(named: "i")?.staticPad("src"))
    pad.putGaps { $0 == 100_000_000 }
    try await play(pipeline)
    let samples = try MovieFile(path).audio().allSamples
    #expect(samples.count == 3 * 4410)
    let last = try #require(samples.last)
    #expect(last.decodeTime == 4 * 4410 - 1)
  }
}
