// SPDX-License-Identifier: MPL-2.0

import Foundation
import StereoMedia
import StereoVideo
import TestKit
import Testing

/// ``StereoWriter``: pairs of pictures become a movie that others read.
struct StereoWriterTests {
  private let folder: TemporaryFolder
  private let output: String

  init() throws {
    folder = try TemporaryFolder()
    output = folder.path("out.mov")
  }

  private var names: [String] {
    get throws { try FileManager.default.contentsOfDirectory(atPath: folder.url.path).sorted() }
  }

  private func quick() -> StereoWriter.Settings {
    var settings = StereoWriter.Settings()
    settings.speed = .ultrafast
    settings.rate = .quality(12)
    return settings
  }

  private func picture(
    width: Int = 128, height: Int = 96, _ format: PixelFormat = .i420, value: UInt8 = 90
  ) throws -> Picture {
    var picture = try PicturePool(format: format, width: width, height: height).take()
    for plane in 0..<picture.planeCount {
      try picture.withPlane(plane) { bytes, layout in
        // The upper byte of a sample of ten bits is at most 3.
        let isDeep = format == .i420With10Bits
        for offset in 0..<bytes.byteCount {
          let byte: UInt8 = isDeep ? (offset % 2 == 1 ? 2 : 0) : value
          bytes.storeBytes(of: byte, toByteOffset: offset, as: UInt8.self)
        }
      }
    }
    return Picture(picture)
  }

  private func code(_ body: () async throws -> Void) async -> StereoMediaError.Code? {
    do {
      try await body()
      return nil
    } catch {
      return (error as? StereoMediaError)?.code
    }
  }

