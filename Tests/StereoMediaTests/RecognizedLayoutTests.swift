// SPDX-License-Identifier: MPL-2.0

import Foundation
import StereoMedia
import StereoVideo
import TestKit
import Testing

/// ``RecognizedLayout``: names, shapes, declarations and pictures against one another.
struct RecognizedLayoutTests {
  private func step(
    _ name: String, _ width: Int, _ height: Int, pixelShape: Double = 1,
    _ complete: (inout LayoutEvidence) -> Void = { _ in }
  ) -> RecognizedLayout.Step {
    var evidence = LayoutEvidence(path: name)
    evidence.frame = LayoutEvidence.Frame(width, height, pixelShape: pixelShape)
    complete(&evidence)
    return RecognizedLayout.recognize(evidence)
  }

  private func found(_ step: RecognizedLayout.Step) -> RecognizedLayout? {
    if case .recognized(let layout) = step { layout } else { nil }
  }

  private static let full = PackingLayout(.sideBySide)
  private static let half = PackingLayout(.sideBySide, halfAspect: true)
  private static let fullTB = PackingLayout(.topBottom)
  private static let halfTB = PackingLayout(.topBottom, halfAspect: true)

  @Test(
    "flat movies by name and shape",
    arguments: [
      ("Half-SBS", 1920, 1080, half), ("Half-SBS", 1920, 800, half), ("H-SBS", 1920, 752, half),
      ("HSBS", 3840, 1080, half), ("Full-SBS", 2160, 1920, full), ("FSBS", 1920, 1080, full),
      ("SBS", 1920, 1080, half), ("SBS", 1920, 800, half), ("SBS", 1920, 752, half),
      ("SBS", 3840, 1080, full), ("SBS", 3840, 800, full), ("SBS", 3840, 1600, half),
      ("SBS", 2560, 960, full),
      ("SBS", 2160, 1920, full), ("SBS", 1440, 1080, half), ("LR", 1280, 720, half),
      ("Half-OU", 1920, 1080, halfTB), ("TAB", 1920, 1080, halfTB), ("TAB", 1920, 800, halfTB),
      ("TB", 1920, 2160, fullTB), ("OU", 1920, 1600, fullTB), ("Full-TAB", 1920, 1080, fullTB),
      ("TB", 1080, 1920, halfTB), ("H-TAB", 1920, 2160, halfTB), ("TB", 640, 960, fullTB),
    ] as [(String, Int, Int, PackingLayout)])
  func flat(term: String, width: Int, height: Int, packing: PackingLayout) {
    let layout = found(step("Film.3D.\(term).mkv", width, height))
    #expect(layout?.eyes == .packed(packing) && layout?.projection == .flat)
    #expect(layout?.notes.isEmpty == false)
  }

  @Test("the shape of the pixels counts for flat pictures")
  func pixels() {
    #expect(found(step("a_SBS.mp4", 1920, 1080, pixelShape: 2))?.eyes == .packed(Self.full))
    #expect(found(step("a_TB.mp4", 1920, 1080, pixelShape: 0.5))?.eyes == .packed(Self.fullTB))
    // "Half" in the name is not applied twice.
    let undone = found(step("a.Half-SBS.mkv", 1920, 800, pixelShape: 2))
    #expect(undone?.eyes == .packed(Self.full) && undone?.notes.count == 2)
    #expect(found(step("a.HSBS.mkv", 1920, 800, pixelShape: 64.0 / 45))?.eyes == .packed(Self.half))
    #expect(found(step("a.HOU.mkv", 1920, 1080, pixelShape: 0.5))?.eyes == .packed(Self.fullTB))
    #expect(found(step("a.HOU.mkv", 1920, 1080, pixelShape: 2))?.eyes == .packed(Self.halfTB))
  }

