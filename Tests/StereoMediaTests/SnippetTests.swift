// SPDX-License-Identifier: MPL-2.0

import Foundation
import StereoMedia
import TestKit
import Testing

/// What the documents show of the library, so that it is known to compile and to do what they say.
/// Each line between `// begin` and `// end` is one of theirs.
struct SnippetTests {
  /// README.md, "In an app".
  private func readme(_ path: String, _ copy: String) async throws -> [String] {
    var said: [String] = []
    func print(_ items: Any...) { said.append(items.map { "\($0)" }.joined(separator: " ")) }
    // begin
    let movie = try await StereoMovie(path)
    if let video = movie.video {
      print(video.eyeWidth, video.eyeHeight, video.layers.map(\.nuhLayerID), movie.verdict.missing)
    }

    for try await frame in StereoReader(movie) {
      try frame.left.withPlane(0) { bytes, rows in
        print(frame.time, rows.stride, bytes.byteCount)
      }
    }

    let stills = StereoImageGenerator(movie, show: .anaglyph)
    let file = try await stills.image(at: .seconds(1), as: .jpeg(90))
    print(file.bytes.count, "bytes of frame", file.index)

    let writer = try StereoWriter(copy)
    for try await frame in StereoReader(movie) { try await writer.append(frame) }
    print(try await writer.finish().frameCount, "frames again")

    let player = try await StereoPlayer(movie)
    player.play()
    for await frame in player.frames { print(frame.time, "is due") }
    // end
    return said
  }

  /// The articles of StereoMedia.docc, beside what they have in common with the README.
  private func articles(
    _ path: String, _ movie: StereoMovie, _ television: String, _ loud: String, _ drawn: String
  ) async throws -> [String] {
    var said: [String] = []
    func print(_ items: Any...) { said.append(items.map { "\($0)" }.joined(separator: " ")) }
    // begin
    var options = StereoReader.Options()
    options.range = .seconds(0) ..< .seconds(1)
    options.format = .rgba
    options.size = .fit(width: 160)
    for try await frame in StereoReader(movie, options) { print(frame.left.width) }

    struct Swap: StereoCompositor {
      let output = CompositionOutput.stereo

      func compose(_ request: CompositionRequest<Void>) async throws -> ComposedFrame {
        guard let frame = request["a"] else { return .skip }
        return .stereo(frame.right, frame.left)
      }
    }

    var composition = StereoComposition(Swap(), frames: .of("a"))
    composition.add("a", movie)
    for try await frame in composition.frames() { print(frame.time) }

    let preview = try await StereoPlayer(composition)
    preview.play()
    for await frame in preview.frames { if frame.time > .seconds(1) { break } }

    var settings = StereoWriter.Settings()
    settings.layout = .packed(PackingLayout(.sideBySide, halfAspect: true))
    for try await _ in StereoConverter.convert(path, to: television, settings) {}

    let format = try AudioSampleFormat(sampleRate: 48_000, channelCount: 2)
    let writer = try StereoWriter(loud, audio: [try AudioInput("voice", format)])
    for try await sample in StereoReader(movie).samples(audio: format) {
      switch sample {
      case .frame(let frame): try await writer.append(frame)
      case .audio(let audio): try await writer.append(audio, to: "voice")
      }
    }
    _ = try await writer.finish()

    func square(at left: Int) throws -> Picture {
      var picture = try MutablePicture(format: .rgba, width: 320, height: 180, colour: .sRGB)
      try picture.withPlane(0) { bytes, layout in
        for row in 0..<layout.rows {
          for column in 0..<layout.rowBytes / 4 {
            let isInside = (60..<120).contains(row) && (left..<left + 60).contains(column)
            let pixel: UInt32 = isInside ? 0xFFFF_FFFF : 0xFF80_4020
            let offset = row * layout.stride + column * 4
            bytes.storeBytes(of: pixel.littleEndian, toByteOffset: offset, as: UInt32.self)
          }
        }
      }
      return Picture(picture)
    }

    _ = try await StereoWriter.write(drawn) { writer in
      for index in 0..<30 {
        try await writer.append(
          left: square(at: 130 + index / 2), right: square(at: 130 - index / 2),
          at: .milliseconds(40 * index))
      }
    }

    var hdr = StereoWriter.Settings()
    hdr.contentLightLevel = ContentLightLevel(maximum: 1000, maximumFrameAverage: 400)

    hdr.metadata.title = "Square"
    hdr.metadata.date = "2026-01-31T09:30:00+0100"
    hdr.metadata.place = .init(latitude: 54.5, longitude: -8.25)
    // end
    print(hdr.metadata)
    return said
  }

