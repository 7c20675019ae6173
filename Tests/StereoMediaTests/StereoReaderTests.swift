// SPDX-License-Identifier: MPL-2.0

import Foundation
import StereoMedia
import TestKit
import Testing

/// ``StereoReader``: both eyes of each frame.
struct StereoReaderTests {
  /// The pixels of each eye and the times of all frames.
  private func read(
    _ path: String, _ options: StereoReader.Options = .init()
  ) async throws -> (left: [UInt8], right: [UInt8], frames: [StereoFrame]) {
    var (left, right, frames) = ([UInt8](), [UInt8](), [StereoFrame]())
    for try await frame in StereoReader(try await StereoMovie(path), options) {
      left += try frame.left.pixels()
      right += try frame.right.pixels()
      frames.append(frame)
    }
    return (left, right, frames)
  }

  @Test(
    "each frame is FFmpeg's, of the signalled eye, at the time of the index",
    .tags(.judge),
    .enabled(if: Python.hasAVAndNumPy, "no Python with PyAV and NumPy"), arguments: [false, true])
  func ownMovies(isFragmented: Bool) async throws {
    let path = try await isFragmented ? Movies.fragmented() : Movies.spatial()
    let movie = try await StereoMovie(path)
    let (left, right, frames) = try await read(path)
    let folder = try TemporaryFolder()
    let views = try Python.views(path, in: folder)
    for layer in try #require(movie.video).layers {
      let judged = try #require(views["\(layer.viewID)"])
      #expect(judged.times.count == 40)
      #expect(same(judged.pixels, layer.eye == .left ? left : right), "\(layer)")
    }
    #expect(!same(left, right))
    #expect(frames.map(\.index) == Array(0..<40))
    #expect(frames.map(\.time) == movie.video?.frames.map(\.time))
    #expect(frames.allSatisfy { !$0.isMono && $0.metadata == movie.video?.spatial })
  }

  @Test(
    "foreign movies give the frames that reference decoders give", .tags(.judge),
    .enabled(if: ForeignMedia.isThere, "needs ../shared/media"),
    .enabled(if: Python.hasAVAndNumPy, "no Python with PyAV and NumPy"),
    arguments: [
      "gradients-160x120-left-base.mp4", "water-1934x2160-right-base.mov",
      "water-1934x2160-left-base-fragmented.mp4", "interlayer-128x96.hevc",
    ])
  func foreignMovies(name: String) async throws {
    let folder = try TemporaryFolder()
    var options = StereoReader.Options()
    options.format = .i420
    let (left, right, frames) = try await read(ForeignMedia.path(name), options)
    for (eye, pixels) in [("left", left), ("right", right)] {
      try Data(pixels).write(to: URL(filePath: folder.path(eye)))
    }
    let program = """
      import hashlib, json, sys
      golden = json.load(open(sys.argv[1]))[sys.argv[2]]
      for eye in ["left", "right"]:
          data = open(sys.argv[3] + "/" + eye, "rb").read()
          wanted = golden["frame_md5_i420_presentation_order"][eye]
          size = len(data) // len(wanted)
          frames = [data[i:i + size] for i in range(0, len(data), size)]
          print([hashlib.md5(frame).hexdigest() for frame in frames] == wanted, len(wanted))
      """
    let lines = try Python.lines(
      ["-c", program, ForeignMedia.path("golden.json"), name, folder.url.path])
    #expect(lines == ["True \(frames.count)", "True \(frames.count)"])
  }

  @Test("the eyes of packed movies are split", arguments: ["side-by-side", "top-bottom"])
  func packed(mode: String) async throws {
    let path = try await Movies.packed(mode)
    let (left, right, frames) = try await read(path)
    #expect(frames.count == 20 && frames.map(\.index) == Array(0..<20))
    let folder = try TemporaryFolder()
    try await TestMovie.split(
      path, mode: mode, left: folder.path("left"), right: folder.path("right"))
    // Rows of 320 and 160 bytes, 90 and 45 of them: GStreamer fills up with nothing but a row.
    for (eye, pixels) in [("left", left), ("right", right)] {
      let whole = [UInt8](try Data(contentsOf: URL(filePath: folder.path(eye))))
      let frame = 320 * 90 + 2 * 160 * 45
      #expect(whole.count == pixels.count && pixels.count == 20 * frame)
      #expect(same(whole, pixels), "\(eye)")
    }
  }

  @Test("a movie of one eye gives that one twice, as one object")
  func mono() async throws {
    let (_, _, frames) = try await read(try await Movies.mono())
    #expect(frames.count == 20 && frames.allSatisfy { $0.isMono && $0.left === $0.right })
  }

  @Test("a range gives the frames that begin in it, and no others, whatever its ends are")
  func ranges() async throws {
    let path = try await Movies.spatial()
    let whole = try await read(path)
    let frames = try #require(try await StereoMovie(path).video?.frames)
    let size = whole.left.count / 40
    for (first, last) in [(0, 40), (3, 4), (14, 31), (16, 17), (39, 40), (7, 7)] {
      var options = StereoReader.Options()
      let end = last < 40 ? frames[last].time : .seconds(100)
      options.range = frames[first].time..<max(end, frames[first].time)
      let part = try await read(path, options)
      #expect(part.frames.map(\.index) == Array(first..<last))
      #expect(same(part.left, Array(whole.left[first * size..<last * size])), "\(first)")
      #expect(same(part.right, Array(whole.right[first * size..<last * size])), "\(first)")
    }
    var between = StereoReader.Options()
    between.range = frames[4].time + .milliseconds(5)..<frames[6].time + .milliseconds(5)
    #expect(try await read(path, between).frames.map(\.index) == [5, 6])
  }

  @Test("a range beside the movie, and a number of buffers that is not possible, are refused")
  func outOfRange() async throws {
    let path = try await Movies.spatial()
    for range in [Duration.seconds(50)..<(.seconds(60)), .seconds(-3)..<(.seconds(-2))] {
      var options = StereoReader.Options()
      options.range = range
      let error = await #expect(throws: StereoMediaError.self) { try await read(path, options) }
      #expect(error?.code == .outOfRange)
    }
    for depth in [0, -1, 65, .max] {
      var options = StereoReader.Options()
      options.depth = depth
      let error = await #expect(throws: StereoMediaError.self) { try await read(path, options) }
      #expect(error?.code == .outOfRange)
    }
  }

  @Test("a movie that has changed since it was opened is refused")
  func changed() async throws {
    let folder = try TemporaryFolder()
    let path = folder.path("a.mov")
    try FileManager.default.copyItem(atPath: try await Movies.spatial(), toPath: path)
    let movie = try await StereoMovie(path)
    try FileManager.default.removeItem(atPath: path)
    try FileManager.default.copyItem(atPath: try await Movies.mono(), toPath: path)
    let reader = StereoReader(movie)
    let error = await #expect(throws: StereoMediaError.self) {
      for try await _ in reader {}
    }
    #expect(error?.message == "'\(path)' has changed since it was opened")
    let stills = StereoImageGenerator(movie)
    await #expect(throws: StereoMediaError.self) { try await stills.image(0) }
    await #expect(throws: StereoMediaError.self) { try await StereoPlayer(movie) }
  }

  @Test("one eye alone is the same as of the pair, of either layer", arguments: Eye.allCases)
  func oneEye(eye: Eye) async throws {
    let path = try await Movies.spatial()
    let whole = try await read(path)
    var (pixels, indexes) = ([UInt8](), [Int?]())
    for try await frame in StereoReader(try await StereoMovie(path)).pictures(of: eye) {
      pixels += try frame.picture.pixels()
      indexes.append(frame.index)
      #expect(frame.eye == eye)
    }
    #expect(indexes == Array(0..<40))
    #expect(same(pixels, eye == .left ? whole.left : whole.right))
  }

  @Test("pictures come in the requested format and size")
  func conversion() async throws {
    let path = try await Movies.spatial()
    var options = StereoReader.Options()
    (options.format, options.size) = (.rgba, .fit(width: 160))
    let (_, _, frames) = try await read(path, options)
    #expect(frames.count == 40)
    for frame in frames {
      #expect(frame.left.format == .rgba && frame.right.format == .rgba)
      #expect((frame.left.width, frame.left.height) == (160, 45))
    }
    options.size = .exact(width: 64, height: 64)
    let squares = try await read(path, options).frames
    #expect(squares.allSatisfy { $0.right.width == 64 && $0.right.height == 64 })
    #expect(squares.allSatisfy { $0.left.pixelShape == 1 })
    // Of other colours, the same picture has other numbers.
    var coloured = StereoReader.Options()
    coloured.format = .i420
    coloured.colour = ColourInformation(
      primaries: 6, transferCharacteristics: 6, matrixCoefficients: 6, fullRange: true)
    let others = try await read(path, coloured)
    #expect(others.frames.allSatisfy { $0.left.colour == coloured.colour })
    #expect(try await !same(others.left, read(path).left))
    coloured.format = nil
    await #expect(throws: StereoMediaError.self) { try await read(path, coloured) }
    coloured.format = .i420
    coloured.colour?.fullRange = nil
    await #expect(throws: StereoMediaError.self) { try await read(path, coloured) }
    // What a picture is converted to is what the pipeline converts it to.
    options.size = nil
    let direct = try await read(path, options)
    let native = try await read(path)
    let converted = try native.frames[20].left.converted(to: .rgba).pixels()
    #expect(same(converted, try direct.frames[20].left.pixels()))
    let small = try native.frames[20].left.converted(to: .rgb, size: .fit(height: 30))
    #expect((small.width, small.height, small.planeCount) == (107, 30, 1))
    for (format, size) in [
      ("NONSENSE ! fakesink", nil), ("ENCODED", nil), ("RGBA", PictureSize.fit(width: 0)),
      ("RGBA", .exact(width: -1, height: 5)), ("RGBA", .exact(width: .max, height: 5)),
    ] as [(PixelFormat, PictureSize?)] {
      var wrong = StereoReader.Options()
      (wrong.format, wrong.size) = (format, size)
      let error = await #expect(throws: StereoMediaError.self) { try await read(path, wrong) }
      #expect(error?.code == .unsupportedFormat)
      #expect(throws: StereoMediaError.self) {
        try native.frames[0].left.converted(to: format, size: size)
      }
    }
  }

  @Test("a sequence can be gone through twice, and by two tasks at once")
  func twice() async throws {
    let reader = StereoReader(try await StereoMovie(try await Movies.spatial()))
    async let one = reader.reduce(0) { count, _ in count + 1 }
    async let other = reader.reduce(0) { count, _ in count + 1 }
    let counts: [Int] = try await [one, other]
    #expect(counts == [40, 40])
  }

  @Test("a movie whose file is gone throws, and only once")
  func vanished() async throws {
    let folder = try TemporaryFolder()
    let path = folder.path("a.mov")
    try FileManager.default.copyItem(atPath: try await Movies.spatial(), toPath: path)
    let movie = try await StereoMovie(path)
    try FileManager.default.removeItem(atPath: path)
    var iterator = StereoReader(movie).makeAsyncIterator()
    await #expect(throws: StereoMediaError.self) { try await iterator.next() }
    #expect(try await iterator.next() == nil)
  }
}

extension StereoReaderTests {
  @Test("a frame of a movie without video cannot be requested")
  func noVideo() async throws {
    let folder = try TemporaryFolder()
    _ = try await Movies.spatial()
    let path = folder.path("sound.mp4")
    try await TestMovie.play(
      "audiotestsrc num-buffers=10 ! avenc_aac ! mp4mux ! filesink location=\(path)")
    let movie = try await StereoMovie(path)
    #expect(movie.video == nil)
    let error = await #expect(throws: StereoMediaError.self) {
      for try await _ in StereoReader(movie) {}
    }
    #expect(error?.code == .missingVideo)
  }
}
