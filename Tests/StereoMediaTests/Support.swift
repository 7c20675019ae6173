// SPDX-License-Identifier: MPL-2.0

import Foundation
import SpatialElements
import StereoMedia
import TestKit

/// Movies that several tests read, made once.
enum Movies {
  private static let folder = Result { try TemporaryFolder() }
  private static let made = Movies.Made()

  /// B frames, several keyframes, an edit list: 40 frames of 320x90 an eye, with sound.
  static func spatial() async throws -> String {
    try await made.movie("spatial.mov") {
      try await TestMovie.spatial(
        $0, frames: 40, "width=640,height=90,framerate=30000/1001",
        mux: "quality=12 key-int-max=15 horizontal-field-of-view=71.5 baseline=64 "
          + "disparity-adjustment=0.02 hero-eye=right", audio: tone(60))
    }
  }

  /// The same pictures, the right eye in the base layer, fragmented.
  static func fragmented() async throws -> String {
    try await made.movie("fragmented.mp4") {
      try await TestMovie.spatial(
        $0, frames: 40, "width=640,height=90,framerate=30/1",
        mux: "quality=12 key-int-max=15 container=mp4 fragment-duration=300000000")
    }
  }

  /// Both eyes in each frame, plain H.265.
  static func packed(_ mode: String) async throws -> String {
    let size = mode == "top-bottom" ? "width=320,height=180" : "width=640,height=90"
    return try await made.movie("\(mode).mp4") {
      try await TestMovie.make(
        $0,
        "stereotestsrc num-buffers=20 "
          + "! video/x-raw,format=I420,multiview-mode=\(mode),\(size),framerate=30/1 "
          + "! x265enc speed-preset=ultrafast option-string=crf=10 key-int-max=6 ! h265parse "
          + "! mux.video_0 mvhevcmux name=mux")
    }
  }

  /// 300 frames.
  static func long() async throws -> String {
    try await made.movie("long.mov") {
      try await TestMovie.spatial(
        $0, frames: 300, "width=1280,height=360", mux: "speed-preset=ultrafast")
    }
  }

  /// Six frames, 0.2 seconds, with sound.
  static func short() async throws -> String {
    try await made.movie("short.mov") {
      try await TestMovie.spatial(
        $0, frames: 6, "width=640,height=90,framerate=30/1", mux: "quality=12", audio: tone(9))
    }
  }

  /// 300 frames, 10 seconds, of pictures that are soon coded.
  static func lasting() async throws -> String {
    try await made.movie("lasting.mov") {
      try await TestMovie.spatial(
        $0, frames: 300, "width=256,height=72,framerate=30/1", mux: "speed-preset=ultrafast")
    }
  }

  /// One eye only.
  static func mono() async throws -> String {
    try await made.movie("mono.mp4") {
      try await TestMovie.make(
        $0,
        "videotestsrc num-buffers=20 ! video/x-raw,format=I420,width=320,height=90,framerate=30/1 "
          + "! x264enc speed-preset=ultrafast ! h264parse ! mp4mux")
    }
  }

  /// `packets` packets of AAC, to the muxer.
  private static func tone(_ packets: Int) -> String {
    "audiotestsrc num-buffers=\(packets) ! audio/x-raw,rate=44100 ! avenc_aac ! aacparse "
      + "! mux.audio_0"
  }

  private actor Made {
    private var movies: [String: Task<String, any Error>] = [:]

    func movie(
      _ name: String, _ make: @escaping @Sendable (String) async throws -> Void
    ) async throws -> String {
      if let movie = movies[name] { return try await movie.value }
      let path = try Movies.folder.get().path(name)
      let making = Task {
        try SpatialElements.register()
        try await make(path)
        return path
      }
      movies[name] = making
      return try await making.value
    }
  }
}

extension Picture {
  /// Its pixels, plane by plane, row by row, and nothing else.
  func pixels() throws -> [UInt8] {
    var pixels: [UInt8] = []
    for plane in 0..<planeCount {
      try withPlane(plane) { bytes, layout in
        for row in 0..<layout.rows {
          let start = row * layout.stride
          bytes.withUnsafeBytes { pixels += $0[start..<start + layout.rowBytes] }
        }
      }
    }
    return pixels
  }
}

/// Whether two long lists are equal, without their being printed where they are not.
func same(_ one: [UInt8], _ other: [UInt8]) -> Bool { one == other }

/// What this process holds.
enum Holdings {
  static var threads: Int { entries("/proc/self/task") }
  static var files: Int { entries("/proc/self/fd") }

  private static func entries(_ folder: String) -> Int {
    ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []).count
  }

  /// Waits until a count is down to a limit; what is let go of goes a little later.
  static func settle(at limit: Int, _ count: () -> Int) async throws -> Bool {
    try await eventually("\(limit) of them or fewer") { count() <= limit }
    return true
  }
}

/// The mean distance of the two pictures' samples.
func distance(_ one: Picture, _ other: Picture) throws -> Double {
  distance(try one.pixels(), try other.pixels())
}

/// The mean distance of samples.
func distance(_ one: [UInt8], _ other: [UInt8]) -> Double {
  guard one.count == other.count, !one.isEmpty else { return .infinity }
  let sum = zip(one, other).reduce(0) { $0 + abs(Int($1.0) - Int($1.1)) }
  return Double(sum) / Double(one.count)
}

/// Settings that take little time.
func quickSettings() -> StereoWriter.Settings {
  var settings = StereoWriter.Settings()
  settings.speed = .ultrafast
  settings.rate = .quality(10)
  return settings
}

/// Something that tests wait for.
actor Signal {
  private var hasCome = false
  private var waiting: [CheckedContinuation<Void, Never>] = []

  func come() {
    hasCome = true
    for continuation in waiting { continuation.resume() }
    waiting = []
  }

  func wait() async {
    guard !hasCome else { return }
    await withCheckedContinuation { waiting.append($0) }
  }
}

extension Python {
  /// The frames of each view as FFmpeg's own MV-HEVC decoder sees them: pixels and times in
  /// seconds.
  static func views(_ path: String, in folder: TemporaryFolder) throws -> [String: Views] {
    let tool = Repository.url.appending(path: "Tests/Tools/decode_views.py").path
    var views: [String: Views] = [:]
    for line in try lines([tool, "--write", folder.url.path, path]) {
      let words = line.split(separator: " ")
      views[String(words[0]), default: Views()].times.append(Int(words[2]) ?? -1)
    }
    for name in views.keys {
      views[name]?.pixels = [UInt8](
        try Data(contentsOf: URL(filePath: folder.path("\(name).yuv"))))
    }
    return views
  }

  struct Views {
    /// In units of the track's timescale.
    var times: [Int] = []
    var pixels: [UInt8] = []
  }
}

/// Does with each request what a test says.
struct Compose<Instruction: Sendable>: StereoCompositor {
  var output = CompositionOutput.stereo
  let body: @Sendable (CompositionRequest<Instruction>) async throws -> ComposedFrame

  func compose(_ request: CompositionRequest<Instruction>) async throws -> ComposedFrame {
    try await body(request)
  }
}

/// The source `a` as the compositor gives it back.
func composition(
  _ movie: StereoMovie, _ frames: FrameGrid = .of("a"), output: CompositionOutput = .stereo,
  _ body: @escaping @Sendable (CompositionRequest<Void>) async throws -> ComposedFrame = { _ in
    .source("a")
  }
) -> StereoComposition<Compose<Void>> {
  var composition = StereoComposition(Compose<Void>(output: output, body: body), frames: frames)
  composition.add("a", movie)
  return composition
}
