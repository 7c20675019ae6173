// SPDX-License-Identifier: MPL-2.0

import Foundation
import GStreamer
import GStreamerCheck
import ISOBMFF
import StereoVideo
import TestKit
import Testing

/// Timestamps that are missing, go back or jump, in a channel and in a recording.
@Suite(.checkedStreams)
struct TimestampTests {
  private let folder: HLSFolder

  init() throws {
    folder = try HLSFolder()
  }

  /// What happens to the timestamps of six seconds.
  enum Fault: String, CaseIterable, Sendable {
    case none, missingPictures, missingAudio, missingAtStart, picturesBack, audioBackLittle
    case audioBack, restart, restartAtZero, sameTime

    /// Changes a picture's or a packet's times.
    func apply(to buffer: Buffer, number: Int, isVideo: Bool) {
      func move(_ distance: RunningTime) {
        buffer.pts = buffer.pts.map { ClockTime(clamping: RunningTime(clamping: $0) + distance) }
        buffer.dts = buffer.dts.map { ClockTime(clamping: RunningTime(clamping: $0) + distance) }
      }
      let isLater = number >= (isVideo ? 75 : 250)
      switch self {
      case .none: break
      case .missingPictures where isVideo && (75..<80).contains(number),
        .missingAudio where !isVideo && (200..<230).contains(number),
        .missingAtStart where !isVideo && number < 3:
        (buffer.pts, buffer.dts) = (nil, nil)
      case .picturesBack where isVideo && isLater: move(-500_000_000)
      case .audioBackLittle where !isVideo && isLater: move(-30_000_000)
      case .audioBack where !isVideo && isLater: move(-2_000_000_000)
      case .restart where isLater: move(-1_700_000_000)
      case .restartAtZero where isLater: move(-2_500_000_000)
      case .sameTime where !isVideo && (200..<230).contains(number): buffer.pts = 2 * .second
      default: break
      }
    }

    /// A word of the warning; nil if there is to be none.
    var warning: String? {
      switch self {
      case .none, .sameTime: nil
      case .missingPictures, .missingAudio: "had no timestamp"
      case .missingAtStart: "without timestamps"
      case .audioBackLittle: "dropped"
      case .picturesBack: "for a moment"
      case .audioBack, .restart, .restartAtZero: "jumped"
      }
    }
  }

  /// Six seconds of both eyes and of audio into an element's pads; returns the warnings.
  private func feed(_ line: String, _ element: String, _ fault: Fault, encoder: String) async throws
    -> [String]
  {
    let pictures = try await HLSFolder.pictures(6, encoder)
    let pipeline = try pipeline(line)
    let video = try TestSource(feeding: pipeline.element(named: element), "video_0")
    let audio = try TestSource(feeding: pipeline.element(named: element), "audio_0")
    pipeline.setState(.playing)
    var segment = Segment()
    segment.start = pictures[0].buffer.pts ?? 0
    video.begin(pictures[0].caps, segment)
    audio.begin(HLSFolder.audioCaps)
    func push(audio numbers: Range<Int>) {
      for (number, buffer) in zip(numbers, HLSFolder.packets(numbers)) {
        fault.apply(to: buffer, number: number, isVideo: false)
        audio.push(buffer)
      }
    }
    func push(video number: Int) {
      let buffer = pictures[number].buffer.copied()
      fault.apply(to: buffer, number: number, isVideo: true)
      video.push(buffer)
    }
    if element == "h" {
      for number in pictures.indices {
        push(video: number)
        push(audio: number * 10 / 3..<(number + 1) * 10 / 3)
      }
      for source in [video, audio] { source.end() }
    } else {
      // A muxer waits for one while it has no data of the other.
      await withTaskGroup { group in
        group.addTask {
          push(audio: 0..<600)
          audio.end()
        }
        for number in pictures.indices { push(video: number) }
        video.end()
      }
    }
    defer { pipeline.setState(.null) }
    return try await messages(of: pipeline).compactMap { message in
      guard case .warning(let said) = message.content else { return nil }
      return said.message
    }
  }

