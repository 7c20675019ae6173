// SPDX-License-Identifier: MPL-2.0

import Foundation
import GStreamer
import ISOBMFF
import StereoVideo
import TestElements
import TestKit
import Testing

/// How `mvhevcmux` says that pictures surround the viewer: to Apple's players, to those that know
/// Google's boxes, and to those that know the older text alone.
struct ImmersiveMovieTests {
  private let folder: TemporaryFolder
  private let path: String

  init() throws {
    try BuiltPlugin.require()
    folder = try TemporaryFolder()
    path = folder.path("a.mp4")
  }

  /// Makes a movie of one stream of pictures; gives what the muxer warned of.
  @discardableResult
  private func make(_ tagger: String, caps: String = "") async throws -> String {
    let mark = caps.isEmpty ? "" : "capssetter caps=video/x-h265,\(caps) ! "
    return warnings(
      try await play(
        "videotestsrc num-buffers=4 ! video/x-raw,format=I420,width=256,height=128,framerate=30/1 "
          + "! x265enc speed-preset=ultrafast ! h265parse ! \(mark)stereotagger \(tagger) "
          + "! mux.video_0 mvhevcmux name=mux container=mp4 ! filesink location=\(path)"))
  }

  /// Makes a spatial movie.
  private func makePair(_ tagger: String) async throws -> String {
    warnings(
      try await play(
        "stereotestsrc num-buffers=4 ! video/x-raw,format=I420,width=512,height=128,framerate=30/1 "
          + "! sbssplit name=s s.left ! stereotagger \(tagger) ! queue ! mux.left s.right ! queue "
          + "! mux.right mvhevcmux name=mux container=mp4 speed-preset=ultrafast "
          + "! filesink location=\(path)"))
  }

  private func warnings(_ messages: [Message]) -> String {
    messages.compactMap { message in
      if case .warning(let failure) = message.content { failure.message } else { nil }
    }.joined(separator: "\n")
  }

  private func remux(_ from: String, between: String = "") async throws -> MovieFile {
    let copy = folder.path("copy.mp4")
    try await play(
      "filesrc location=\(from) ! mvhevcdemux name=d d.video_0 ! \(between)queue ! m.video_0 "
        + "mvhevcmux name=m container=mp4 ! filesink location=\(copy)")
    return try MovieFile(copy)
  }

  /// What other programs read: ExifTool, FFmpeg 5.1, and a later FFmpeg, which knows `vexu`.
  private func judges() throws -> (exiftool: String, ffprobe: String, later: String) {
    (
      try Program.run(["exiftool", path]).output,
      try Program.run(["ffprobe", "-hide_banner", path]).output,
      try Python.text([Repository.url.appending(path: "Tests/Tools/dump_format.py").path, path])
    )
  }

  /// Whether ffprobe reads all that a movie says: from FFmpeg 7 on it reads a projection of `vexu`,
  /// and nothing of how frames are packed nor a pose, and then does not say what `st3d` and `sv3d`
  /// do.
  private static let ffprobeReadsAll =
    (try? Program.run(["ffprobe", "-version"]).output).map { said in
      ["4", "5", "6"].contains { said.hasPrefix("ffprobe version \($0)") }
    } == true

