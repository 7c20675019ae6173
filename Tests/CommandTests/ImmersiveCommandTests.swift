// SPDX-License-Identifier: MPL-2.0

import Foundation
import ISOBMFF
import StereoVideo
import TestKit
import Testing

/// What `convert` and `info` make of movies that surround the viewer, and of their names.
@Suite(.tags(.process))
struct ImmersiveCommandTests {
  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
  }

  private func makePacked(_ name: String, width: Int = 128, height: Int = 64) async throws {
    try await TestMovie.sideBySide(folder.path(name), frames: 8, width: width, height: height)
  }

  /// What `convert` says that it would do.
  private func line(_ arguments: [String]) throws -> String {
    let result = try Command.run(["convert"] + arguments + ["--dry-run"], in: folder)
    guard result.status == 0 else { throw Failure(result.errors) }
    return result.errors
  }

  @Test(
    "the file name replaces missing metadata, and the guess is reported",
    arguments: [
      (
        "a_180_LR.mp4", 64, "run sbs-to-mvhevc",
        "packing=side-by-side half-aspect=no projection=half-equirectangular fov=180.000"
      ),
      (
        "A.360.tb.mp4", 128, "run tb-to-mvhevc",
        "packing=top-bottom half-aspect=no projection=equirectangular fov=360.000"
      ),
      (
        "walk-FISHEYE190-RL.mp4", 64, "run fisheye-to-mvhevc",
        "packing=side-by-side packing-flags=right-view-first half-aspect=no lens=190.000"
      ),
      (
        "x_MKX200_SBS.mp4", 64, "run fisheye-to-mvhevc",
        "packing=side-by-side half-aspect=no lens=200.000"
      ),
      (
        "b-VR180-HOU.mp4", 64, "run tb-to-mvhevc",
        "packing=top-bottom half-aspect=no projection=half-equirectangular fov=180.000"
      ),
      ("beach_360.mp4", 64, "run mono-to-immersive", "projection=equirectangular fov=360.000"),
      (
        "Film.3D.Half-SBS.mp4", 54, "run sbs-to-mvhevc", "packing=side-by-side half-aspect=yes"
      ),
      ("Xbox 360 trailer_SBS.mp4", 72, "run sbs-to-mvhevc", "half-aspect=yes"),
    ])
  func names(name: String, height: Int, pipeline: String, values: String) async throws {
    try await makePacked(name, height: height)
    let line = try line([name, "b.mov"])
    #expect(line.contains(pipeline) && line.contains(values), "\(line)")
    #expect(line.contains("note: '\(name)' does not say all of its layout, but its name means"))
  }

  @Test("a missing name, an option and the movie's metadata win over a file name")
  func others() async throws {
    // Words count between separators alone.
    for name in ["1080p_360view.mp4", "color_bt709.mp4"] {
      try await makePacked(name)
      let line = try line([name, "b.mov", "--layout", "full-side-by-side"])
      #expect(!line.contains("note:") && !line.contains("projection="), "\(line)")
    }
    try await makePacked("a_180_LR.mp4")
    let given = try line([
      "a_180_LR.mp4", "b.mov", "--projection", "rectilinear", "--layout",
      "full-top-bottom-reversed",
    ])
    #expect(!given.contains("note:") && !given.contains("projection=half"))
    #expect(given.contains("tb-to-mvhevc") && given.contains("packing-flags=right-view-first"))
    try await TestMovie.play(
      "stereotestsrc num-buffers=4 ! video/x-raw,format=I420,width=128,height=64 ! x265enc "
        + "! h265parse ! stereotagger projection=equirectangular ! m.video_0 "
        + "mvhevcmux name=m container=mp4 ! filesink location=\(folder.path("c_180_TB.mp4"))")
    let said = try line(["c_180_TB.mp4", "b.mov"])
    #expect(!said.contains("note:") && said.contains("sbs-to-mvhevc"))
    #expect(
      said.contains("packing=side-by-side half-aspect=no projection=equirectangular fov=360.000"))
    try await makePacked("d_EAC_LR.mp4")
    #expect(throws: Failure.self) { try line(["d_EAC_LR.mp4", "b.mov"]) }
  }

  @Test("metadata of a Matroska file is used, and lost parts are named")
  func matroska() async throws {
    for (name, size, projection, pose) in [
      ("half", "width=256,height=64", "half-equirectangular", "10,-5,0"),
      ("whole", "width=128,height=128,multiview-mode=top-bottom", "equirectangular", "0,0,0"),
      ("part", "width=256,height=64", "equirectangular bounds=0.1,0.1,0.25,0.25", "10,0,0"),
    ] {
      try await TestMovie.play(
        "stereotestsrc num-buffers=8 ! video/x-raw,format=I420,\(size) ! x264enc ! h264parse "
          + "! mux.video_0 mvhevcmux name=mux container=mp4 projection=\(projection) "
          + "pose=\"\(pose)\" ! filesink location=\(folder.path("\(name).mp4"))")
      // FFmpeg 7 would read `vexu`, which holds no packing here, and forget what the other boxes
      // say.
      let movie = URL(filePath: folder.path("\(name).mp4"))
      var bytes = try Data(contentsOf: movie)
      for box in ["vexu", "hfov"] {
        while let place = bytes.range(of: Data(box.utf8)) {
          bytes.replaceSubrange(place, with: Data("free".utf8))
        }
      }
      try bytes.write(to: movie)
      _ = try await Program.output(
        of: ["ffmpeg", "-v", "error", "-i", "\(name).mp4", "-c", "copy", "\(name).mkv"],
        in: folder.url)
    }
    let half = try line(["half.mkv", "half.mov"])
    #expect(half.contains("sbs-to-mvhevc") && half.contains("projection=half-equirectangular"))
    #expect(half.contains("packing=side-by-side") && !half.contains("note:"), "\(half)")
    #expect(half.contains("the pose is lost: yaw 10.0, pitch -5.0"), "\(half)")
    // A refusal says all.
    let part = try Command.run(["convert", "part.mkv", "part.mov"], in: folder)
    #expect(part.status == 2 && part.errors.contains("an equirectangular picture of"))
    #expect(!part.errors.contains("warning:"), "\(part.errors)")
    let whole = try line(["whole.mkv", "whole.mov"])
    #expect(whole.contains("tb-to-mvhevc") && whole.contains("projection=equirectangular"))
    #expect(!whole.contains("warning:"), "\(whole)")
    let result = try Command.run(
      ["convert", "whole.mkv", "whole.mov", "preset=ultrafast"], in: folder)
    #expect(result.status == 0, "\(result.errors)")
    let info = try Command.run(["info", "whole.mov"], in: folder).output
    #expect(info.contains("equirectangular") && info.contains("360"), "\(info)")
  }

  @Test("H.265 is copied and needs no values for an encoder, unless its pictures must be turned")
  func copied() async throws {
    try await TestMovie.make(
      folder.path("a_360.mp4"),
      "videotestsrc num-buffers=8 ! video/x-raw,format=I420,width=256,height=128 "
        + "! x265enc speed-preset=ultrafast ! h265parse ! mp4mux")
    let copied = try Command.run(
      ["convert", "a_360.mp4", "b.mov", "quality=18", "preset=fast"], in: folder)
    #expect(copied.status == 0, "\(copied.errors)")
    #expect(
      copied.errors.contains(
        "note: the video is copied, so quality and preset are not used\n"
          + "gst-spatial run h265-to-immersive input=a_360.mp4 output=b.mov "
          + "projection=equirectangular fov=360.000\n"), "\(copied.errors)")
    let (original, copy) = (
      try MovieFile(folder.path("a_360.mp4")), try MovieFile(folder.path("b.mov"))
    )
    // The first one is preceded by parameter sets.
    #expect(try copy.samples("vide").dropFirst() == original.samples("vide").dropFirst())
    #expect(try line(["a_360.mp4", "c.mov", "fov=180"]).contains("fov=180\n"))
    #expect(throws: Failure.self) { try line(["a_360.mp4", "c.mov", "nonsense=1"]) }
    for rotation in ["rotate-90", "rotate-180", "flip-rotate-0"] {
      try await TestMovie.play(
        "filesrc location=\(folder.path("a_360.mp4")) ! qtdemux ! h265parse "
          + "! taginject tags=image-orientation=\(rotation) ! m.video_0 mvhevcmux name=m "
          + "container=mp4 ! filesink location=\(folder.path("turned_360_mono.mp4"))")
      let turned = try line([
        "turned_360_mono.mp4", "c.mov", "--projection", "equirectangular", "quality=18",
      ])
      #expect(turned.contains("run mono-to-immersive") && turned.contains("quality=18"))
      #expect(!turned.contains("note: the video is copied"), "\(turned)")
    }
  }

  @Test("a movie named for headsets becomes one that they recognise")
  func converted() async throws {
    try await makePacked("a_180_LR.mp4")
    let result = try Command.run(
      ["convert", "a_180_LR.mp4", "b.mov", "preset=ultrafast"], in: folder)
    #expect(result.status == 0, "\(result.errors)")
    let entry = try MovieFile(folder.path("b.mov")).videoEntry()
    #expect(entry.extendedUsage?.projectionKind == "hequ" && entry.lhvC != nil)
    #expect(entry.horizontalFieldOfView == .some(.init(thousandthsOfDegree: 180_000)))
    let info = try Command.run(["info", "b.mov"], in: folder).output
    #expect(info.contains("projection            half-equirectangular"))
    #expect(info.contains("  specified in        vexu, sv3d\n"))
    #expect(info.contains("plays                 around the viewer and in 3D on Apple Vision Pro"))
  }

  @Test("info names the source of each value, and how headsets interpret it")
  func info() async throws {
    func make(_ properties: String) async throws -> (text: String, json: [String: Any]) {
      try await TestMovie.play(
        "videotestsrc num-buffers=4 ! video/x-raw,format=I420,width=128,height=64 ! x265enc "
          + "! h265parse ! m.video_0 mvhevcmux name=m \(properties) "
          + "! filesink location=\(folder.path("a.mov"))")
      let text = try Command.run(["info", "a.mov"], in: folder)
      let json = try Command.run(["info", "--json", "a.mov"], in: folder)
      let object = try JSONSerialization.jsonObject(with: Data(json.output.utf8))
      return (text.output, try #require(object as? [String: Any]))
    }
    let whole = try await make(
      "projection=equirectangular pose=10,0,-1.5 initial-view=45,0,0")
    for line in [
      "projection            equirectangular",
      "pose                  yaw 10, pitch 0, roll -1.5 degrees",
      "initial view          yaw 45, pitch 0, roll 0 degrees",
      "  specified in        vexu, sv3d, Spherical Video V1",
      "plays                 around the viewer, with one eye, on Apple Vision Pro (visionOS 26)",
    ] {
      #expect(whole.text.contains(line + "\n"), "\(whole.text)")
    }
    #expect(whole.json["pose"] as? [Double] == [10, 0, -1.5])
    #expect(whole.json["initial-view"] as? [Double] == [45, 0, 0])
    #expect(whole.json["apple-immersive"] as? Bool == true)
    let part = try await make("bounds=0.1,0.1,0.25,0.25")
    #expect(part.text.contains("cut off               10 % at the top, 10 % at the bottom, "))
    #expect(part.text.contains("  specified in        sv3d\n"))
    #expect(
      part.text.contains("plays                 around the viewer in players that know 'sv3d'"))
    #expect(part.text.contains("recommended         'vexu/proj/prji': the projection"))
    #expect(part.json["apple-immersive"] as? Bool == false)
  }
}