  @Test(
    "pictures that surround the viewer, by name and shape; never squeezed",
    arguments: [
      ("180_LR", 4096, 2048, .packed(full), .kind(.halfEquirectangular)),
      ("180", 4096, 2048, .packed(full), .kind(.halfEquirectangular)),
      ("180", 2048, 2048, .one, .kind(.halfEquirectangular)),
      ("180", 2048, 4096, .packed(fullTB), .kind(.halfEquirectangular)),
      ("VR180", 3840, 1920, .packed(full), .kind(.halfEquirectangular)),
      ("180x180_Side-By-Side", 1920, 1080, .packed(full), .kind(.halfEquirectangular)),
      ("360", 4096, 2048, .one, .kind(.equirectangular)),
      ("360_mono", 3840, 1920, .one, .kind(.equirectangular)),
      ("360", 4096, 4096, .packed(fullTB), .kind(.equirectangular)),
      ("360", 8192, 2048, .packed(full), .kind(.equirectangular)),
      ("360_TB", 4096, 4096, .packed(fullTB), .kind(.equirectangular)),
      ("360_TB", 4096, 4100, .packed(fullTB), .kind(.equirectangular)),
      ("360_SBS", 4096, 2048, .packed(full), .kind(.equirectangular)),
      ("360_TB", 3840, 1920, .packed(fullTB), .kind(.equirectangular)),
      ("180_TB", 2048, 2048, .packed(fullTB), .kind(.halfEquirectangular)),
      ("FISHEYE190_SBS", 4096, 2048, .packed(full), .fisheye(190)),
      ("LR_F135", 4096, 2048, .packed(full), .fisheye(135)),
      // The shape does not fit a bare number.
      ("Xbox 360 trailer_SBS", 1920, 1080, .packed(half), .flat),
      ("360_SBS", 1920, 1080, .packed(half), .flat),
      ("F150 truck_SBS", 1920, 1080, .packed(half), .flat),
      ("180_TB", 1920, 1080, .packed(halfTB), .flat),
      ("180 ways_SBS", 1920, 1012, .packed(half), .flat),
    ] as [(String, Int, Int, RecognizedLayout.Eyes, RecognizedLayout.Projection)])
  func surrounding(
    term: String, width: Int, height: Int, eyes: RecognizedLayout.Eyes,
    projection: RecognizedLayout.Projection
  ) {
    let layout = found(step("a_\(term).mp4", width, height))
    #expect(layout?.eyes == eyes && layout?.projection == projection)
  }

  @Test(
    "what the file declares counts for more than its name",
    arguments: [
      ("a_TB.mp4", .packed(.sideBySide, rightViewFirst: true), 3840, 1080),
      ("a_2D.mp4", .packed(.sideBySide, rightViewFirst: true), 3840, 1080),
      ("a.mp4", .packed(.sideBySide, rightViewFirst: true), 3840, 1080),
    ] as [(String, LayoutEvidence.DeclaredEyes, Int, Int)])
  func declared(name: String, eyes: LayoutEvidence.DeclaredEyes, width: Int, height: Int) {
    let layout = found(step(name, width, height) { $0.declaredEyes = eyes })
    #expect(layout?.eyes == .packed(PackingLayout(.sideBySide, rightViewFirst: true)))
    #expect(layout?.notes == [])
  }

  @Test("declared projections: known ones, flat ones, and ones that are refused by name")
  func declaredProjections() {
    let pair = step("a_360.mp4", 4096, 2048) {
      $0.declaredEyes = .packed(.sideBySide, rightViewFirst: false)
      $0.declaredProjection = .kind(.halfEquirectangular)
    }
    #expect(found(pair)?.projection == .kind(.halfEquirectangular))
    let flat = step("a_360_SBS.mp4", 4096, 1024) { $0.declaredProjection = .kind(.rectilinear) }
    #expect(found(flat)?.projection == .flat)
    let mesh = step("a_180_LR.mp4", 4096, 2048) { $0.declaredProjection = .unsupported("a mesh") }
    #expect(mesh == .refused(.unsupportedProjection("a mesh")))
    let overridden = step("a_LR.mp4", 4096, 2048) {
      $0.declaredProjection = .unsupported("a mesh")
      $0.givenProjection = .kind(.halfEquirectangular)
    }
    #expect(found(overridden)?.projection == .kind(.halfEquirectangular))
  }

  @Test("what the user specifies is final")
  func given() {
    let layout = step("a_Half-SBS.mp4", 1920, 1080) {
      $0.declaredEyes = .packed(.sideBySide, rightViewFirst: true)
      $0.givenPacking = LayoutEvidence.GivenPacking(.topBottom, isHalf: false)
    }
    #expect(found(layout)?.eyes == .packed(Self.fullTB))
    let shape = step("a.mp4", 1920, 1080) {
      $0.givenPacking = LayoutEvidence.GivenPacking(.sideBySide)
    }
    #expect(found(shape)?.eyes == .packed(Self.half))
    for refused in [LayoutEvidence.DeclaredEyes.inseparable("rows"), .severalTracks(2)] {
      let layout = step("a.mp4", 3840, 1080) {
        $0.declaredEyes = refused
        $0.givenPacking = LayoutEvidence.GivenPacking(.sideBySide)
      }
      #expect(found(layout)?.eyes == .packed(Self.full))
    }
  }

