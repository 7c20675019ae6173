// SPDX-License-Identifier: MPL-2.0

import Foundation
import StereoMedia
import TestKit
import Testing

/// ``StereoComposition``: frames that a program composes, and the movies that they become.
struct CompositionTests {
  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
  }

  private var names: [String] {
    get throws { try FileManager.default.contentsOfDirectory(atPath: folder.url.path).sorted() }
  }

  private func frames(
    _ composition: StereoComposition<some StereoCompositor>
  ) async throws -> [StereoFrame] {
    try await composition.frames().reduce(into: []) { $0.append($1) }
  }

  private func frames(_ movie: StereoMovie) async throws -> [StereoFrame] {
    try await StereoReader(movie).reduce(into: []) { $0.append($1) }
  }

  @Test(
    "an unchanged movie has all its frames, pixel by pixel", arguments: [false, true])
  func identity(isFragmented: Bool) async throws {
    let movie = try await StereoMovie(
      try await isFragmented ? Movies.fragmented() : Movies.spatial())
    let (composed, read) = (try await frames(composition(movie)), try await frames(movie))
    #expect(composed.count == 40 && composed.map(\.time) == read.map(\.time))
    #expect(composed.map(\.duration) == read.map(\.duration))
    #expect(composed.allSatisfy { $0.index == nil && !$0.isMono })
    #expect(composed.allSatisfy { $0.metadata == movie.video?.spatial })
    for (one, other) in zip(composed, read) {
      for eye in Eye.allCases { #expect(same(try one[eye].pixels(), try other[eye].pixels())) }
    }
  }

  @Test("an unchanged movie keeps its frame count, times, metadata and audio")
  func identityExport() async throws {
    let movie = try await StereoMovie(try await Movies.spatial())
    var composition = composition(movie)
    composition.audio = "a"
    var fractions: [Double] = []
    let export = composition.export(to: folder.path("a.mov"), quickSettings())
    for try await progress in export { fractions.append(progress.fraction) }
    #expect(fractions == fractions.sorted() && fractions.allSatisfy { (0...1).contains($0) })
    let written = try await StereoMovie(folder.path("a.mov"))
    #expect(written.video?.frames.map(\.time) == movie.video?.frames.map(\.time))
    #expect(written.video?.frames.count == 40 && written.video?.layout == .multiview)
    #expect(written.video?.spatial == movie.video?.spatial)
    #expect(written.tracks.count { $0.kind == .audio } == 1)
    for (one, other) in zip(try await frames(written), try await frames(movie)) {
      for eye in Eye.allCases { #expect(try distance(one[eye], other[eye]) < 2) }
    }
    #expect(try names == ["a.mov"])
  }

  @Test("swapped eyes are swapped in the movie")
  func swap() async throws {
    let movie = try await StereoMovie(try await Movies.spatial())
    let swapped = composition(movie) { request in
      guard let frame = request["a"] else { return .skip }
      return .stereo(frame.right, frame.left)
    }
    for (one, other) in zip(try await frames(swapped), try await frames(movie)) {
      #expect(same(try one.left.pixels(), try other.right.pixels()))
      #expect(same(try one.right.pixels(), try other.left.pixels()))
      #expect(!same(try one.left.pixels(), try other.left.pixels()))
    }
  }

  private struct Asked: Sendable {
    let time: Duration
    let instruction: String?
    let progress: Double
    let a: StereoFrame?
    let b: StereoFrame?
  }

  private actor Log {
    private(set) var asked: [Asked] = []
    private(set) var pixels: [[UInt8]] = []

    func add(_ request: CompositionRequest<String>) {
      asked.append(
        Asked(
          time: request.time, instruction: request.instruction, progress: request.progress,
          a: request["a"], b: request["b"]))
    }

    func add(_ picture: Picture) throws { pixels.append(try picture.pixels()) }

    func take() -> [[UInt8]] {
      defer { pixels = [] }
      return pixels
    }
  }

  @Test("a compositor gets the composition's time, and frames with their own times")
  func requests() async throws {
    let movie = try await StereoMovie(try await Movies.fragmented())
    let index = try #require(movie.video).frames
    let log = Log()
    var composition = StereoComposition(
      Compose<String> { request in
        await log.add(request)
        return request["a"] == nil && request["b"] == nil
          ? .skip : .source(request["a"] == nil ? "b" : "a")
      }, frames: .every(.seconds(1) / 30))
    composition.add("a", movie, range: index[0].time..<index[20].time)
    composition.add("b", movie, range: index[5].time..<index[15].time, at: index[12].time)
    composition.add("c", movie, range: index[0].time..<index[1].time, at: index[25].time)
    composition.during(index[12].time..<index[20].time, "old")
    composition.during(index[12].time..<index[20].time, "fade")
    let composed = try await frames(composition)
    let asked = await log.asked
    #expect(asked.count == 26)
    for (number, one) in asked.enumerated() {
      #expect(one.a?.index == (number < 20 ? number : nil), "\(number)")
      let b: Int? = (12..<22).contains(number) ? number - 7 : nil
      #expect(one.b?.index == b && one.b?.time == b.map { index[$0].time }, "\(number)")
      #expect(one.b?.duration == b.map { index[$0].duration })
      #expect(one.b.map { $0.metadata == movie.video?.spatial } ?? true)
      let isSaid = (12..<20).contains(number)
      #expect(one.instruction == (isSaid ? "fade" : nil))
      let progress = isSaid ? Double(number - 12) / 8 : Double(number) / 26
      #expect(abs(one.progress - progress) < 1e-6, "\(number): \(one.progress)")
    }
    // What is skipped is not there.
    #expect(composed.map(\.time) == Array(asked.map(\.time).prefix(22)))
    let read = try await frames(movie)
    for (number, frame) in composed.enumerated() {
      let source = read[number < 20 ? number : number - 7]
      #expect(same(try frame.left.pixels(), try source.left.pixels()), "\(number)")
    }
  }

  @Test("a finer grid shows each frame more than once, a coarser one leaves some out")
  func grids() async throws {
    let movie = try await StereoMovie(try await Movies.fragmented())
    let read = try await frames(movie)
    for (step, count, number) in [
      (Duration.seconds(1) / 60, 80, { $0 / 2 }), (.milliseconds(500), 3, { $0 * 15 }),
    ] as [(Duration, Int, (Int) -> Int)] {
      let composed = try await frames(composition(movie, .every(step)))
      #expect(composed.map(\.time) == (0..<count).map { step * $0 })
      #expect(composed.allSatisfy { $0.duration == step })
      for (position, frame) in composed.enumerated() {
        #expect(same(try frame.right.pixels(), try read[number(position)].right.pixels()))
      }
    }
  }

  @Test(
    "FFmpeg decodes the composition's frames, and the encoder gets the same pixels",
    .tags(.judge),
    .enabled(if: Python.hasAVAndNumPy, "no Python with PyAV and NumPy"))
  func written() async throws {
    let movie = try await StereoMovie(try await Movies.spatial())
    let log = Log()
    let negative = composition(movie) { request in
      guard let frame = request["a"] else { return .skip }
      var picture = try request.picture(like: frame.left)
      for plane in 0..<picture.planeCount {
        var source: [UInt8] = []
        try frame.left.withPlane(plane) { bytes, _ in bytes.withUnsafeBytes { source = Array($0) } }
        let stride = try frame.left.withPlane(plane) { _, layout in layout.stride }
        try picture.withPlane(plane) { bytes, layout in
          for row in 0..<layout.rows {
            for column in 0..<layout.rowBytes {
              bytes.storeBytes(
                of: 255 - source[row * stride + column], toByteOffset: row * layout.stride + column,
                as: UInt8.self)
            }
          }
        }
      }
      let drawn = Picture(picture)
      try await log.add(drawn)
      return .stereo(drawn, frame.right)
    }
    let composed = try await frames(negative)
    let left = try composed.flatMap { try $0.left.pixels() }
    let given = await log.take()
    #expect(same(given.flatMap(\.self), left))
    var settings = quickSettings()
    settings.rate = .quality(4)
    let report = try await negative.export(to: folder.path("a.mov"), settings).report
    #expect(report.frameCount == 40)
    let encoded = await log.take()
    #expect(encoded.count == 40 && same(encoded.flatMap(\.self), left))
    let layers = try #require(try await StereoMovie(folder.path("a.mov")).video).layers
    let views = try Python.views(folder.path("a.mov"), in: folder)
    for layer in layers {
      let view = try #require(views["\(layer.viewID)"])
      let right = try composed.flatMap { try $0.right.pixels() }
      #expect(view.times.count == 40)
      #expect(distance(view.pixels, layer.eye == .left ? left : right) < 1.5, "\(layer)")
    }
  }

  @Test("one picture for both eyes becomes a plain movie, at the same times", .tags(.long))
  func mono() async throws {
    let movie = try await StereoMovie(try await Movies.spatial())
    let plain = composition(movie, output: .mono) { request in
      guard let frame = request["a"], frame.index != 3 else { return .skip }
      return .mono(frame.left)
    }
    let composed = try await frames(plain)
    #expect(composed.count == 39 && composed.allSatisfy { $0.isMono && $0.metadata == .init() })
    // The hero eye is the right one.
    let hero = try await frames(composition(movie, output: .mono)).map { try $0.left.pixels() }
    let right = try await frames(movie).map { try $0.right.pixels() }
    #expect(same(hero.flatMap(\.self), right.flatMap(\.self)))
    for rate in [StereoWriter.Settings.Rate.quality(10), .bitsPerSecond(2_000_000)] {
      var settings = quickSettings()
      (settings.rate, settings.replaces) = (rate, true)
      _ = try await plain.export(to: folder.path("a.mp4"), settings).report
      let written = try await StereoMovie(folder.path("a.mp4"))
      #expect(written.video?.layout == .mono && written.video?.spatial == SpatialMetadata())
      let read = try await frames(written)
      #expect(read.map(\.time) == composed.map(\.time) && read.allSatisfy(\.isMono))
      for (one, other) in zip(read, composed) { #expect(try distance(one.left, other.left) < 3) }
    }
  }

  @Test("a composition that begins after zero is written with that offset")
  func offset() async throws {
    let movie = try await StereoMovie(try await Movies.fragmented())
    let index = try #require(movie.video).frames
    var composition = StereoComposition(
      Compose<Void> { _ in .source("a") }, frames: .of("a"))
    composition.add("a", movie, range: index[14].time..<index[31].time, at: .seconds(2))
    let composed = try await frames(composition)
    let times = (14..<31).map { .seconds(2) + index[$0].time - index[14].time }
    #expect(composed.map(\.time) == times)
    let read = try await frames(movie)
    for (one, other) in zip(composed, read[14..<31]) {
      #expect(same(try one.left.pixels(), try other.left.pixels()))
    }
    _ = try await composition.export(to: folder.path("a.mov"), quickSettings()).report
    #expect(try await StereoMovie(folder.path("a.mov")).video?.frames.count == 17)
  }
}
