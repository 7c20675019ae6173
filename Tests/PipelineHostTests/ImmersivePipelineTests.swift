// SPDX-License-Identifier: MPL-2.0

import Foundation
import ISOBMFF
import PipelineHost
import StereoVideo
import TestElements
import TestKit
import Testing

/// The ready pipelines for pictures that surround the viewer, by what comes out.
struct ImmersivePipelineTests {
  private let folder: TemporaryFolder

  init() throws {
    try BuiltPlugin.require()
    folder = try TemporaryFolder()
  }

  private func expect(_ path: String, _ kind: ProjectionKind, width: UInt16, degrees: Double) throws
  {
    let movie = try MovieFile(path)
    let entry = try movie.videoEntry()
    #expect(entry.codec == "hvc1" && entry.lhvC != nil)
    #expect(entry.extendedUsage?.views == [.leftEye, .rightEye])
    #expect(entry.spatialMetadata.projection == kind)
    #expect(entry.horizontalFieldOfView?.degrees == degrees)
    #expect(entry.width == width)
    #expect(try movie.track("vide").samples.count == 8)
    #expect(try !movie.samples("soun").isEmpty)
  }

  @Test(
    "packed movies of 180 and 360 degrees keep each eye's pictures and their metadata",
    arguments: [
      ("vr180-to-mvhevc", "side-by-side", ProjectionKind.halfEquirectangular, 180.0),
      ("360-to-mvhevc", "top-bottom", .equirectangular, 360),
    ])
  func packed(name: String, mode: String, kind: ProjectionKind, degrees: Double) async throws {
    let (input, output) = (folder.path("a.mp4"), folder.path("a.mov"))
    let isBeside = mode == "side-by-side"
    try await TestMovie.sideBySide(
      input, frames: 8, width: isBeside ? 512 : 256, height: 256)
    try await runReady(
      name, ["input=\(input)", "output=\(output)", "quality=12", "preset=ultrafast"])
    try expect(output, kind, width: 256, degrees: degrees)
    try await TestMovie.split(
      input, mode: mode, left: folder.path("l0"), right: folder.path("r0"))
    try await TestMovie.decode(output, left: folder.path("l1"), right: folder.path("r1"))
    #expect(try TestMovie.psnr(folder.path("l0"), folder.path("l1")) > 38)
    #expect(try TestMovie.psnr(folder.path("r0"), folder.path("r1")) > 38)
  }

  @Test("two fisheye pictures become two half spheres, with the given lens")
  func fisheye() async throws {
    let (input, output) = (folder.path("a.mp4"), folder.path("a.mov"))
    try await TestMovie.sideBySide(input, frames: 8, width: 512, height: 256)
    try await runReady(
      "fisheye-to-mvhevc",
      [
        "input=\(input)", "output=\(output)", "quality=12", "preset=ultrafast", "lens=200",
        "size=192", "yaw=10",
      ])
    try expect(output, .halfEquirectangular, width: 192, degrees: 180)
    let convert =
      "queue ! sphericalconvert projection=fisheye fisheye-field-of-view=200 yaw=10 "
      + "output-projection=half-equirectangular ! video/x-raw,width=192,height=192 ! "
      + "filesink location="
    try await TestMovie.play(
      "filesrc location=\(input) ! decodebin caps=video/x-raw ! videoconvert "
        + "! video/x-raw,format=I420 ! sbssplit name=s input-mode-override=side-by-side "
        + "half-aspect=no s.left ! \(convert)\(folder.path("l0")) "
        + "s.right ! \(convert)\(folder.path("r0"))")
    try await TestMovie.decode(output, left: folder.path("l1"), right: folder.path("r1"))
    #expect(try TestMovie.psnr(folder.path("l0"), folder.path("l1")) > 36)
    #expect(try TestMovie.psnr(folder.path("r0"), folder.path("r1")) > 36)
    #expect(try TestMovie.psnr(folder.path("l0"), folder.path("r1")) < 32)
  }

  /// A spatial movie of half spheres, with sound.
  private func makeImmersive() async throws -> String {
    let path = folder.path("immersive.mov")
    try await TestMovie.spatial(
      path, frames: 8, "width=512,height=256,framerate=30/1",
      mux: "quality=10 projection=half-equirectangular",
      audio: "audiotestsrc num-buffers=12 ! avenc_aac ! aacparse ! mux.audio_0")
    return path
  }

  @Test("a camera on its path makes a flat movie of one eye, or of both")
  func reframing() async throws {
    let input = try await makeImmersive()
    let path = try folder.write("time,yaw,pitch\n0,-30,0\n0.2,30,10", to: "camera.csv")
    let view =
      "sphericalview path=\(path) field-of-view=70 ! video/x-raw,width=128,height=80"
      + " ! videoconvert ! video/x-raw,format=RGBA ! filesink location="
    try await TestMovie.play(
      "filesrc location=\(input) ! mvhevcdemux name=d d.video_0 ! mvhevcdec name=e "
        + "e.left ! queue ! \(view)\(folder.path("l0")) e.right ! queue ! "
        + "\(view)\(folder.path("r0"))"
    )
    let arguments = [
      "input=\(input)", "path=\(path)", "fov=70", "width=128", "height=80", "quality=6",
      "preset=ultrafast",
    ]
    let (flat, spatial) = (folder.path("flat.mp4"), folder.path("flat.mov"))
    try await runReady("immersive-to-2d", arguments + ["output=\(flat)"])
    try await TestMovie.play(
      "filesrc location=\(flat) ! decodebin caps=video/x-raw ! videoconvert "
        + "! video/x-raw,format=RGBA ! filesink location=\(folder.path("l1"))")
    #expect(try TestMovie.psnr(folder.path("l0"), folder.path("l1")) > 36)
    #expect(try !MovieFile(flat).samples("soun").isEmpty)
    try await runReady("immersive-to-mvhevc", arguments + ["output=\(spatial)"])
    try expect(spatial, .rectilinear, width: 128, degrees: 70)
    try await TestMovie.decode(
      spatial, left: folder.path("l1"), right: folder.path("r1"), format: "RGBA")
    #expect(try TestMovie.psnr(folder.path("l0"), folder.path("l1")) > 36)
    #expect(try TestMovie.psnr(folder.path("r0"), folder.path("r1")) > 36)
    #expect(try TestMovie.psnr(folder.path("l0"), folder.path("r1")) < 34)
  }

  @Test("a player shows its view direction, for layered and packed movies")
  func playback() async throws {
    let (spatial, packed) = (try await makeImmersive(), folder.path("packed.mp4"))
    try await TestMovie.play(
      "stereotestsrc num-buffers=8 ! video/x-raw,format=I420,width=512,height=256,framerate=30/1 "
        + "! x265enc ! h265parse ! stereotagger projection=half-equirectangular ! m.video_0 "
        + "mvhevcmux name=m container=mp4 ! filesink location=\(packed)")
    let sinks = ["yaw=20", "video-sink=fakesink", "audio-sink=fakesink"]
    for input in [spatial, packed] {
      try await runReady("immersive-playback", ["input=\(input)"] + sinks)
    }
    // It does look at the pictures: what no movie says, it asks for.
    let flat = folder.path("flat.mp4")
    try await TestMovie.sideBySide(flat, frames: 8)
    await #expect(throws: (any Error).self) {
      try await runReady("immersive-playback", ["input=\(flat)"] + sinks)
    }
    try await runReady(
      "immersive-playback", ["input=\(flat)", "projection=equirectangular"] + sinks)
  }
}