  @Test(
    "a reader's output can be written: pictures, times, audio, and the metadata of the shot",
    .tags(.judge),
    .enabled(if: Python.hasAVAndNumPy, "no Python with PyAV and NumPy"), arguments: ["mov", "mp4"])
  func roundTrip(ending: String) async throws {
    let movie = try await StereoMovie(try await Movies.spatial())
    let video = try #require(movie.video)
    var settings = quick()
    settings.spatial = video.spatial
    settings.audio = movie
    let path = folder.path("out.\(ending)")
    var pixels: [Eye: [UInt8]] = [:]
    let report = try await StereoWriter.write(path, settings) { writer in
      for try await frame in StereoReader(movie) {
        for eye in Eye.allCases { pixels[eye, default: []] += try frame[eye].pixels() }
        try await writer.append(frame)
      }
    }
    #expect(report.path == path && report.frameCount == 40)
    #expect(try names == ["out.\(ending)"])
    #expect(try Data(contentsOf: URL(filePath: path)).count == report.byteCount)

    let written = try await StereoMovie(path)
    #expect(written.verdict.missing == [] && written.isSpatial)
    #expect(written.video?.spatial == video.spatial)
    #expect(written.video?.frames.map(\.time) == video.frames.map(\.time))
    #expect(!written.isFragmented)
    let (audio, copied) = (
      movie.tracks.filter { $0.kind == .audio }, written.tracks.filter { $0.kind == .audio }
    )
    #expect(copied.map(\.sampleCount) == audio.map(\.sampleCount) && copied.count == 1)
    #expect(copied.map(\.codec) == audio.map(\.codec))

    let views = try Python.views(path, in: folder)
    for layer in try #require(written.video).layers {
      let judged = try #require(views["\(layer.viewID)"])
      let eye = try #require(layer.eye)
      let given = try #require(pixels[eye])
      #expect(judged.times.count == 40)
      let (one, other) = (folder.path("one"), folder.path("other"))
      try Data(judged.pixels).write(to: URL(filePath: one))
      try Data(given).write(to: URL(filePath: other))
      #expect(try TestMovie.psnr(one, other) > 40, "\(layer)")
    }
  }

  @Test(
    "pictures of any format become a movie, ten bits with ten",
    arguments: [PixelFormat.rgba, .nv12, .i420With10Bits, "Y444"])
  func formats(format: PixelFormat) async throws {
    let grey = try picture(format, value: 128)
    _ = try await StereoWriter.write(output, quick()) { writer in
      for index in 0..<3 {
        try await writer.append(left: grey, right: grey, at: .milliseconds(40 * index))
      }
    }
    var frames: [StereoFrame] = []
    for try await frame in StereoReader(try await StereoMovie(output)) { frames.append(frame) }
    #expect(frames.map(\.time) == [.zero, .milliseconds(40), .milliseconds(80)])
    #expect(frames.first?.left.format == (format == .i420With10Bits ? .i420With10Bits : .i420))
  }

  @Test(
    "title, date, place, colour and the light levels of HDR are written, and read by others",
    .tags(.process), arguments: ["mov", "mp4"])
  func metadata(ending: String) async throws {
    var settings = quick()
    settings.metadata.title = "Küste"
    settings.metadata.artist = "A. Author"
    settings.metadata.description = "waves"
    settings.metadata.copyright = "© A. Author"
    settings.metadata.date = "2026-01-31T09:30:00+0100"
    settings.metadata.place = StereoMovie.Metadata.Place(
      latitude: 54.5, longitude: -8.25, altitude: 3)
    settings.contentLightLevel = ContentLightLevel(maximum: 1000, maximumFrameAverage: 400)
    settings.masteringDisplay = MasteringDisplayColourVolume(
      green: .init(x: 13250, y: 34500), blue: .init(x: 7500, y: 3000),
      red: .init(x: 34000, y: 16000), whitePoint: .init(x: 15635, y: 16450),
      maximumLuminance: 10_000_000, minimumLuminance: 50)
    var drawn = try MutablePicture(
      format: .i420With10Bits, width: 128, height: 96, colour: .rec2020PQ)
    for plane in 0..<drawn.planeCount {
      try drawn.withPlane(plane) { bytes, layout in
        for offset in stride(from: 0, to: bytes.byteCount, by: 2) {
          bytes.storeBytes(of: 512, toByteOffset: offset, as: UInt16.self)
        }
      }
    }
    let grey = Picture(drawn)
    let path = folder.path("out.\(ending)")
    _ = try await StereoWriter.write(path, settings) { writer in
      for index in 0..<3 {
        try await writer.append(left: grey, right: grey, at: .milliseconds(40 * index))
      }
    }
    let movie = try await StereoMovie(path)
    let video = try #require(movie.video)
    #expect(movie.metadata == settings.metadata)
    #expect(video.colour?.transferCharacteristics == 16 && video.colour?.primaries == 9)
    #expect(video.contentLightLevel == settings.contentLightLevel)
    #expect(video.masteringDisplay == settings.masteringDisplay)
    let said = try Program.run(["exiftool", "-n", path]).output
    for text in [": Küste\n", ": 54.5\n", ": -8.25\n", "2026:01:31 09:30:00+01:00"] {
      #expect(said.contains(text), "\(text) is not in \(said)")
    }

    // A converted movie says the same, although it has no audio.
    let packed = folder.path("packed.mp4")
    var other = quick()
    other.layout = .packed(PackingLayout(.sideBySide))
    other.metadata.title = "Other"
    _ = try await StereoConverter.convert(path, to: packed, other).report
    var expected = settings.metadata
    expected.title = "Other"
    #expect(try await StereoMovie(packed).metadata == expected)
  }

  @Test("mistakes in settings and sizes are told before anything is encoded")
  func mistakes() async throws {
    for (width, height) in [(641, 360), (640, 361), (8, 96), (16_890, 64), (16_000, 16_000)] {
      let picture = try Picture(MutablePicture(format: .gray8, width: width, height: height))
      let writer = try StereoWriter(output, quick())
      do {
        try await writer.append(left: picture, right: picture, at: .zero)
        Issue.record("\(width)x\(height) is taken")
      } catch let error as StereoMediaError {
        #expect(error.code == .invalidInput && error.message.contains("\(width)x\(height)"))
      }
      await writer.cancel()
    }
    for mistake: (inout StereoMovie.Metadata) -> Void in [
      { $0.date = "yesterday" }, { $0.place = .init(latitude: 91, longitude: 0) },
      { $0.place = .init(latitude: 0, longitude: .nan) }, { $0.title = "a\0b" },
    ] {
      var settings = quick()
      mistake(&settings.metadata)
      #expect(await code { _ = try StereoWriter(output, settings) } == .outOfRange)
    }
    do {
      _ = try StereoWriter(folder.path("no/a.mov"))
    } catch let error as StereoMediaError {
      #expect(error.message.hasPrefix("'\(folder.path("no/a.mov"))' cannot be written: No such"))
      #expect(error.hint == "create its folder first")
    }
    #expect(try names == [])
  }

  @Test("without keepsIncomplete, an error and a released writer leave nothing")
  func nothingKept() async throws {
    struct Trouble: Error {}
    var settings = quick()
    settings.keepsIncomplete = false
    let one = try picture()
    await #expect(throws: Trouble.self) {
      _ = try await StereoWriter.write(output, settings) { writer in
        for index in 0..<5 {
          try await writer.append(left: one, right: one, at: .milliseconds(100 * index))
        }
        throw Trouble()
      }
    }
    #expect(try names == [])
    var writer: StereoWriter? = try StereoWriter(output, settings)
    try await writer?.append(left: one, right: one, at: .zero)
    writer = nil
    try await eventually("an empty folder") { try names == [] }
  }

  @Test("frames that do not continue the movie are refused, without effect")
  func refusals() async throws {
    let (one, wide) = (try picture(), try picture(width: 160))
    let writer = try StereoWriter(output, quick())
    #expect(await code { _ = try await writer.finish() } == .invalidInput)
    #expect(
      await code { try await writer.append(left: one, right: wide, at: .zero) } == .invalidInput)
    #expect(
      await code { try await writer.append(left: one, right: one, at: .seconds(-1)) }
        == .invalidInput)
    try await writer.append(left: one, right: one, at: .seconds(1))
    for (picture, time) in [(one, Duration.seconds(1)), (one, .zero), (wide, .seconds(2))] {
      #expect(
        await code { try await writer.append(left: picture, right: picture, at: time) }
          == .invalidInput)
    }
    try await writer.append(left: one, right: one, at: .seconds(2))
    #expect(try await writer.finish().frameCount == 2)
    #expect(
      await code { try await writer.append(left: one, right: one, at: .seconds(3)) }
        == .invalidInput)
    #expect(await code { _ = try await writer.finish() } == .invalidInput)
    #expect(try await StereoMovie(output).video?.frames.count == 2)
    #expect(try names == ["out.mov"])
  }

  @Test("a file that exists, or is being written, is not overwritten")
  func takenNames() async throws {
    let one = try picture()
    let writer = try StereoWriter(output, quick())
    #expect(await code { _ = try StereoWriter(output, quick()) } == .outputExists)
    try await writer.append(left: one, right: one, at: .zero, duration: .milliseconds(20))
    _ = try await writer.finish()
    #expect(await code { _ = try StereoWriter(output, quick()) } == .outputExists)
    var settings = quick()
    settings.replaces = true
    _ = try await StereoWriter.write(output, settings) { writer in
      for second in 0..<3 { try await writer.append(left: one, right: one, at: .seconds(second)) }
    }
    #expect(try await StereoMovie(output).video?.frames.count == 3)
    #expect(await code { _ = try StereoWriter(folder.path("a.avi"), quick()) } == .unwritable)
    #expect(await code { _ = try StereoWriter(folder.path("no/a.mov"), quick()) } == .unwritable)
    settings.rate = .quality(60)
    #expect(await code { _ = try StereoWriter(folder.path("b.mov"), settings) } == .outOfRange)
    settings.rate = .quality(.nan)
    #expect(await code { _ = try StereoWriter(folder.path("b.mov"), settings) } == .outOfRange)
    settings = quick()
    for spatial in [
      SpatialMetadata(horizontalFieldOfView: HorizontalFieldOfView(thousandthsOfDegree: .max)),
      SpatialMetadata(baseline: Baseline(micrometres: 0)),
      SpatialMetadata(disparityAdjustment: DisparityAdjustment(tenThousandths: .min)),
    ] {
      settings.spatial = spatial
      #expect(await code { _ = try StereoWriter(folder.path("b.mov"), settings) } == .outOfRange)
    }
    settings = quick()
    settings.frameRate = .infinity
    #expect(await code { _ = try StereoWriter(folder.path("b.mov"), settings) } == .outOfRange)
    #expect(try names == ["out.mov"])
  }

  @Test(
    "cancelling leaves nothing; a failed or released writer leaves a playable incomplete movie")
  func endings() async throws {
    struct Trouble: Error {}
    let one = try picture()
    let incomplete = folder.path("out.incomplete.mov")
    func write(_ writer: StereoWriter, _ count: Int) async throws {
      for index in 0..<count {
        try await writer.append(
          left: one, right: one, at: .milliseconds(100 * index), duration: .milliseconds(100))
      }
    }
    let writer = try StereoWriter(output, quick())
    try await write(writer, 3)
    await writer.cancel()
    #expect(try names == [])
    #expect(await code { try await write(writer, 1) } == .invalidInput)

    await #expect(throws: Trouble.self) {
      _ = try await StereoWriter.write(output, quick()) { writer in
        try await write(writer, 5)
        throw Trouble()
      }
    }
    #expect(try names == ["out.incomplete.mov"])
    #expect(try await StereoMovie(incomplete).video?.frames.count == 5)
    try FileManager.default.removeItem(atPath: incomplete)

    let task = Task { [output] in
      try await StereoWriter.write(output, quick()) { writer in try await write(writer, 100_000) }
    }
    try await Task.sleep(for: .milliseconds(300))
    task.cancel()
    await #expect(throws: CancellationError.self) { _ = try await task.value }
    #expect(try names == [])

    // Fragments of two seconds are whole by then.
    var given: StereoWriter? = try StereoWriter(output, quick())
    try await write(try #require(given), 400)
    given = nil
    var kept: StereoMovie?
    try await eventually("a hundred frames") {
      kept = try? await StereoMovie(incomplete)
      return (kept?.video?.frames.count ?? 0) > 100
    }
    #expect(kept?.video?.layout == .multiview)
  }

  @Test("cancelling a writer resumes callers that wait for room", .tags(.long))
  func cancelledWhileWaiting() async throws {
    let large = try picture(width: 1280, height: 720)
    var settings = quick()
    settings.speed = .veryslow
    let writer = try StereoWriter(output, settings)
    let task = Task {
      for index in 0..<10_000 {
        try await writer.append(left: large, right: large, at: .milliseconds(40 * index))
      }
    }
    try await Task.sleep(for: .milliseconds(500))
    await writer.cancel()
    let result = await task.result
    #expect(throws: StereoMediaError.self) { try result.get() }
    #expect(try names == [])
  }

  @Test(
    "a full disk is reported as such, and the data so far stays", .tags(.process),
    .enabled(if: SmallDisk.isAllowed, "only root may mount one"))
  func fullDisk() async throws {
    let disk = try SmallDisk(kibibytes: 300, at: folder.path("small"))
    let movie = try await StereoMovie(try await Movies.spatial())
    var settings = quick()
    settings.rate = .quality(0)
    do {
      _ = try await StereoWriter.write("\(disk.path)/a.mov", settings) { writer in
        for pass in 0..<20 {
          for try await frame in StereoReader(movie) {
            try await writer.append(
              left: frame.left, right: frame.right, at: frame.time + .seconds(2) * pass)
          }
        }
      }
      Issue.record("more fits onto the disk than there is room")
    } catch let error as StereoMediaError {
      #expect(error.code == .unwritable && error.message.contains("space"), "\(error)")
      #expect(error.hint?.contains("a.incomplete.mov") == true, "\(error.hint ?? "")")
    }
    #expect(disk.names == ["a.incomplete.mov"])
  }
}
