// SPDX-License-Identifier: MPL-2.0

import Foundation
import GStreamer
import Packager
import StereoVideo
import TestKit
import Testing

/// Live for a long time, with what happens to live streams: frames that are lost, a source that
/// stalls, another size. `make soak MINUTES=120` takes its time; as one of the tests it lasts half
/// a minute.
@Suite(.tags(.exhaustive), .checkedStreams)
struct LiveSoakTests {
  let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
    StreamWatches.current?.watch(folder.url.path, in: folder)
  }

  /// How long, in seconds.
  private static let length =
    ProcessInfo.processInfo.environment["GST_SPATIAL_SOAK_MINUTES"].flatMap(Double.init)
    .map { $0 * 60 } ?? 30
  /// Seconds from one disturbance to the next.
  private static let period = max(5, min(60, length / 6))

  private var line: String {
    let place = folder.url.path
    return "stereotestsrc is-live=true ! capsfilter name=size caps=\(Self.sizes[0]) ! "
      + "valve name=stall ! sbssplit name=s "
      + "s.left ! identity drop-probability=0.01 ! queue ! enc.left "
      + "s.right ! identity drop-probability=0.01 ! queue ! enc.right "
      + "mvhevcenc name=enc speed-preset=ultrafast tune=zerolatency key-int-max=30 "
      + "pad-timeout=1000000000 "
      + "! tee name=t ! queue ! h.video_0 t. ! queue leaky=downstream ! d.sink "
      + "mvhevcdec name=d d.left ! queue ! fakesink d.right ! queue ! fakesink "
      + "audiotestsrc is-live=true samplesperbuffer=1024 ! audio/x-raw,rate=48000,channels=1 ! "
      + "avenc_aac ! queue ! h.audio_0 "
      + "mvhevchlssink name=h location=\(place)/%s/segment%05d.m4s "
      + "init-location=\(place)/%s/init%05d.mp4 playlist-location=\(place)/%s/index.m3u8 "
      + "multivariant-playlist-location=\(place)/main.m3u8 mpd-location=\(place)/all.mpd "
      + "target-duration=1 playlist-length=6 part-duration=200000000"
  }

  private static let sizes = ["width=256,height=64", "width=192,height=96"].map {
    "video/x-raw,\($0),framerate=30/1"
  }

  /// A segment, when it was told of.
  private struct Added {
    let rendition: String
    let start: Double
    let duration: Double
    /// Seconds since 1970.
    let told: Double
  }

  private func added(_ message: Message) -> Added? {
    guard case .element(let said) = message.content, said.name == "hls-segment-added",
      let location = said.string("location"), case .uint64(let start)? = said["running-time"],
      case .uint64(let duration)? = said["duration"]
    else { return nil }
    return Added(
      rendition: location.split(separator: "/").dropLast().last.map(String.init) ?? "",
      start: Double(start) / 1e9, duration: Double(duration) / 1e9,
      told: Date().timeIntervalSince1970)
  }

  /// What the process has: resident memory in bytes, and open files.
  private func resources() throws -> (memory: Int, files: Int) {
    let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
    let line = try #require(status.split(separator: "\n").first { $0.hasPrefix("VmRSS:") })
    let files = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count
    return (try #require(Int(line.filter(\.isNumber))) * 1024, files)
  }

  /// Alternately stalls the source and changes its size.
  private func disturb(_ pipeline: Pipeline, _ round: Int) async throws {
    if round.isMultiple(of: 2) {
      try pipeline.element(named: "stall")?.set("drop", parsing: "true")
      try await Task.sleep(for: .seconds(2.5))
      try pipeline.element(named: "stall")?.set("drop", parsing: "false")
    } else {
      let size = Self.sizes[(round / 2 + 1) % 2]
      try pipeline.element(named: "size")?.set("caps", parsing: size)
    }
  }

  @Test("nothing grows, nothing drifts, and both eyes are complete at the end", Judge.isThere)
  func live() async throws {
    let pipeline = try pipeline(line)
    defer { pipeline.setState(.null) }
    let disturber = Task {
      var used: [(memory: Int, files: Int)] = []
      for round in 0..<Int(Self.length / Self.period) {
        try await Task.sleep(for: .seconds(Self.period))
        used.append(try resources())
        try await disturb(pipeline, round)
      }
      try await Task.sleep(for: .seconds(3))
      pipeline.send(.endOfStream)
      return used
    }
    #expect(pipeline.play())
    var segments: [Added] = []
    for try await message in pipeline.bus.messages {
      if let segment = added(message) { segments.append(segment) }
      if case .error(let failure) = message.content { throw failure }
      if case .endOfStream = message.content { break }
    }
    let used = try await disturber.value
    try expectFlat(used)
    try expectNoDrift(segments)
    try expectDates(segments)
    let eyes = try eyesOfWindow()
    #expect(eyes["0"] ?? 0 > 60 && eyes["0"] == eyes["1"], "\(eyes)")
  }

  /// After the first third, memory and open files stay what they are.
  private func expectFlat(_ used: [(memory: Int, files: Int)]) throws {
    let (early, late) = (used[used.count / 3], try #require(used.last))
    #expect(late.files <= early.files + 2, "\(used)")
    #expect(late.memory - early.memory < 32 << 20, "\(used)")
    print(
      "soak: memory \(early.memory >> 20) to \(late.memory >> 20) MiB, files", early.files,
      late.files)
  }

  /// Segments follow each other, but for a gap in the video at each stall, which is longer than
  /// `pad-timeout`; audio and video end together, and the delay of segments is the same at the end
  /// as at the beginning.
  private func expectNoDrift(_ segments: [Added]) throws {
    var ends: [String: Double] = [:]
    var gaps: [String: Int] = [:]
    for segment in segments {
      if let end = ends[segment.rendition], abs(segment.start - end) >= 0.0167 {
        // The keyframe after a stall comes within a second.
        #expect((2.4..<3.6).contains(segment.start - end), "\(segment) after \(end)")
        gaps[segment.rendition, default: 0] += 1
      }
      ends[segment.rendition] = segment.start + segment.duration
    }
    #expect(ends.count == 3)
    let stalls = (Int(Self.length / Self.period) + 1) / 2
    #expect(gaps == ["video_0": stalls, "video_0_mono": stalls])
    let (first, last) = (try #require(ends.values.min()), try #require(ends.values.max()))
    #expect(last - first < 1.1, "\(ends)")
    #expect(last > Self.length - 5, "\(ends)")
    let lags = segments.filter { $0.rendition == "audio_0" }
      .map { $0.told - $0.start - $0.duration }
    let quarter = lags.count / 4
    let early = try #require(lags.prefix(quarter).min())
    let late = try #require(lags.dropLast(2).suffix(quarter).min())
    #expect(abs(late - early) < 0.0167 + 0.25 * 30 / Self.length, "\(early) became \(late)")
    print("soak: \(segments.count) segments, lag", early, "to", late, "seconds")
  }

  /// The playlists' dates are the segments' running times, in all renditions from one origin.
  private func expectDates(_ segments: [Added]) throws {
    var origins: [Double] = []
    for rendition in ["video_0", "video_0_mono", "audio_0"] {
      let text = try String(
        contentsOfFile: folder.path("\(rendition)/index.m3u8"), encoding: .utf8)
      let playlist = try MediaPlaylist(parsing: text)
      let last = try #require(segments.last { $0.rendition == rendition })
      let date = try #require(playlist.segments.last?.programDateTime)
      origins.append(Double(date) / 1e9 - last.start)
    }
    let spread = (origins.max() ?? 0) - (origins.min() ?? 0)
    #expect(spread < 0.0167, "\(origins)")
  }

  /// How many pictures of each eye an independent decoder finds in what is listed.
  private func eyesOfWindow() throws -> [String: Int] {
    let program = Repository.url.appending(path: "Tests/Tools/decode_views.py").path
    let lines = try Python.lines([program, folder.path("video_0/index.m3u8")]).map(\.words)
    return Dictionary(
      lines.filter { ["0", "1"].contains($0[0]) }.map { ($0[0], 1) }, uniquingKeysWith: +)
  }
}
