// SPDX-License-Identifier: MPL-2.0

import Foundation
import GStreamer
import GStreamerCheck
import ISOBMFF
import StereoVideo
import TestKit
import Testing

/// Whole movies by `mvhevcmux`: the eyes, and what the file says of them.
struct StereoMovieTests {
  let folder: TemporaryFolder
  var path: String { folder.path("movie.mov") }

  init() throws {
    folder = try TemporaryFolder()
  }

  @Test(
    "an independent decoder finds both eyes, not swapped, for either hero eye", .tags(.judge),
    Judge.isThere,
    arguments: [Eye.left, .right])
  func bothEyes(hero: Eye) async throws {
    try await play(eyes(12) + mux(to: path, "hero-eye=\(hero) quality=18"))
    try await Judge.expectEyes(path, folder, count: 12, width: 320, height: 180, base: hero)
    let entry = try MovieFile(path).videoEntry()
    #expect(entry.spatialMetadata.heroEye == hero)
  }

  @Test(
    "ten bits, top-bottom, half packings and odd sizes end to end", .tags(.judge), Judge.isThere,
    arguments: [
      ("format=I420_10LE,width=640,height=180", "", 320, 180, "I420_10LE"),
      ("format=I420,width=320,height=360,multiview-mode=top-bottom", "", 320, 180, "I420"),
      (
        "format=I420,width=320,height=180,multiview-mode=frame-by-frame,framerate=60/1", "", 320,
        180, "I420"
      ),
      (
        "format=I420,width=320,height=180",
        "input-mode-override=side-by-side input-flags-override=half-aspect", 160, 180, "I420"
      ),
      ("format=I420,width=404,height=180", "", 202, 180, "I420"),
      ("format=I420,width=32,height=16", "", 16, 16, "I420"),
    ])
  func packings(
    caps: String, split: String, width: Int, height: Int, format: String
  ) async throws {
    let isAlternating = caps.contains("frame-by-frame")
    try await play(
      eyes(isAlternating ? 16 : 8, caps, split: split) + mux(to: path, "quality=16"))
    try await Judge.expectEyes(
      path, folder, count: 8, width: width, height: height, format: format,
      above: width < 64 ? 25 : 34)
    let entry = try MovieFile(path).videoEntry()
    #expect(Int(entry.width) == width)
    #expect(Int(entry.height) == height)
    #expect(
      entry.pixelAspectRatio
        == (split.isEmpty ? nil : PixelAspectRatio(horizontalSpacing: 2, verticalSpacing: 1)))
  }

  @Test(
    "two sources, one per eye, make the same movie as a packed one", .tags(.judge), Judge.isThere)
  func separateSources() async throws {
    let caps = "video/x-raw,width=320,height=180"
    try await play(
      "stereotestsrc num-buffers=10 ! \(caps),multiview-mode=left ! "
        + "filesink location=\(folder.path("l"))"
    )
    try await play(
      "stereotestsrc num-buffers=10 ! \(caps),multiview-mode=right ! "
        + "filesink location=\(folder.path("r"))"
    )
    let parse = "rawvideoparse width=320 height=180 format=i420 framerate=30/1"
    try await play(
      "filesrc location=\(folder.path("l")) ! \(parse) ! queue ! mux.left "
        + "filesrc location=\(folder.path("r")) ! \(parse) ! queue ! mux.right "
        + mux(to: path, "quality=18")
    )
    try await Judge.expectEyes(path, folder, count: 10, width: 320, height: 180)
  }

  @Test("frames of 8192x4096 per eye are encoded", .tags(.exhaustive))
  func large() async throws {
    try await play(
      eyes(1, "width=16384,height=4096")
        + mux(to: path, "quality=51 option-string=ctu=64:no-sao=1:no-deblock=1"))
    #expect(try MovieFile(path).videoEntry().width == 8192)
  }

  @Test(
    "colour of the caps is in the file", arguments: ["bt709", "bt601", "bt2020-10", "bt2100-pq"])
  func colour(colorimetry: String) async throws {
    try await play(
      "stereotestsrc num-buffers=2 ! video/x-raw,format=I420_10LE,width=128,height=64,"
        + "colorimetry=\(colorimetry) ! sbssplit name=s s.left ! queue ! mux.left "
        + "s.right ! queue ! mux.right " + mux(to: path))
    let expected: ColourInformation =
      switch colorimetry {
      case "bt709": .init(primaries: 1, transferCharacteristics: 1, matrixCoefficients: 1)
      case "bt601": .init(primaries: 6, transferCharacteristics: 6, matrixCoefficients: 6)
      case "bt2020-10": .init(primaries: 9, transferCharacteristics: 14, matrixCoefficients: 9)
      default: .init(primaries: 9, transferCharacteristics: 16, matrixCoefficients: 9)
      }
    #expect(try MovieFile(path).videoEntry().colour == expected)
  }

  /// What a movie's demuxed streams say of their colours.
  private func demuxedColorimetry(_ movie: String) async throws -> [String?] {
    let streams = try await record(
      "filesrc location=\(movie) ! mvhevcdemux name=d d.left ! queue ! fakesink name=l "
        + "d.right ! queue ! fakesink name=r d.video_0 ! queue ! fakesink name=v",
      sinks: ["l", "r", "v"])
    return streams.map { $0.first?.caps.first?.string("colorimetry") }
  }

  @Test("full range is in the file, and in the demuxed caps", arguments: ["mov", "mp4"])
  func fullRange(container: String) async throws {
    try await play(
      "stereotestsrc num-buffers=2 ! video/x-raw,format=I420,width=128,height=64 ! "
        + "capssetter caps=video/x-raw,colorimetry=1:3:5:1 ! sbssplit name=s "
        + "s.left ! queue ! mux.left s.right ! queue ! mux.right "
        + mux(to: path, "container=\(container)"))
    let colour = try #require(try MovieFile(path).videoEntry().colour)
    #expect(colour.fullRange == true)
    #expect(colour.primaries == 1)
    let bytes = try MovieFile(path).bytes
    #expect(bytes.firstRange(of: Array("colrnclx".utf8)) != nil)
    let said = try await demuxedColorimetry(path)
    #expect(said == Array(repeating: "1:3:5:1", count: 3))
  }

  @Test("full range that is only in the stream is not lost")
  func fullRangeOfStream() async throws {
    let source =
      "stereotestsrc num-buffers=2 ! video/x-raw,format=I420,width=128,height=64 ! "
      + "capssetter caps=video/x-raw,colorimetry=1:3:5:1 ! sbssplit name=s "
      + "s.left ! queue ! enc.left s.right ! queue ! enc.right "
      + "mvhevcenc name=enc speed-preset=ultrafast ! "
    let encoder = try await record(source + "fakesink name=sink")
    let caps = try #require(encoder.first?.first?.caps.with(removing: ["colorimetry"]))
    try await play(
      source + "capssetter replace=true caps=\"\(caps)\" ! queue ! mux.video_0 " + mux(to: path))
    #expect(try MovieFile(path).videoEntry().colour?.fullRange == true)
    // As movies of other writers are, that have the form of QuickTime.
    var bytes = try MovieFile(path).bytes
    let place = try #require(bytes.firstRange(of: Array("colrnclx".utf8)))
    bytes[place.upperBound - 1] = UInt8(ascii: "c")
    let other = folder.path("other.mov")
    try Data(bytes).write(to: URL(filePath: other))
    #expect(try MovieFile(other).videoEntry().colour?.fullRange == nil)
    let said = try await demuxedColorimetry(other)
    #expect(said.allSatisfy { $0?.hasPrefix("1:") == true }, "\(said)")
  }

  @Test("HDR10 caps become mdcv, clli and SEI messages")
  func highDynamicRange() async throws {
    try await play(
      "stereotestsrc num-buffers=2 ! video/x-raw,format=I420_10LE,width=128,height=64,"
        + "colorimetry=bt2100-pq ! capssetter caps=\"video/x-raw,"
        + "mastering-display-info=(string)34000:16000:13250:34500:7500:3000:15635:16450:10000000:50"
        + ",content-light-level=(string)1000:400\" ! sbssplit name=s "
        + "s.left ! queue ! mux.left s.right ! queue ! mux.right " + mux(to: path))
    let file = try MovieFile(path)
    let entry = try file.videoEntry()
    #expect(
      entry.contentLightLevel
        == ContentLightLevel(maximum: 1000, maximumFrameAverage: 400))
    let display = try #require(entry.masteringDisplay)
    #expect(display.red.x == 34000)
    #expect(display.blue.y == 3000)
    #expect(display.whitePoint.x == 15635)
    #expect(display.maximumLuminance == 10_000_000)
    // SEI payloads 137 (24 bytes) and 144 (4 bytes), in the first access unit or the hvcC.
    let first = try #require(try file.video().samples.sample(at: 0))
    let unit = Array(file.bytes[Int(first.offset)..<Int(first.offset) + Int(first.size)])
    let places = unit + (entry.hvcC ?? [])
    #expect(places.firstRange(of: [137, 24]) != nil)
    #expect(places.firstRange(of: [144, 4, 0x03, 0xE8, 0x01, 0x90]) != nil)
  }

  @Test("the boxes are those of an AVFoundation file, in its order")
  func boxes() async throws {
    try await play(eyes(4, "width=128,height=64") + mux(to: path, "hero-eye=left"))
    let boxes = try MovieFile(path).videoEntryBoxes()
    let wanted = ["hvcC", "lhvC", "vexu", "hfov"]
    #expect(boxes.filter { wanted.contains($0) } == wanted)
    let foreign = Repository.url.deletingLastPathComponent()
      .appending(path: "shared/media/water-1934x2160-right-base.mov").path
    if FileManager.default.fileExists(atPath: foreign) {
      let theirs = try MovieFile(foreign).videoEntryBoxes()
      #expect(boxes.filter { theirs.contains($0) } == theirs)
    }
  }

  // MARK: Metadata

  private func spatialMetadata() throws -> SpatialMetadata {
    try MovieFile(path).videoEntry().spatialMetadata
  }

  @Test("unset values get the defaults that Apple's players need")
  func defaults() async throws {
    try await play(eyes(2, "width=128,height=64") + mux(to: path))
    let metadata = try spatialMetadata()
    #expect(metadata.heroEye == nil)
    #expect(metadata.horizontalFieldOfView?.degrees == 63.4)
    #expect(metadata.baseline?.millimetres == 63.5)
    #expect(metadata.disparityAdjustment?.tenThousandths == 0)
    #expect(metadata.projection == .rectilinear)
    let keys = try MovieFile(path).movie.metadata.map(\.key)
    #expect(keys.contains { $0.hasPrefix("com.apple.quicktime.spatial.") })
  }

  @Test("stereotagger's values become boxes; the muxer's properties win over them")
  func metadata() async throws {
    let source =
      "stereotestsrc num-buffers=2 ! video/x-raw,width=128,height=64 ! sbssplit name=s "
      + "s.left ! stereotagger eye=left hero-eye=right horizontal-field-of-view=90 baseline=19.24 "
      + "disparity-adjustment=0.02 projection=half-equirectangular ! queue ! mux.left "
      + "s.right ! queue ! mux.right "
    try await play(source + mux(to: path))
    var metadata = try spatialMetadata()
    #expect(metadata.heroEye == .right)
    #expect(metadata.horizontalFieldOfView?.degrees == 90)
    #expect(metadata.baseline?.micrometres == 19240)
    #expect(metadata.disparityAdjustment?.tenThousandths == 200)
    #expect(metadata.projection == .halfEquirectangular)
    try await play(
      source
        + mux(
          to: path,
          "hero-eye=left horizontal-field-of-view=70 baseline=65 disparity-adjustment=0 "
            + "projection=rectilinear"))
    metadata = try spatialMetadata()
    #expect(metadata.heroEye == .left)
    #expect(metadata.horizontalFieldOfView?.degrees == 70)
    #expect(metadata.baseline?.micrometres == 65000)
    #expect(metadata.disparityAdjustment?.tenThousandths == 0)
    #expect(metadata.projection == .rectilinear)
  }

  @Test("a title from upstream is in the file")
  func title() async throws {
    try await play(
      "stereotestsrc num-buffers=2 ! video/x-raw,width=128,height=64 ! "
        + "taginject tags=\"title=Boats\" ! sbssplit name=s s.left ! queue ! mux.left "
        + "s.right ! queue ! mux.right " + mux(to: path))
    let items = try MovieFile(path).movie.metadata
    #expect(items.first { $0.key == "com.apple.quicktime.title" }?.value == .utf8("Boats"))
  }

  @Test(
    "a movie whose second eye has predicted keyframes plays, and reports the savings",
    .tags(.judge),
    Judge.isThere)
  func interView() async throws {
    let raw = "format=I420,width=640,height=180,framerate=30/1"
    let options = "speed-preset=fast key-int-max=15 scene-cuts=false"
    try await play(eyes(50, raw) + mux(to: path, options))
    let plain = try MovieFile(path).bytes.count
    let messages = try await play(
      eyes(50, raw) + mux(to: path, options + " inter-view-prediction=keyframes"))
    #expect(try MovieFile(path).bytes.count * 100 < plain * 95)
    let second = try #require(messages.named("stereo-encoder-statistics").last)
    #expect(second.int("predicted-keyframes") == 4 && second.int("plain-keyframes") == 0)
    #expect(second.int("saved-bytes") ?? 0 > 0)
    #expect((0.01..<0.95).contains(second.double("share-of-base") ?? 0))
    try await Judge.expectEyes(path, folder, count: 50, width: 320, height: 180, above: 30)
  }

  @Test("progress and the encoders' statistics are posted to the application")
  func reports() async throws {
    let messages = try await play(eyes(10, "width=128,height=64") + mux(to: path))
    let progress = try #require(messages.named("mvhevcmux-progress").last)
    #expect(progress.int("frames") == 10)
    #expect(progress.int("bytes") ?? 0 > 0)
    let eyes = messages.named("stereo-encoder-statistics")
    #expect(eyes.map { $0.string("eye") } == ["left", "right"])
    #expect(eyes.allSatisfy { $0.int("frames") == 10 && $0.int("bytes") ?? 0 > 0 })
  }
}
