// SPDX-License-Identifier: MPL-2.0

import Foundation
import TestKit
import Testing

/// The example programs of the library StereoMedia.
@Suite(.tags(.process))
struct ExampleTests {
  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
  }

  /// What an example prints that gets nothing of this process's environment: no path to the plugin.
  private func run(
    _ example: String, _ arguments: [String], keys: String = "",
    environment: [String: String] = [:], status: Int32 = 0
  ) throws -> String {
    let alone = ["GST_REGISTRY": folder.path("registry"), "G_DEBUG": "fatal-criticals"]
    let result = try Program.run(
      [Command.built(example)] + arguments, in: folder.url,
      environment: alone.merging(environment) { $1 }, inherits: false, input: keys)
    #expect(result.status == status, "\(result.output)")
    return result.output
  }

  private func makeMovie() async throws {
    try await TestMovie.spatial(
      folder.path("a.mov"), frames: 40, "width=640,height=90,framerate=30/1")
  }

  @Test(
    "no example is longer than 120 lines",
    arguments: [
      "FrameStepper", "TwoCameras", "ConvertAll", "SpatialToSBS", "SpherePlayer", "CompositorApp",
    ])
  func length(example: String) throws {
    let source = try String(
      contentsOf: Repository.url.appending(path: "Examples/\(example)/\(example).swift"),
      encoding: .utf8)
    #expect(source.split(separator: "\n", omittingEmptySubsequences: false).count <= 121)
  }

  @Test(
    "an unreadable movie is an error, in the message and in the exit status",
    arguments: [
      ("SpherePlayer", ["none.mov", ".", "0"]), ("CompositorApp", ["none.mov", "b.mov", "c.mov"]),
      ("SpatialToSBS", ["none.mov", "b.mp4"]),
    ])
  func missing(example: String, arguments: [String]) throws {
    let text = try run(example, arguments, status: 1)
    #expect(text.contains("error: 'none.mov' cannot be read as a movie"), "\(text)")
  }

  @Test("the examples in Python and C convert a movie and read both eyes, through the plugin")
  func otherLanguages() async throws {
    _ = try await Program.output(
      of: [
        "ffmpeg", "-v", "error", "-f", "lavfi", "-i", "testsrc2=size=640x180:rate=25:duration=2",
        "-f", "lavfi", "-i", "sine=duration=2", "-c:v", "libx264", "-c:a", "aac", "sbs.mp4",
      ], in: folder.url)
    let examples = Repository.url.appending(path: "Examples")
    let converted = try Program.run(
      [
        "/usr/bin/python3", examples.appending(path: "python/make_spatial.py").path, "sbs.mp4",
        "spatial.mov",
      ], in: folder.url)
    #expect(converted.status == 0, "\(converted)")
    let info = try Command.run(["info", "spatial.mov"], in: folder).output
    #expect(info.contains("in 3D on Apple Vision Pro") && info.contains("mp4a"), "\(info)")

    let reader = examples.appending(path: "python/both_eyes.py").path
    let read = try Program.run(["/usr/bin/python3", reader, "spatial.mov"], in: folder.url)
    let arrays = read.output.split(separator: "\n")
    #expect(read.status == 0 && arrays.count == 50, "\(read)")
    #expect(arrays.first?.hasPrefix("0.000 s: (180, 320, 3) ") == true)

    let source = examples.appending(path: "c/compare-eyes.c").path
    let compiled = try Program.run(
      [
        "sh", "-c",
        "cc -Wall -Wextra -Werror '\(source)' -o compare-eyes "
          + "$(pkg-config --cflags --libs gstreamer-app-1.0 gstreamer-video-1.0)",
      ],
      in: folder.url)
    #expect(compiled.status == 0, "\(compiled)")
    let compared = try Program.run([folder.path("compare-eyes"), "spatial.mov"], in: folder.url)
    let lines = compared.output.split(separator: "\n")
    #expect(compared.status == 0 && lines.count == 50, "\(compared)")
    #expect(lines.first?.hasPrefix("0.000 s: ") == true && lines.last?.hasPrefix("1.960") == true)

    // A file that is no movie ends both with its reason.
    let noise = try folder.write("no movie", to: "noise.mov")
    for program in [["/usr/bin/python3", reader], [folder.path("compare-eyes")]] {
      let failed = try Program.run(program + [noise], in: folder.url)
      #expect(failed.status == 1 && failed.output.contains("error: "), "\(failed)")
    }
  }

  // Failed once of thirty runs, beside other tests; what it said is not known.
  @Test(
    "both eyes come from the RTSP server in Python, decoded and recorded",
    .tags(.realTime, .exhaustive))
  func rtsp() async throws {
    let program = Repository.url.appending(path: "Examples/python/rtsp_server.py").path
    let scene = "stereotestsrc is-live=true ! video/x-raw,width=256,height=64,framerate=30/1"
    let server = try Program(["/usr/bin/python3", program, "0", scene], in: folder.url)
    defer { server.terminate() }
    let address = try server.wait(for: /rtsp:\/\/\S+\/live/)
      .split(separator: "\n").first { $0.hasPrefix("rtsp://") }
    let source =
      try "rtspsrc location=\(#require(address)) protocols=tcp latency=500 "
      + "! rtph265depay"
    func launch(_ line: String) throws {
      let result = try Program.run(
        ["sh", "-c", "gst-launch-1.0 -q -e \(source) ! \(line)"], in: folder.url)
      #expect(result.status == 0 && !result.output.contains("WARNING"), "\(result.output)")
    }
    try launch(
      "mvhevcdemux name=d d.video_0 ! identity eos-after=60 ! queue ! mvhevcmux "
        + "! filesink location=both.mov")
    let info = try Command.run(["info", "both.mov"], in: folder).output
    #expect(info.contains("MV-HEVC: a layer for each eye"), "\(info)")
    for eye in ["left", "right"] {
      try launch(
        "mvhevcdec name=d d.\(eye) ! identity eos-after=30 ! filesink location=\(eye).yuv")
      let size = try Data(contentsOf: URL(filePath: folder.path("\(eye).yuv"))).count
      #expect(size >= 29 * 128 * 64 * 3 / 2, "\(eye)")
    }
  }

  @Test(
    "both eyes come over WebRTC to the recorder in Python", .tags(.realTime, .exhaustive, .judge),
    .enabled("no PyAV") { Python.hasAV })
  func webrtc() async throws {
    let program = Repository.url.appending(path: "Examples/python/webrtc_loopback.py").path
    let scene = "stereotestsrc is-live=true ! video/x-raw,width=256,height=64,framerate=15/1"
    let result = try Program.run(
      ["/usr/bin/python3", program, "both.mov", "60", scene], in: folder.url)
    #expect(result.status == 0, "\(result.output)")
    let info = try Command.run(["info", "both.mov"], in: folder).output
    #expect(info.contains("MV-HEVC: a layer for each eye"), "\(info)")
    let tool = Repository.url.appending(path: "Tests/Tools/decode_views.py").path
    let frames = try Python.lines([tool, folder.path("both.mov")])
    #expect(frames.count == 120, "\(frames.count)")
  }

  @Test("TwoCameras writes a movie that headsets accept, with another movie's audio")
  func twoCameras() async throws {
    try await TestMovie.play(
      "audiotestsrc num-buffers=90 ! audio/x-raw,rate=44100 ! avenc_aac ! aacparse ! qtmux "
        + "! filesink location=\(folder.path("sound.mov"))")
    let text = try run("TwoCameras", ["a.mov", "sound.mov"])
    #expect(text.contains("wrote a.mov: 60 frames"), "\(text)")
    let info = try Command.run(["info", "--json", "a.mov"], in: folder)
    #expect(info.status == 0)
    let json = try #require(
      try JSONSerialization.jsonObject(with: Data(info.output.utf8)) as? [String: Any])
    #expect(json["apple-spatial"] as? Bool == true, "\(info.output)")
    for part in ["71.5", "64", "0.02", "mp4a"] {
      #expect(info.output.contains(part), "\(part): \(info.output)")
    }
    #expect(try run("TwoCameras", ["a.mov"], status: 1).contains("already exists"))
  }

  @Test("SpatialToSBS writes both eyes side by side, without loss if that is requested")
  func spatialToSBS() async throws {
    try await makeMovie()
    let text = try run("SpatialToSBS", ["a.mov", "b.mp4", "lossless"])
    #expect(text.contains("wrote b.mp4: 40 frames") && text.contains("times as fast"), "\(text)")
    let eyes = ["left", "right"].map { folder.path($0) }
    try await TestMovie.decode(
      folder.path("a.mov"), left: eyes[0], right: eyes[1], format: "GRAY8")
    // Each half of the picture from a decoder that knows only one eye.
    for (index, eye) in eyes.enumerated() {
      let half = folder.path("half")
      try await TestMovie.play(
        "filesrc location=\(folder.path("b.mp4")) ! qtdemux ! avdec_h264 ! videocrop "
          + "\(index == 0 ? "right" : "left")=320 ! videoconvert ! video/x-raw,format=GRAY8 "
          + "! filesink location=\(half)")
      let (found, wanted) = (
        try Data(contentsOf: URL(filePath: half)), try Data(contentsOf: URL(filePath: eye))
      )
      #expect(found.count == 40 * 320 * 90 && found == wanted)
    }
    #expect(try run("SpatialToSBS", ["a.mov", "b.mp4"], status: 1).contains("already exists"))
  }

  @Test(
    "CompositorApp fades one movie into another, for both eyes or for one",
    arguments: [false, true])
  func compositorApp(isMono: Bool) async throws {
    try await makeMovie()
    try await TestMovie.play(
      "videotestsrc num-buffers=50 pattern=white ! video/x-raw,format=I420,width=160,height=90,"
        + "framerate=25/1 ! x264enc speed-preset=ultrafast ! h264parse ! mp4mux "
        + "! filesink location=\(folder.path("b.mp4"))")
    let text = try run("CompositorApp", ["a.mov", "b.mp4", "c.mov"] + (isMono ? ["mono"] : []))
    #expect(text.hasSuffix("wrote c.mov\n"), "\(text)")
    let info = try Command.run(["info", "--json", "c.mov"], in: folder)
    let json = try #require(
      try JSONSerialization.jsonObject(with: Data(info.output.utf8)) as? [String: Any])
    #expect(json["apple-spatial"] as? Bool == !isMono, "\(info.output)")
    // 40 frames, 30 of them in the fade, and 60 for two seconds.
    try await decode("c.mov", isMono: isMono)
    let pixels = [UInt8](try Data(contentsOf: URL(filePath: folder.path("left"))))
    #expect(pixels.count == 70 * 320 * 90)
    let brightness = (0..<70).map { frame in
      pixels[frame * 320 * 90..<(frame + 1) * 320 * 90].reduce(0) { $0 + Int($1) } / (320 * 90)
    }
    // White is 235. It rises, and the wall in the background does not change.
    #expect(brightness[9] < 160 && brightness[41] > 230 && brightness[69] > 230, "\(brightness)")
    for frame in 12..<39 { #expect(brightness[frame + 1] >= brightness[frame], "\(brightness)") }
    #expect((brightness[9]...235).contains(brightness[25]))
  }

  /// The brightness of the left eye, or of the only one, as a raw file `left`.
  private func decode(_ name: String, isMono: Bool) async throws {
    let movie = folder.path(name)
    guard isMono else {
      return try await TestMovie.decode(
        movie, left: folder.path("left"), right: folder.path("right"), format: "GRAY8")
    }
    try await TestMovie.play(
      "filesrc location=\(movie) ! decodebin ! videoconvert ! video/x-raw,format=GRAY8 "
        + "! filesink location=\(folder.path("left"))")
  }

  @Test("ConvertAll converts its arguments, two at a time, and removes cancelled outputs")
  func convertAll() async throws {
    for name in ["a", "b", "c"] {
      try await TestMovie.play(
        "stereotestsrc num-buffers=40 ! video/x-raw,format=I420,width=640,height=90,framerate=30/1 "
          + "! x264enc speed-preset=ultrafast ! h264parse ! mp4mux "
          + "! filesink location=\(folder.path("\(name).mp4"))")
    }
    let text = try run("ConvertAll", ["a.mp4", "b.mp4", "c.mp4"])
    for name in ["a", "b", "c"] {
      #expect(text.contains("\(name).mp4: 100 %, wrote \(name)_MVHEVC.mov"), "\(text)")
      let info = try Command.run(["info", "--require-spatial", "\(name)_MVHEVC.mov"], in: folder)
      #expect(info.status == 0)
    }
    try await TestMovie.play(
      "stereotestsrc num-buffers=300 ! "
        + "video/x-raw,format=I420,width=1280,height=360,framerate=30/1 ! "
        + "x264enc speed-preset=ultrafast ! h264parse ! mp4mux "
        + "! filesink location=\(folder.path("d.mp4"))")
    let cancelled = try run("ConvertAll", ["d.mp4"], keys: "q\n", status: 1)
    #expect(cancelled.contains("d.mp4: cancelled"), "\(cancelled)")
    let names = try FileManager.default.contentsOfDirectory(atPath: folder.url.path)
    #expect(!names.contains { $0.hasPrefix("d") && $0 != "d.mp4" }, "\(names)")
  }

  /// Surroundings of ten frames: red and green to the left and the right of straight ahead, blue
  /// from there on, and black at the back on the left. The right eye sees it all darker.
  private func makeSurroundings(_ path: String) async throws {
    for (eye, light) in [("left", 240), ("right", 120)] as [(String, UInt8)] {
      let row = (0..<720).flatMap { column -> [UInt8] in
        switch column {
        case ..<180: [0, 0, 0]
        case ..<360: [light, 0, 0]
        case ..<540: [0, light, 0]
        default: [0, 0, light]
        }
      }
      let picture = Data(Array(repeating: row, count: 360).joined())
      let frames = (0..<10).reduce(into: Data()) { data, _ in data += picture }
      try frames.write(to: URL(filePath: folder.path("\(eye).rgb")))
    }
    let lines = ["left", "right"].map { eye in
      "filesrc location=\(folder.path("\(eye).rgb")) ! rawvideoparse format=rgb width=720 "
        + "height=360 framerate=30/1 ! videoconvert ! queue ! m.\(eye) "
    }
    try await TestMovie.play(
      lines.joined() + "mvhevcmux name=m quality=10 projection=equirectangular "
        + "! filesink location=\(path)")
  }

  @Test("SpherePlayer writes each eye's view to the front and to the right")
  func spherePlayer() async throws {
    try await makeSurroundings(folder.path("a.mov"))
    let text = try run("SpherePlayer", ["a.mov", folder.url.path, "0", "90"])
    #expect(text.contains("playing equirectangular, 10 frames"), "\(text)")
    let (red, green, blue) = ([1, 0, 0], [0, 1, 0], [0, 0, 1])
    for (eye, light) in [("left", 240), ("right", 120)] {
      // Left and right of the middle, at both edges, high and low.
      for (yaw, sides) in [(0, (red, green)), (90, (green, blue))] {
        let raw = folder.path("view.rgb")
        try await TestMovie.play(
          "filesrc location=\(folder.path("\(yaw)-\(eye).png")) ! pngdec ! videoconvert "
            + "! video/x-raw,format=RGB,width=640,height=360 ! filesink location=\(raw)")
        let bytes = [UInt8](try Data(contentsOf: URL(filePath: raw)))
        try #require(bytes.count == 640 * 360 * 3)
        for (x, wanted) in [(2, sides.0), (310, sides.0), (330, sides.1), (637, sides.1)] {
          for y in [2, 180, 357] {
            let found = (0..<3).map { Int(bytes[(y * 640 + x) * 3 + $0]) }
            let isAsDrawn = zip(found, wanted).allSatisfy { abs($0 - $1 * light) < 24 }
            #expect(isAsDrawn, "\(eye) \(yaw) \(x) \(y): \(found)")
          }
        }
      }
    }
  }

  @Test(
    "FrameStepper steps, goes back, jumps, and writes the frames of 'frames', in either build",
    arguments: [false, true])
  func frameStepper(isInstalled: Bool) async throws {
    try await makeMovie()
    let built = try #require(Repository.built).path
    let text = try run(
      "FrameStepper", ["a.mov", folder.url.path], keys: "  b1.1\nq",
      environment: isInstalled ? ["GST_PLUGIN_PATH": built] : [:])
    let steps = text.split(separator: "\n").filter { $0.hasPrefix("frame ") }
      .compactMap { $0.split(separator: " ").dropFirst().first }
    #expect(steps == ["0", "1", "2", "1", "33"], "\(text)")
    #expect(
      text.contains("layer 1: view 1, right eye") && text.contains("320x90 an eye, 40 frames"))
    // GLib has nothing to say of elements that are there twice.
    #expect(!text.contains("WARNING") && !text.contains("CRITICAL"), "\(text)")
    for (index, time) in [(0, "0s"), (1, "0.034s"), (2, "0.067s"), (33, "1.1s")] {
      for eye in ["left", "right"] {
        let result = try Command.run(
          ["frames", "-y", "a.mov", "--at", time, "--show", eye, "-o", "b.png"], in: folder)
        #expect(result.status == 0, "\(result.errors)")
        let (one, other) = try (
          Data(contentsOf: URL(filePath: folder.path("\(index)-\(eye).png"))),
          Data(contentsOf: URL(filePath: folder.path("b.png")))
        )
        let isSame = one == other
        #expect(isSame && one.count > 1000, "\(index) \(eye)")
      }
    }
  }
}
