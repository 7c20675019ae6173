// SPDX-License-Identifier: MPL-2.0

import Foundation
import TestKit
import Testing

/// `gst-spatial play`: what a window gets, in a file and on a virtual screen.
@Suite(.tags(.process))
struct PlayCommandTests {
  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
  }

  private func path(_ name: String) -> String { folder.path(name) }

  private func makeSpatial(frames: Int = 20) async throws {
    try await TestMovie.spatial(
      path("a.mov"), frames: frames, "width=640,height=90,framerate=30/1", mux: "key-int-max=10")
  }

  /// What the window gets, as a file; its pictures are RGBA, which has no padding.
  private func shown(_ arguments: [String]) throws -> Data {
    let sink = "video/x-raw,format=RGBA ! filesink location=\(path("shown"))"
    let result = try Command.run(
      ["play"] + arguments + ["--mute", "--video-sink", sink], in: folder)
    guard result.status == 0 else { throw Failure(result.errors) }
    return try Data(contentsOf: URL(filePath: path("shown")))
  }

  private func pictures(_ line: String) async throws -> Data {
    try await TestMovie.play(
      line + " ! videoconvert ! video/x-raw,format=RGBA ! filesink "
        + "location=\(path("expected"))")
    return try Data(contentsOf: URL(filePath: path("expected")))
  }

  @Test(
    "a spatial movie is shown in every mode as stereopack makes it",
    arguments: ["anaglyph", "side-by-side", "top-bottom", "row-interleaved"])
  func modes(mode: String) async throws {
    try await makeSpatial()
    let expected = try await pictures(
      "filesrc location=\(path("a.mov")) ! mvhevcdemux name=d d.video_0 ! mvhevcdec name=e "
        + "e.left ! queue ! videoconvert ! p.left e.right ! queue ! videoconvert ! p.right "
        + "stereopack name=p mode=\(mode)")
    let shown = try shown(["a.mov"] + (mode == "anaglyph" ? [] : ["--mode", mode]))
    #expect(!shown.isEmpty && shown == expected)
  }

  @Test(
    "one eye is shown alone; a movie without a second one is shown as it is",
    arguments: ["left", "right"])
  func eyes(eye: String) async throws {
    try await makeSpatial()
    try await TestMovie.decode(
      path("a.mov"), left: path("left"), right: path("right"), format: "RGBA")
    #expect(try shown(["a.mov", "--mode", eye]) == Data(contentsOf: URL(filePath: path(eye))))
    try await TestMovie.play(
      "videotestsrc num-buffers=9 ! video/x-raw,format=I420,width=64,height=36 ! x264enc ! mp4mux "
        + "! filesink location=\(path("flat.mp4"))")
    #expect(try shown(["flat.mp4"]).count == 9 * 64 * 36 * 4)
  }

  @Test("an immersive movie is viewed from within, if metadata or options say so")
  func immersive() async throws {
    try await TestMovie.spatial(
      path("a.mov"), frames: 8, "width=512,height=128,framerate=30/1",
      mux: "projection=equirectangular")
    for (arguments, view) in [
      ([], "yaw=0"),
      (["--yaw", "40", "--pitch", "-12.5", "--roll", "3"], "yaw=40 pitch=-12.5 roll=3"),
      (["--fov", "60", "--mode", "right"], "field-of-view=60"),
    ] {
      let eye = arguments.contains("right") ? "right" : "left"
      let decoded =
        eye == "left"
        ? "d.left ! queue ! decodebin" : "d.video_0 ! queue ! mvhevcdec name=e e.right ! queue"
      let expected = try await pictures(
        "filesrc location=\(path("a.mov")) ! mvhevcdemux name=d \(decoded) "
          + "! sphericalview projection=equirectangular \(view)")
      let shown = try shown(["a.mov"] + arguments)
      #expect(!shown.isEmpty && shown == expected, "\(view)")
    }
    let refused = try Command.run(["play", "a.mov", "--mode", "anaglyph"], in: folder)
    #expect(refused.status == 2 && refused.errors.contains("cannot be shown as anaglyph"))
  }

  @Test("a loop starts again after the end, and Ctrl-C ends it")
  func loop() async throws {
    try await makeSpatial(frames: 10)
    let sink = "video/x-raw,format=RGBA ! filesink location=\(path("shown"))"
    let once = try shown(["a.mov", "--mode", "left"])
    let command = try Command.start(
      ["play", "a.mov", "--mode", "left", "--loop", "--mute", "--video-sink", sink], in: folder)
    try command.wait(for: "playing a.mov, left")
    try await eventually("three rounds") { try size("shown") >= once.count * 3 }
    command.interrupt()
    #expect(command.result().status == 130)
    let shown = try Data(contentsOf: URL(filePath: path("shown")))
    #expect(shown.count >= once.count * 3)
    for round in 0..<3 {
      #expect(shown.dropFirst(round * once.count).prefix(once.count) == once, "round \(round)")
    }
  }

  @Test("a loop ends if the file is emptied, with one message")
  func emptied() async throws {
    try await makeSpatial(frames: 30)
    let command = try Command.start(
      ["play", "a.mov", "--loop", "--mute", "--video-sink", "fakesink sync=true"], in: folder)
    try command.wait(for: "playing a.mov")
    try await Task.sleep(for: .milliseconds(1500))
    try FileHandle(forWritingTo: URL(filePath: path("a.mov"))).truncate(atOffset: 0)
    let result = command.result()
    #expect(
      result.status == 1 && result.errors.contains("no more frames"),
      "\(result.errors.prefix(500))")
    #expect(result.errors.split(separator: "\n").count < 10)
  }

  private func size(_ name: String) throws -> Int {
    let attributes = try? FileManager.default.attributesOfItem(atPath: path(name))
    return attributes?[.size] as? Int ?? 0
  }

  @Test("in a window, the space bar pauses and q quits")
  func keys() async throws {
    try await makeSpatial(frames: 90)
    let built = try #require(Repository.built).appending(path: "gst-spatial").path
    // Without a window manager, keys go to the window under the pointer.
    let script = """
      \(built) play a.mov --loop --mute & player=$!
      for try in $(seq 100); do
        xdotool search --onlyvisible --name . >/dev/null 2>&1 && break
        sleep 0.1
      done
      xdotool mousemove 30 30 key space sleep 0.3 key space sleep 0.3 key q
      wait $player
      """
    let said = try await Program.output(
      of: virtualScreen + ["sh", "-c", script], in: folder.url, errors: .merged)
    #expect(String(decoding: said, as: UTF8.self).contains("playing a.mov, anaglyph"))
  }

  @Test("a window is within the screen, and named after the movie")
  func window() async throws {
    try await TestMovie.spatial(
      path("wide.mov"), frames: 30, "width=2000,height=200,framerate=30/1", mux: "key-int-max=10")
    let built = try #require(Repository.built).appending(path: "gst-spatial").path
    let script = """
      \(built) play wide.mov --mode side-by-side --loop --mute & player=$!
      for try in $(seq 100); do
        window=$(xdotool search --onlyvisible --name wide.mov 2>/dev/null) && break
        sleep 0.1
      done
      xdotool getwindowgeometry $window
      # A window that has just appeared may not take keys yet.
      for try in $(seq 50); do
        kill -0 $player 2>/dev/null || break
        xdotool mousemove 30 30 key q sleep 0.2
      done
      wait $player
      """
    let said = String(
      decoding: try await Program.output(
        of: virtualScreen + ["sh", "-c", script], in: folder.url, errors: .merged), as: UTF8.self)
    #expect(said.contains("Geometry: 640x64"), "\(said)")
  }

  @Test("unplayable files are reported with advice")
  func refused() async throws {
    try await makeSpatial(frames: 5)
    for (arguments, status, words) in [
      (["none.mov"], 2, "No such file"),
      (["a.mov", "--video-sink", "nonesuch"], 1, "no element 'nonesuch'"),
      (["a.mov", "--fov", "3"], 64, "from 10 to 150"),
      (["a.mov", "--projection", "flat"], 64, "--projection is one of"),
    ] {
      let result = try Command.run(["play"] + arguments, in: folder)
      #expect(result.status == status && result.errors.contains(words), "\(result.errors)")
    }
    let noted = try Command.run(
      ["play", "a.mov", "--mute", "--yaw", "3", "--video-sink", "fakesink"], in: folder)
    #expect(noted.status == 0 && noted.errors.contains("view options have no effect"))
    // Without a screen.
    let blind = try Command.start(
      ["play", "a.mov", "--mute"], in: folder, shell: "unset DISPLAY WAYLAND_DISPLAY; ")
    let result = blind.result()
    #expect(result.status == 1 && result.errors.contains("gst-spatial view"), "\(result.errors)")
  }
}
