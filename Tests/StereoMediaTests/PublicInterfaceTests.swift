// SPDX-License-Identifier: MPL-2.0

import Foundation
import StereoMedia
import TestKit
import Testing

/// What programs see of the library: all of it stands in some program here or in the examples, so
/// that it is known to compile, and none of it names another library.
struct PublicInterfaceTests {
  private struct Blend: StereoCompositor {
    let output = CompositionOutput.stereo

    func compose(_ request: CompositionRequest<Void>) async throws -> ComposedFrame { .source("a") }
  }

  @Test("public names match the documents")
  func names() async throws {
    let folder = try TemporaryFolder()
    let movie = try await StereoMovie(try await Movies.spatial())
    let container: StereoMovie.Container = movie.container
    let tracks: [StereoMovie.Track] = movie.tracks
    let layers: [StereoMovie.Layer] = try #require(movie.video).layers
    #expect(container == .quickTime && layers.count == 2)
    #expect(tracks.map(\.language) == ["und", "und"])
    let verdict: SpatialVerdict = movie.verdict
    #expect(verdict.advice.isEmpty && !verdict.isImmersive)
    let frames = try #require(movie.video).frames
    #expect(frames.endIndex - frames.startIndex == 40)

    var options = StereoReader.Options()
    options.unpaired = StereoReader.Options.Unpaired.skip
    options.format = .bgra
    let reader = StereoReader(movie, options)
    let pictures: StereoReader.Pictures = reader.pictures(of: .left)
    var bytes = 0
    for try await frame: EyeFrame in pictures {
      bytes += try frame.picture.withPlane(0) { (_, layout: PlaneLayout) in
        layout.rowBytes * layout.rows
      }
    }
    #expect(bytes == 40 * 320 * 90 * 4)
    let format = try AudioSampleFormat()
    let parts: StereoReader.AudioSections = reader.audio(as: format)
    let samples: StereoReader.Samples = reader.samples(audio: format)
    let count = try await parts.reduce(0) { $0 + $1.count }
    var heard = 0
    for try await sample: StereoReader.Sample in samples {
      if case .audio(let audio) = sample { heard += audio.count }
    }
    #expect(heard == count && count > 48_000)

    let kind: ImageFormat = .jpeg(50)
    let generator = StereoImageGenerator(movie, show: .left)
    let images: StereoImageGenerator.Images = generator.images(at: [.zero], as: kind)
    for await image in images { #expect(try image.get().format == kind) }
    #expect(StereoImageGenerator.cacheLimit > 1 << 20)

    var composition = StereoComposition(Blend(), frames: .of("a"))
    composition.add("a", movie)
    let composed: StereoComposition<Blend>.Frames = composition.frames()
    #expect(try await composed.reduce(0) { sum, _ in sum + 1 } == 40)

    let player = try await StereoPlayer(movie, audio: .none)
    let tolerance: StereoPlayer.Tolerance = .keyframe
    try await player.seek(to: .seconds(1), tolerance)
    #expect(player.frame()?.index == 15)

    var settings = StereoWriter.Settings()
    settings.speed = StereoWriter.Settings.Speed.ultrafast
    settings.layout = StereoWriter.Settings.Layout.mono
    settings.keyframeDistance = 5
    let conversion: Conversion = composition.export(to: folder.path("a.mp4"), settings)
    var last: Conversion.Progress?
    for try await progress in conversion {
      #expect(progress.elapsed >= last?.elapsed ?? .zero)
      last = progress
    }
    #expect(last?.fraction ?? 1 <= 1)
    let written = try #require(try await StereoMovie(folder.path("a.mp4")).video).frames
    #expect(written.filter(\.isSync).count == 8)
  }

  /// The files of some folders of the project.
  private static func files(_ folders: String...) throws -> [String] {
    try folders.flatMap { folder in
      let root = Repository.url.appending(path: folder)
      return try FileManager.default.subpathsOfDirectory(atPath: root.path)
        .filter { $0.hasSuffix(".swift") }
        .map { try String(contentsOf: root.appending(path: $0), encoding: .utf8) }
    }
  }

  @Test("every public name is used by a program that the tests compile")
  func programs() throws {
    let declaration =
      #/
      (?m)^\ *public\ (?:(?:static|final|mutating|private\(set\))\ )*
      (?:func|var|let|struct|class|enum|protocol|typealias)\ (\w+)
      /#
    let names = try Self.files("Sources/Apps/StereoMedia")
      .flatMap { $0.matches(of: declaration).map { String($0.output.1) } }
    try #require(Set(names).count > 170)
    let used = try Self.files("Tests/StereoMediaTests", "Examples")
      .flatMap { $0.matches(of: /\w+/).map { String($0.output) } }
    // Sequences have these; loops use them.
    let unused = Set(names).subtracting(used).subtracting(["Element", "Iterator"])
    #expect(unused == [])
  }

  @Test("the interface imports no other library than the model")
  func imports() throws {
    let imports = try Self.files("Sources/Apps/StereoMedia").flatMap {
      $0.split(separator: "\n").filter {
        $0.contains("import ") && $0.contains("public ") && !$0.contains("//")
      }
    }
    #expect(imports.count > 3)
    #expect(imports.allSatisfy { $0.hasSuffix("public import StereoVideo") }, "\(imports)")
    // Else what is imported without a word would be public.
    let package = try String(
      contentsOf: Repository.url.appending(path: "Package.swift"), encoding: .utf8)
    #expect(package.contains("InternalImportsByDefault"))
  }
}