  private func expectWarning(_ warnings: [String], _ fault: Fault) {
    if let word = fault.warning {
      #expect(warnings.contains { $0.contains(word) }, "\(warnings)")
    } else {
      #expect(warnings.isEmpty)
    }
  }

  @Test(
    "a channel goes on, and its playlists stay true", .tags(.long), arguments: Fault.allCases,
    ["tune=zerolatency", "option-string=bframes=2"].sampled(1))
  func channel(fault: Fault, encoder: String) async throws {
    let line = folder.sink("target-duration=2 segment-duration=1000000000 playlist-type=event")
    expectWarning(try await feed(line, "h", fault, encoder: encoder), fault)
    let names = ["video_0", "video_0_mono", "audio_0"]
    try folder.expectWhole(names)
    let lists = try names.map { try folder.text("\($0)/index.m3u8") }
    for list in lists {
      #expect(list.contains("#EXT-X-TARGETDURATION:2\n") && list.hasSuffix("#EXT-X-ENDLIST\n"))
      #expect(!list.contains("GAP"), "\(list)")
      let seconds = list.matches(of: /#EXTINF:([0-9.]+)/).compactMap { Double($0.1) }
      #expect(seconds.allSatisfy { $0 < 2.5 }, "\(list)")
      // What is hurried or dropped is missing.
      #expect((5.4...6.05).contains(seconds.reduce(0, +)), "\(fault): \(list)")
      let breaks = list.matches(of: /(?m)^#EXT-X-DISCONTINUITY$/).count
      #expect(breaks == (fault.warning == "jumped" ? 1 : 0), "\(list)")
    }
  }

  @Test(
    "a recording goes on, and audio and pictures stay together", .tags(.long),
    arguments: Fault.allCases,
    ["tune=zerolatency", "option-string=bframes=2"].sampled(1))
  func recording(fault: Fault, encoder: String) async throws {
    let file = folder.path("movie.mov")
    let warnings = try await feed(
      "mvhevcmux name=mux ! filesink location=\(file)", "mux", fault, encoder: encoder)
    expectWarning(warnings, fault)
    let movie = try MovieFile(file)
    #expect(try movie.samples("vide").count == 180)
    #expect(try movie.samples("soun").count >= 590)
    for handler in ["vide", "soun"] as [FourCC] {
      let track = try movie.track(handler)
      let samples = track.samples
      let times = (0..<samples.count).compactMap { samples.sample(at: $0)?.presentationTime }
      let (first, last) = (try #require(times.min()), try #require(times.max()))
      let seconds = Double(last - first) / Double(track.timescale)
      #expect((5.4...6.05).contains(seconds), "\(handler): \(seconds)")
    }
  }

  @Test(
    "an encoder is asked for keyframes in its own times, although they jump after it", .tags(.long),
    arguments: [-3_000_000_000, -90_000_000_000, 40_000_000_000])
  func keyframes(jump: Int64) async throws {
    let line =
      folder.sink("target-duration=2 segment-duration=1000000000 playlist-type=event")
      + folder.video(150, "tune=zerolatency key-int-max=1000 scene-cuts=false")
      .replacing("! queue ! h.", with: "! identity name=jumps ! h.")
    // Whether times lie in the future, only a live source can tell.
    let pipeline = try pipeline(
      jump > 0 ? line.replacing("stereotestsrc", with: "stereotestsrc is-live=true") : line)
    let pad = try #require(pipeline.element(named: "jumps")?.staticPad("src"))
    let count = Locked(0)
    pad.onEachBuffer { pad, _ in
      let number = count.withLock {
        $0 += 1
        return $0
      }
      if number == 60 { pad.offset = jump }
      return .passes
    }
    try await play(pipeline)
    let list = try folder.text("video_0/index.m3u8")
    let seconds = list.matches(of: /#EXTINF:([0-9.]+)/).compactMap { Double($0.1) }
    #expect(seconds.allSatisfy { $0 < 1.5 } && seconds.reduce(0, +) > 4.5, "\(list)")
  }
}