  @Test("flat movies without a word about eyes are told by their pictures")
  func pictures() {
    func layout(_ name: String, _ finding: PictureFinding?) -> RecognizedLayout.Step {
      step(name, 1920, 1080) { $0.pictures = finding }
    }
    // "ou" may be the French word.
    for name in ["a.mp4", "Vivre ou mourir.mp4", "Xbox 360.mp4"] {
      #expect(layout(name, nil) == .needsPictures)
      #expect(layout(name, .unclear) == .refused(.unclear))
      #expect(layout(name, .onePicture) == .refused(.onePicture))
      #expect(found(layout(name, .packed(.sideBySide)))?.eyes == .packed(Self.half))
      #expect(found(layout(name, .packed(.topBottom)))?.eyes == .packed(Self.halfTB))
    }
    #expect(layout("a_2D.mp4", nil) == .refused(.onePicture))
    #expect(layout("Anaglyph.mp4", nil) == .refused(.inseparable("an anaglyph")))
  }

  @Test("360 degrees in an unusual shape are told by their pictures, too")
  func unusualShape() {
    func layout(_ finding: PictureFinding?) -> RecognizedLayout.Step {
      step("a_360x180.mp4", 1920, 1080) { $0.pictures = finding }
    }
    #expect(layout(nil) == .needsPictures)
    #expect(found(layout(.onePicture))?.eyes == .one)
    #expect(found(layout(.packed(.topBottom)))?.eyes == .packed(Self.fullTB))
  }

  @Test("one eye of two files needs no second one, and no pictures")
  func oneOfTwo() {
    let flat = step("left.mp4", 1920, 1080) { $0.isOneEye = true }
    #expect(found(flat)?.eyes == .one && found(flat)?.projection == .flat)
    #expect(found(flat)?.notes == [])
    let around = step("left_360.mp4", 4096, 2048) { $0.isOneEye = true }
    #expect(found(around)?.projection == .kind(.equirectangular))
    let number = step("left_360.mp4", 1920, 1080) { $0.isOneEye = true }
    #expect(found(number)?.projection == .flat)
  }

  @Test("sizes without meaning are refused")
  func sizes() {
    for (width, height, shape) in [
      (0, 1, 1), (1, 0, 1), (-1, 1, 1), (1, 1, 0), (1, 1, -1), (1, 1, .infinity), (1, 1, .nan),
    ] as [(Int, Int, Double)] {
      #expect(LayoutEvidence.Frame(width, height, pixelShape: shape) == nil)
    }
    #expect(LayoutEvidence.Frame(.max, 1) != nil)
  }
}

/// ``PictureProbe``: which pictures of a movie it decodes.
@Suite(.tags(.process))
struct PictureProbeTests {
  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
  }

  /// Makes a movie of single pictures, of which some are replaced by pairs side by side.
  ///
  /// - Parameters:
  ///   - pairs: the frames that are replaced, as a condition of FFmpeg on the frame number `n`.
  ///   - single: the source of the other pictures.
  ///   - interval: the number of frames from one keyframe to the next.
  private func probe(pairs: String, single: String, interval: Int) async throws -> PictureProbe {
    let scene = "mandelbrot=size=320x360:rate=30,split[l][r];[l][r]hstack[pair];"
    let mixture = "\(single)=size=640x360:rate=30[one];[one][pair]overlay=enable='\(pairs)'"
    _ = try await Program.output(
      of: [
        "ffmpeg", "-v", "error", "-y", "-filter_complex", scene + mixture, "-frames:v", "310",
        "-c:v",
        "libx264", "-preset", "ultrafast", "-pix_fmt", "yuv420p", "-g", "\(interval)",
        "-keyint_min", "\(interval)", "-sc_threshold", "0", "a.mp4",
      ], in: folder.url)
    return try await PictureProbe(path: folder.path("a.mp4"))
  }

  @Test("keyframes decide if there are several, without the pictures between them")
  func keyframes() async throws {
    let probe = try await probe(pairs: "not(mod(n,30))", single: "life", interval: 30)
    #expect(await probe.finding(within: .seconds(60)) == .packed(.sideBySide))
  }

  @Test("pictures between keyframes decide if there are too few")
  func otherPictures() async throws {
    let probe = try await probe(pairs: "gt(n,20)", single: "color", interval: 1000)
    #expect(await probe.finding(within: .seconds(60)) == .packed(.sideBySide))
  }

  @Test("without time for more, the first picture decides")
  func budget() async throws {
    let probe = try await probe(pairs: "lt(n,5)", single: "color", interval: 1000)
    #expect(await probe.finding(within: .zero) == .packed(.sideBySide))
    let black = try await self.probe(pairs: "gt(n,20)", single: "color", interval: 1000)
    #expect(await black.finding(within: .zero) == .unclear)
  }
}
