// SPDX-License-Identifier: MPL-2.0

import Foundation
import StereoMedia
import StereoVideo
import TestKit
import Testing

/// ``StereoConverter``: any stereo movie becomes a spatial one.
struct StereoConverterTests {
  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
  }

  private var names: [String] {
    get throws { try FileManager.default.contentsOfDirectory(atPath: folder.url.path).sorted() }
  }

  @Test(
    "a packed movie becomes a spatial one of the same eyes",
    arguments: ["side-by-side", "top-bottom"])
  func packed(mode: String) async throws {
    let input = try await Movies.packed(mode)
    let output = folder.path("a.mov")
    var last = 0.0
    for try await progress in StereoConverter.convert(input, to: output, quickSettings()) {
      #expect(progress.fraction >= last && progress.fraction <= 1)
      last = progress.fraction
    }
    #expect(last == 1)
    let written = try await StereoMovie(output)
    #expect(written.isSpatial, "\(written.verdict.missing)")
    let frames = try await StereoReader(try await StereoMovie(input)).reduce(into: []) {
      $0.append($1)
    }
    let again = try await StereoReader(written).reduce(into: []) { $0.append($1) }
    #expect(frames.count == 20 && again.map(\.time) == frames.map(\.time))
    for (one, other) in zip(frames, again) {
      for eye in Eye.allCases { #expect(try distance(one[eye], other[eye]) < 2) }
    }
    #expect(try distance(again[0].left, again[0].right) > 2)
  }

  @Test("two conversions and a player at once do not disturb each other")
  func atOnce() async throws {
    let inputs = [try await Movies.packed("side-by-side"), try await Movies.packed("top-bottom")]
    let player = try await StereoPlayer(
      try await StereoMovie(try await Movies.spatial()), audio: .none)
    let states = player.states
    player.play()
    let reports = try await withThrowingTaskGroup(of: StereoWriter.Report.self) { group in
      for (number, input) in inputs.enumerated() {
        let output = folder.path("\(number).mov")
        group.addTask {
          try await StereoConverter.convert(input, to: output, quickSettings()).report
        }
      }
      return try await group.reduce(into: []) { $0.append($1) }
    }
    #expect(reports.map(\.frameCount) == [20, 20])
    for await state in states where state == .ended { break }
    for number in inputs.indices {
      #expect(try await StereoMovie(folder.path("\(number).mov")).isSpatial)
    }
  }

  @Test(
    "a spatial movie becomes a tagged packed one; in H.264 without loss",
    arguments: [
      PackingLayout(.sideBySide), PackingLayout(.topBottom, rightViewFirst: true),
      PackingLayout(.sideBySide, halfAspect: true),
    ])
  func toPacked(packing: PackingLayout) async throws {
    let movie = try await StereoMovie(try await Movies.spatial())
    var settings = quickSettings()
    settings.layout = .packed(packing)
    settings.rate = .quality(0)
    let report = try await StereoConverter.convert(
      try await Movies.spatial(), to: folder.path("a.mp4"), settings
    ).report
    #expect(report.frameCount == 40)
    let written = try await StereoMovie(report.path)
    // No box says that the eyes are squeezed.
    let said = PackingLayout(packing.arrangement, rightViewFirst: packing.rightViewFirst)
    #expect(written.video?.layout == .packed(said))
    #expect(written.tracks.contains { $0.kind == .video && $0.codec == "avc1" })
    #expect(written.video?.spatial == movie.video?.spatial)
    #expect(written.tracks.count { $0.kind == .audio } == 1)
    let frames = try await StereoReader(movie).reduce(into: []) { $0.append($1) }
    let again = try await StereoReader(written).reduce(into: []) { $0.append($1) }
    #expect(again.count == frames.count)
    for (one, other) in zip(frames, again) {
      #expect(abs((one.time - other.time) / .nanoseconds(1)) <= 1)
      for eye in Eye.allCases where !packing.halfAspect {
        #expect(same(try one[eye].pixels(), try other[eye].pixels()), "\(one.time) \(eye)")
      }
    }
    #expect(again.first?.left.width == (packing.halfAspect ? 160 : 320))
  }

  @Test("a spatial movie becomes one of the left eye")
  func toMono() async throws {
    let input = try await Movies.spatial()
    var settings = quickSettings()
    settings.layout = .mono
    let report = try await StereoConverter.convert(
      input, to: folder.path("a.mp4"), settings
    ).report
    let written = try await StereoMovie(report.path)
    #expect(written.video?.layout == .mono && written.video?.frames.count == 40)
  }

  @Test("no movie holds the eyes in alternate frames")
  func alternate() async throws {
    var settings = quickSettings()
    settings.layout = .packed(PackingLayout(.frameByFrame))
    let error = await #expect(throws: StereoMediaError.self) {
      _ = try await StereoConverter.convert(
        try await Movies.spatial(), to: folder.path("a.mp4"), settings
      ).report
    }
    #expect(error?.code == .outOfRange)
    #expect(try names == [])
  }

  @Test(
    "an untagged packing is detected or given; one eye is refused; audio is copied",
    arguments: [nil, PackingLayout(.sideBySide)])
  func untold(packing: PackingLayout?) async throws {
    let input = folder.path("untold.mp4")
    try await TestMovie.play(
      "stereotestsrc num-buffers=30 ! video/x-raw,format=I420,multiview-mode=side-by-side,"
        + "width=640,height=90,framerate=30/1 ! capssetter replace=true "
        + "caps=video/x-raw,format=I420,width=640,height=90,framerate=30/1 ! x264enc "
        + "speed-preset=ultrafast ! h264parse ! m. audiotestsrc num-buffers=40 ! avenc_aac ! m. "
        + "mp4mux name=m ! filesink location=\(input)")
    let single = folder.path("single.mp4")
    try await TestMovie.play(
      "videotestsrc num-buffers=10 pattern=gradient ! video/x-raw,width=640,height=90 ! x264enc "
        + "speed-preset=ultrafast ! h264parse ! mp4mux ! filesink location=\(single)")
    await #expect(throws: StereoMediaError.self) {
      _ = try await StereoConverter.convert(single, quickSettings()).report
    }
    #expect(try names == ["single.mp4", "untold.mp4"])
    let report = try await StereoConverter.convert(
      input, packing: packing, quickSettings()
    ).report
    #expect(report.path == folder.path("untold_MVHEVC.mov") && report.frameCount == 30)
    let written = try await StereoMovie(report.path)
    #expect(written.video?.eyeWidth == 320)
    #expect(written.tracks.count { $0.kind == .audio } == 1)
  }

  @Test(
    "an abandoned or cancelled conversion leaves nothing; a second run of one is refused",
    .tags(.realTime))
  func left() async throws {
    let input = try await Movies.spatial()
    let output = folder.path("a.mov")
    // More than the encoder looks ahead.
    let long = try await Movies.long()
    var slow = quickSettings()
    slow.speed = .slow
    var frames = 0
    for try await progress in StereoConverter.convert(long, to: output, slow) {
      frames = progress.frameCount
      #expect(try names == ["a.incomplete.mov"])
      await #expect(throws: StereoMediaError.self) {
        _ = try await StereoConverter.convert(input, to: output, quickSettings()).report
      }
      break
    }
    #expect(frames > 0)
    try await eventually("an empty folder") { try names.isEmpty }

    let task = Task { [slow] in try await StereoConverter.convert(long, to: output, slow).report }
    try await Task.sleep(for: .milliseconds(200))
    task.cancel()
    await #expect(throws: CancellationError.self) { _ = try await task.value }
    #expect(try names == [])

    _ = try await StereoConverter.convert(input, to: output, quickSettings()).report
    await #expect(throws: StereoMediaError.self) {
      _ = try await StereoConverter.convert(input, to: output, quickSettings()).report
    }
    #expect(try names == ["a.mov"])
  }

  @Test("an unreadable input is an error, and nothing is written")
  func unreadable() async throws {
    let broken = folder.path("broken.mov")
    try Data(repeating: 7, count: 5000).write(to: URL(filePath: broken))
    for input in [broken, folder.path("none.mov"), try await Movies.mono()] {
      await #expect(throws: StereoMediaError.self) {
        _ = try await StereoConverter.convert(input, to: folder.path("a.mov")).report
      }
    }
    #expect(try names == ["broken.mov"])
  }

  @Test("a movie whose date is no date is converted", .tags(.process))
  func strangeDate() async throws {
    _ = try await Program.output(
      of: [
        "ffmpeg", "-v", "error", "-f", "lavfi", "-i", "testsrc2=size=320x120:rate=10:duration=1",
        "-c:v", "libx264", "-metadata", "date=last summer", "-metadata", "title=Sea", "a.mp4",
      ], in: folder.url)
    let input = try await StereoMovie(folder.path("a.mp4"))
    #expect(input.metadata.date == "last summer")
    let output = folder.path("b.mov")
    _ = try await StereoConverter.convert(
      input.path, to: output, packing: PackingLayout(.sideBySide), quickSettings()
    ).report
    #expect(try await StereoMovie(output).metadata.title == "Sea")
  }
}