  @Test(
    "the articles' programs read a part of a movie, compose it and convert it", .tags(.long))
  func articles() async throws {
    let folder = try TemporaryFolder()
    let (path, packed) = (try await Movies.spatial(), folder.path("packed.mp4"))
    let (loud, drawn) = (folder.path("loud.mov"), folder.path("square.mov"))
    let said = try await articles(path, try await StereoMovie(path), packed, loud, drawn)
    #expect(said.count == 71 && said.prefix(30).allSatisfy { $0 == "160" }, "\(said)")
    let video = try await StereoMovie(packed).video
    #expect(video?.layout == .packed(PackingLayout(.sideBySide)) && video?.frames.count == 40)
    let (before, after) = (try await StereoMovie(path), try await StereoMovie(loud))
    let lengths = [before, after].map { movie in
      movie.tracks.first { $0.kind == .audio }?.duration.map { $0 / .seconds(1) } ?? 0
    }
    #expect(lengths[1] > 1 && abs(lengths[0] - lengths[1]) < 0.1, "\(lengths)")
    #expect(after.video?.frames.count == 40)
    let square = try await StereoMovie(drawn)
    #expect(square.isSpatial && square.video?.frames.count == 30)
    for try await frame in StereoReader(square) where frame.index == 20 {
      #expect(try distance(frame.left, frame.right) > 1)
    }
  }

  @Test(
    "the README's program reads a movie's frames, a still of it, writes it again and plays it",
    .tags(.long)
  )
  func readme() async throws {
    let folder = try TemporaryFolder()
    let said = try await readme(try await Movies.spatial(), folder.path("copy.mov"))
    #expect(said.first == "320 90 [0, 1] []")
    let due = said.dropFirst(43)
    #expect(due.count > 1 && due.allSatisfy { $0.hasSuffix("is due") })
    #expect(said[41].hasSuffix("bytes of frame 29") && said[42] == "40 frames again")
  }

  /// Of the README and of the articles.
  private static let pages: [String] = {
    let folder = "Sources/Apps/StereoMedia/StereoMedia.docc"
    let articles = try? FileManager.default.contentsOfDirectory(
      atPath: Repository.url.appending(path: folder).path)
    return ["README.md"] + (articles ?? []).map { "\(folder)/\($0)" }
  }()

  @Test("every line of Swift in the README and in the articles is one of these")
  func lines() throws {
    let readme = try Self.pages.map {
      try String(contentsOf: Repository.url.appending(path: $0), encoding: .utf8)
    }.joined()
    try #require(Self.pages.count == 11)
    let own = try String(contentsOf: URL(filePath: #filePath), encoding: .utf8)
    let known = Set(own.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) })
    let blocks = readme.components(separatedBy: "```swift\n").dropFirst()
      .compactMap { $0.components(separatedBy: "```").first }
    let lines = blocks.joined().split(separator: "\n")
      .map { $0.trimmingCharacters(in: .whitespaces) }
      .filter { !$0.isEmpty && !$0.hasPrefix("import ") && !$0.hasPrefix(".p") }
    try #require(lines.count > 40)
    for line in lines {
      let own = line.replacing("\"movie.mov\"", with: "path").replacing(
        "\"copy.mov\"", with: "copy"
      ).replacing("\"for-television.mp4\"", with: "television")
        .replacing("\"loud.mov\"", with: "loud").replacing("\"square.mov\"", with: "drawn")
      #expect(known.contains(own), "\(line)")
    }
  }
}