  /// Taken out of the movie and put into another, nothing of it changes.
  private func expectFixedPoint(sourceLocation: SourceLocation = #_sourceLocation) async throws {
    let (old, new) = (try MovieFile(path), try await remux(path))
    #expect(try new.videoEntry() == old.videoEntry(), sourceLocation: sourceLocation)
    #expect(
      try new.video().sphericalVideoV1 == old.video().sphericalVideoV1,
      sourceLocation: sourceLocation)
  }

  @Test(
    "one eye's whole sphere is in all three kinds of metadata, without stereo", .tags(.judge),
    Python.hasAVTrait)
  func mono() async throws {
    let warned = try await make(
      "projection=equirectangular pose=30,-2.5,1 initial-view=45,10,0")
    #expect(warned.contains("vexu: the pose is lost: yaw 30.0, pitch -2.5, roll 1.0 degrees"))
    let movie = try MovieFile(path)
    let entry = try movie.videoEntry()
    #expect(entry.extendedUsage?.views == nil && entry.extendedUsage?.projectionKind == "equi")
    #expect(entry.horizontalFieldOfView?.degrees == 360)
    #expect(entry.stereoscopicMode == .monoscopic)
    #expect(!movie.bytes.contains(Array("spatial.format-version".utf8)))
    let said = try judges()
    for (name, value) in [
      ("Spherical", "true"), ("Projection Type", "equirectangular"),
      ("Initial View Heading Degrees", "45"), ("Initial View Pitch Degrees", "10"),
    ] {
      let line = said.exiftool.split(separator: "\n").first { $0.hasPrefix("\(name) ") }
      #expect(line?.hasSuffix(": \(value)") == true, "\(name)")
    }
    if Self.ffprobeReadsAll {
      #expect(said.ffprobe.contains("spherical: equirectangular (30.000000/-2.500000/1.000000)"))
    }
    // FFmpeg 9 has other words.
    #expect(["stereo3d: 2D", "Stereo 3D: 2D"].contains { said.ffprobe.contains($0) })
    #expect(said.later.contains("Spherical Mapping: equirectangular"))
    #expect(said.later.contains("horizontal_field_of_view: 360.000"))
    try await expectFixedPoint()
  }

  @Test(
    "two eyes of a half sphere in a frame", .tags(.judge), Python.hasAVTrait,
    arguments: [
      (PackingLayout.Arrangement.sideBySide, "side-by-side", "side by side"),
      (.topBottom, "top-bottom", "top and bottom"),
    ])
  func packed(arrangement: PackingLayout.Arrangement, mode: String, words: String) async throws {
    let warned = try await make(
      "projection=half-equirectangular baseline=64", caps: "multiview-mode=\(mode)")
    #expect(warned.isEmpty)
    let entry = try MovieFile(path).videoEntry()
    #expect(entry.extendedUsage?.packing == entry.stereoscopicMode?.packing)
    #expect(entry.extendedUsage?.packing?.arrangement == arrangement)
    #expect(entry.extendedUsage?.baseline?.millimetres == 64)
    #expect(entry.extendedUsage?.disparityAdjustment == nil)
    #expect(entry.horizontalFieldOfView?.degrees == 180)
    #expect(entry.sphericalVideo?.kind == .halfEquirectangular)
    let said = try judges()
    if Self.ffprobeReadsAll {
      #expect(said.ffprobe.contains("stereo3d: \(words)"))
      #expect(said.ffprobe.contains("spherical: tiled equirectangular"))
    }
    #expect(said.later.contains("Stereo 3D: \(words)"))
    #expect(said.later.contains("Spherical Mapping: half equirectangular"))
    try await expectFixedPoint()
  }

  @Test("two eyes in layers: Google's boxes describe the base eye alone")
  func layered() async throws {
    #expect(try await makePair("projection=half-equirectangular").isEmpty)
    let entry = try MovieFile(path).videoEntry()
    #expect(entry.extendedUsage?.views == [.leftEye, .rightEye])
    #expect(entry.extendedUsage?.projectionKind == "hequ")
    // An unknown baseline is not invented.
    #expect(entry.extendedUsage?.baseline == nil)
    #expect(entry.horizontalFieldOfView?.degrees == 180)
    #expect(entry.sphericalVideo?.kind == .halfEquirectangular && entry.stereoscopicMode == nil)
    try await expectFixedPoint()
  }

  @Test("a part of the sphere keeps its bounds in Google's boxes; Apple's have no name for it")
  func bounds() async throws {
    let bounds = SphereBounds(top: 1 << 29, bottom: 1 << 28, left: 1 << 30, right: 3 << 28)
    let text = "0.125,0.0625,0.25,0.1875"
    for warned in [
      try await make("bounds=\(text)"), try await makePair("bounds=\(text)"),
    ] {
      #expect(
        warned.contains(
          "vexu: cannot represent a part of the sphere with 25.0% cut off at the left"))
      let entry = try MovieFile(path).videoEntry()
      #expect(entry.extendedUsage?.projectionKind == nil)
      #expect(entry.immersiveMetadata?.projection == .known(.equirectangular(bounds)))
      try await expectFixedPoint()
    }
  }

  @Test("metadata that no format can hold is reported as lost")
  func lost() async throws {
    let warned = try await make("", caps: "width=256")
    #expect(warned.isEmpty)
    let fisheye = warnings(
      try await play(
        "videotestsrc num-buffers=4 ! video/x-raw,format=I420,width=256,height=128 "
          + "! sphericalconvert projection=equirectangular output-projection=fisheye "
          + "! x265enc speed-preset=ultrafast ! h265parse ! mux.video_0 mvhevcmux name=mux "
          + "! filesink location=\(path)"))
    #expect(fisheye.contains("cannot represent the projection; reproject to equirectangular"))
    #expect(try await make("projection=parametric").contains("the lenses are lost"))
  }

  @Test("tagging a flat movie as immersive twice gives the same movie as once")
  func retagging() async throws {
    _ = try await makePair("horizontal-field-of-view=63.4")
    let tag = "stereotagger projection=equirectangular ! "
    let once = try await remux(path, between: tag)
    let entry = try once.videoEntry()
    #expect(entry.extendedUsage?.projectionKind == "equi")
    #expect(entry.extendedUsage?.baseline?.millimetres == 63.5)
    // That of the flat movie holds no more.
    #expect(entry.horizontalFieldOfView?.degrees == 360)
    #expect(entry.sphericalVideo?.kind == .equirectangular)
    #expect(try once.video().sphericalVideoV1 != nil)
    let other = folder.path("once.mp4")
    try Data(once.bytes).write(to: URL(filePath: other))
    let twice = try await remux(other, between: tag)
    #expect(try twice.videoEntry() == entry)
    #expect(try twice.video().sphericalVideoV1 == once.video().sphericalVideoV1)
    // What does not hold is gone from all three.
    let part = try await remux(other, between: "stereotagger bounds=0.1,0.1,0.25,0.25 ! ")
    #expect(try part.videoEntry().extendedUsage?.projectionKind == nil)
    #expect(try part.videoEntry().extendedUsage?.baseline?.millimetres == 63.5)
    #expect(try part.videoEntry().sphericalVideo?.kind == nil)
    #expect(try part.video().sphericalVideoV1 == nil)
    let flat = try await remux(other, between: "stereotagger projection=rectilinear ! ")
    #expect(try flat.videoEntry().extendedUsage?.projectionKind == "rect")
    #expect(try flat.videoEntry().horizontalFieldOfView?.degrees == 63.4)
    #expect(try flat.videoEntry().sphericalVideo == nil)
    #expect(try flat.video().sphericalVideoV1 == nil)
  }

  @Test(
    "impossible properties are an error",
    arguments: ["pose=1,2", "bounds=0.5,0.6,0,0", "initial-view=a,b,c"])
  func refused(property: String) async throws {
    for (tagger, muxer) in [(property, ""), ("", property)] {
      let failure = try await failure(
        of: "videotestsrc num-buffers=2 ! video/x-raw,width=64,height=64 ! x265enc ! h265parse "
          + "! stereotagger \(tagger) ! mux.video_0 mvhevcmux name=mux \(muxer) "
          + "! filesink location=\(path)")
      #expect(failure.message.contains("has the invalid value"), "\(failure.message)")
    }
  }
}
