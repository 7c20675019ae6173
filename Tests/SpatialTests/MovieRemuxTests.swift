// SPDX-License-Identifier: MPL-2.0

import CGStreamer
import Foundation
import GStreamer
import ISOBMFF
import StereoVideo
import TestElements
import TestKit
import Testing

/// What a movie's sample entry says, through `mvhevcdemux` and `mvhevcmux`.
struct MovieRemuxTests {
  let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
    try BuiltPlugin.require()
  }

  /// A box of a sample entry.
  struct Box: CustomTestStringConvertible, Sendable {
    let testDescription: String
    let add: @Sendable (inout VisualSampleEntry) throws -> Void
  }

  private static let boxes = [
    Box(testDescription: "nothing but vexu and hfov") { _ in },
    Box(testDescription: "clap") {
      $0.cleanAperture = CleanAperture(
        widthNumerator: 150, heightNumerator: 181, heightDenominator: 2,
        horizontalOffsetNumerator: -5, verticalOffsetNumerator: 1, verticalOffsetDenominator: 4)
    },
    Box(testDescription: "pasp") {
      $0.pixelAspectRatio = PixelAspectRatio(horizontalSpacing: 20, verticalSpacing: 22)
    },
    Box(testDescription: "pasp 1:1") {
      $0.pixelAspectRatio = PixelAspectRatio(horizontalSpacing: 1, verticalSpacing: 1)
    },
    Box(testDescription: "colr") {
      $0.colour = ColourInformation(
        primaries: 12, transferCharacteristics: 13, matrixCoefficients: 6)
    },
    Box(testDescription: "colr of numbers that GStreamer has no name for") {
      $0.colour = ColourInformation(
        primaries: 240, transferCharacteristics: 11, matrixCoefficients: 14)
    },
    Box(testDescription: "colr with a profile") {
      $0.colour = ColourInformation(
        primaries: 9, transferCharacteristics: 18, matrixCoefficients: 9)
      $0.otherBoxes = [OpaqueBox("colr", payload: Array("prof".utf8) + [9, 8, 7])]
    },
    Box(testDescription: "no colr") { $0.colour = nil },
    Box(testDescription: "mdcv, clli, amve") {
      $0.masteringDisplay = MasteringDisplayColourVolume(
        green: .init(x: 13_250, y: 34_500), blue: .init(x: 7_500, y: 3_000),
        red: .init(x: 34_000, y: 16_000), whitePoint: .init(x: 15_635, y: 16_450),
        maximumLuminance: 10_000_000, minimumLuminance: 51)
      $0.contentLightLevel = ContentLightLevel(
        maximum: 1001, maximumFrameAverage: 403)
      $0.otherBoxes = [OpaqueBox("amve", payload: [0, 0, 1, 2, 3, 4, 5, 6])]
    },
    Box(testDescription: "fiel of two fields, chrm") {
      $0.fields = FieldInformation(fieldCount: 2, detail: 9)
      $0.chromaLocation = ChromaLocation(topField: 2, bottomField: 2)
    },
    Box(testDescription: "no fiel") { $0.fields = nil },
    Box(testDescription: "st3d, sv3d") {
      $0.stereoscopicMode = .custom
      $0.sphericalVideo = SphericalVideo(.halfEquirectangular, metadataSource: "somebody")
    },
    Box(testDescription: "no vexu, but hfov") { $0.extendedUsage = nil },
    Box(testDescription: "dvvC, uuid, and a box that nobody knows") {
      $0.configuration.append(OpaqueBox("dvvC", payload: Array(0..<24)))
      $0.otherBoxes = [
        OpaqueBox("uuid", payload: Array(1..<30)), OpaqueBox("zzzz", payload: [1]),
      ]
    },
  ]

  /// A movie of one video track, with another sample entry.
  private func movie(
    layered: Bool, container: MovieContainer, _ change: (inout VisualSampleEntry) throws -> Void
  ) async throws -> String {
    let (plain, path) = (folder.path("plain.mov"), folder.path("changed.mov"))
    if layered {
      try await OwnMovie.make(plain, frames: 4)
    } else {
      try await play(
        "videotestsrc num-buffers=3 ! video/x-raw,width=128,height=64,framerate=30/1 ! "
          + "x265enc speed-preset=ultrafast ! m.video_0 mvhevcmux name=m ! "
          + "filesink location=\(plain)")
    }
    try MovieFile(plain).rebuildVideo(at: path, container: container, entry: change)
    return path
  }

  private func remux(
    _ path: String, container: MovieContainer = .quickTime, between: String = "", mux: String = ""
  ) async throws -> MovieFile {
    let copy = folder.path("copy.mov")
    try await play(
      "filesrc location=\(path) ! mvhevcdemux name=d d.video_0 ! queue ! \(between) m.video_0 "
        + "mvhevcmux name=m container=\(container == .mp4 ? "mp4" : "mov") \(mux) ! "
        + "filesink location=\(copy)")
    return try MovieFile(copy)
  }

  @Test(
    "every box of a sample entry is kept", arguments: boxes, MovieContainer.allCases)
  func everyBox(box: Box, container: MovieContainer) async throws {
    // Without layers, nothing is added that makes a movie spatial.
    let isLayered = box.testDescription != "no vexu, but hfov"
    let path = try await movie(layered: isLayered, container: container) {
      $0.horizontalFieldOfView = HorizontalFieldOfView(thousandthsOfDegree: 71_593)
      try box.add(&$0)
    }
    let (old, new) = (try MovieFile(path), try await remux(path, container: container))
    #expect(try new.videoEntry() == old.videoEntry())
    #expect(try new.video().size == old.video().size)
    #expect(new.content(of: try new.video()) == old.content(of: try old.video()))
  }

  /// The movies that are taken apart and put together again.
  enum Source: CustomTestStringConvertible, Sendable {
    case own
    case largeSamples
    case foreign(String)

    var testDescription: String { "\(self)" }

    static let all = [own, largeSamples] + ForeignMovies.names.map { foreign($0) }
  }

  private func open(_ source: Source, audio: Bool) async throws -> String {
    let path = folder.path("movie.mov")
    switch source {
    case .own:
      try await OwnMovie.make(
        path, mux: "hero-eye=left baseline=19.24 horizontal-field-of-view=71.5", audio: audio)
      return path
    case .largeSamples:
      let caps = "video/x-raw,width=960,height=540"
      try await TestMovie.make(
        path,
        ["left", "right"].map {
          "videotestsrc num-buffers=5 pattern=snow ! \(caps),multiview-mode=\($0) ! mux.\($0) "
        }.joined()
          + "mvhevcmux name=mux speed-preset=ultrafast key-int-max=2 option-string=lossless=1")
      #expect(try MovieFile(path).video().allSamples.filter { $0.size > 1 << 20 }.count > 1)
      return path
    case .foreign(let name): return ForeignMovies.path(name)
    }
  }

  @Test(
    "samples, times and the boxes that describe them are the same, samples kept or released",
    arguments: Source.all, ["queue ! ", ""].sampled(1))
  func whole(source: Source, queue: String) async throws {
    // Without a queue, one thread would have to bring both streams at once.
    let (path, copy) = (
      try await open(source, audio: !queue.isEmpty), folder.path("copy.mov")
    )
    let old = try MovieFile(path)
    let hasAudio = !old.tracks("soun").isEmpty
    try await play(
      "filesrc location=\(path) ! mvhevcdemux name=d d.video_0 ! \(queue) m.video_0 "
        + (hasAudio ? "d.audio_0 ! queue ! m.audio_0 " : "")
        + "mvhevcmux name=m ! filesink location=\(copy)")
    let new = try MovieFile(copy)
    #expect(new.movie.tracks.count == (hasAudio ? 2 : 1))
    for handler in ["vide", "soun"] as [FourCC] {
      for (one, two) in zip(old.tracks(handler), new.tracks(handler)) {
        let isSame = old.content(of: one) == new.content(of: two)
        #expect(isSame, "\(handler)")
      }
    }
    var (one, two) = (try old.videoEntry(), try new.videoEntry())
    #expect(one.hvcC == two.hvcC && one.lhvC == two.lhvC)
    #expect(one.extendedUsage?.payload == two.extendedUsage?.payload)
    let times = (
      try old.video().presentationTimes, try new.video().presentationTimes
    )
    #expect(times.0.count == times.1.count)
    guard case .foreign = source else {
      #expect(one == two)
      #expect(times.0 == times.1)
      return
    }
    // A name for people, which goes with the container.
    (one.compressorName, two.compressorName) = ("", "")
    // QuickTime's `nclc`, which the copy has, cannot say that the range is the usual one.
    let ranges = (one.colour?.fullRange ?? false, two.colour?.fullRange ?? false)
    one.colour?.fullRange = ranges.0
    two.colour?.fullRange = ranges.1
    #expect(one == two)
    for (a, b) in zip(times.0, times.1) { #expect(max(a, b) - min(a, b) < 100_000) }
  }

  @Test("unknown content of a foreign vexu is kept, whatever else is changed")
  func unknownExtendedUsage() async throws {
    let path = folder.path("movie.mov")
    let (changed, copy) = (folder.path("changed.mov"), folder.path("copy.mov"))
    try await OwnMovie.make(path, frames: 4, mux: "baseline=19.24")
    let usage = try #require(try MovieFile(path).videoEntry().extendedUsage)
    let unknown = OpaqueBox("must", payload: [1, 2, 3, 4])
    let payload = unknown.bytes + usage.payload
    for field in [nil, HorizontalFieldOfView(thousandthsOfDegree: 71_590)] {
      try MovieFile(path).rebuildVideo(at: changed) {
        $0.extendedUsage = try VideoExtendedUsage(payload: payload)
        $0.horizontalFieldOfView = field
      }
      let remux = { (mux: String) in
        _ = try await play(
          "filesrc location=\(changed) ! mvhevcdemux name=d d.video_0 ! queue ! m.video_0 "
            + "mvhevcmux name=m \(mux) ! filesink location=\(copy)")
      }
      try await remux("")
      #expect(try MovieFile(copy).videoEntry().extendedUsage?.payload == payload)
      #expect(try MovieFile(copy).videoEntry().horizontalFieldOfView == field)
      try await remux("baseline=64")
      let edited = try #require(try MovieFile(copy).videoEntry().extendedUsage)
      #expect(edited.baseline?.millimetres == 64)
      #expect(OpaqueBox.all(in: edited.payload).contains(unknown))
    }
  }

  @Test(
    "st3d stays alone, or gets a vexu if there is more to describe",
    arguments: [StereoscopicMode.leftRight, .rightLeft, .topBottom, .monoscopic])
  func stereoscopicMode(mode: StereoscopicMode) async throws {
    let path = try await movie(layered: false, container: .mp4) {
      $0.stereoscopicMode = mode
      $0.sphericalVideo = SphericalVideo(.halfEquirectangular, metadataSource: "somebody")
    }
    let (old, new) = (try MovieFile(path), try await remux(path))
    var expected = try old.videoEntry()
    // QuickTime's form of colr says nothing of the range.
    expected.colour?.fullRange = nil
    #expect(try new.videoEntry() == expected)
    guard mode != .monoscopic else { return }
    let entry = try await remux(path, mux: "baseline=64").videoEntry()
    #expect(entry.stereoscopicMode == mode)
    #expect(entry.extendedUsage?.packing == mode.packing)
    #expect(entry.extendedUsage?.baseline?.millimetres == 64)
    #expect(entry.extendedUsage?.projectionKind == nil)
  }

  @Test("caps that are corrected on the way win over the boxes")
  func correctedCaps() async throws {
    let path = try await movie(layered: false, container: .mp4) {
      $0.stereoscopicMode = .leftRight
      $0.colour = ColourInformation(
        primaries: 1, transferCharacteristics: 1, matrixCoefficients: 1)
      $0.pixelAspectRatio = PixelAspectRatio(horizontalSpacing: 2, verticalSpacing: 1)
      $0.contentLightLevel = ContentLightLevel(
        maximum: 1001, maximumFrameAverage: 403)
    }
    let entry = try await remux(
      path,
      between: "capssetter caps=\"video/x-h265,multiview-mode=top-bottom,colorimetry=bt2100-pq,"
        + "pixel-aspect-ratio=1/1\" ! "
    ).videoEntry()
    #expect(entry.packing == PackingLayout(.topBottom))
    #expect(entry.stereoscopicMode == .topBottom)
    #expect(entry.colour?.transferCharacteristics == 16)
    #expect(entry.pixelAspectRatio?.horizontalSpacing == 1)
    #expect(entry.contentLightLevel?.maximum == 1001)
  }

  @Test("each of two tracks keeps the description of its eyes")
  func twoTracks() async throws {
    let path = folder.path("two.mov")
    try await play(
      "videotestsrc num-buffers=3 ! video/x-raw,width=128,height=64 ! x265enc ! h265parse ! "
        + "video/x-h265,stream-format=hvc1 ! tee name=t "
        + [("side-by-side", 60), ("top-bottom", 90)].enumerated().map { index, track in
          "t. ! queue ! capssetter caps=video/x-h265,multiview-mode=\(track.0) ! "
            + "stereotagger baseline=\(track.1) ! m.video_\(index) "
        }.joined() + "mvhevcmux name=m ! filesink location=\(path)")
    let copy = folder.path("copy.mov")
    try await play(
      "filesrc location=\(path) ! mvhevcdemux name=d d.video_0 ! queue ! m.video_0 "
        + "d.video_1 ! queue ! m.video_1 mvhevcmux name=m ! filesink location=\(copy)")
    for file in [try MovieFile(path), try MovieFile(copy)] {
      let usages = file.tracks("vide").map { track -> VideoExtendedUsage? in
        if case .video(let entry)? = track.sampleEntries.first { entry.extendedUsage } else { nil }
      }
      #expect(usages.map { $0?.baseline?.millimetres } == [60, 90])
      #expect(usages.map { $0?.packing?.arrangement } == [.sideBySide, .topBottom])
    }
  }
}
