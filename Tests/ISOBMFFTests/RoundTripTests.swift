// SPDX-License-Identifier: MPL-2.0

import ISOBMFF
import StereoVideo
import Testing

/// What is written is read again.
struct RoundTripTests {
  private func read(
    _ entry: SampleEntry, _ container: MovieContainer, metadata: MovieMetadata = MovieMetadata()
  ) throws -> Movie {
    var writer = MovieWriter(container: container, metadata: metadata)
    let track = try writer.addTrack(
      TrackDescription(entry, timescale: 600, language: "deu"))
    try writer.append(SampleDescription(size: 8, decodeTime: 60, duration: 20), to: track)
    let movie = try Movie(content: Array(try writer.finish().index.dropFirst(8)))
    #expect(movie.issues.isEmpty)
    return movie
  }

  private var fullEntry: VisualSampleEntry {
    var entry = VisualSampleEntry(
      width: 1920, height: 1080, hvcC: [1, 2, 3], lhvC: [4, 5, 6])
    entry.colour = ColourInformation(
      primaries: 9, transferCharacteristics: 16, matrixCoefficients: 9)
    entry.chromaLocation = ChromaLocation(topField: 2, bottomField: 2)
    entry.pixelAspectRatio = PixelAspectRatio(horizontalSpacing: 4, verticalSpacing: 3)
    entry.cleanAperture = CleanAperture(
      widthNumerator: 1900, heightNumerator: 1000, horizontalOffsetNumerator: -3,
      horizontalOffsetDenominator: 2)
    let point = MasteringDisplayColourVolume.Chromaticity(x: 1, y: 2)
    entry.masteringDisplay = MasteringDisplayColourVolume(
      green: point, blue: point, red: point, whitePoint: point, maximumLuminance: 10_000_000,
      minimumLuminance: 50)
    entry.contentLightLevel = ContentLightLevel(maximum: 1000, maximumFrameAverage: 400)
    entry.stereoscopicMode = StereoscopicMode.leftRight
    entry.sphericalVideo = SphericalVideo(.halfEquirectangular, metadataSource: "test")
    entry.extendedUsage = VideoExtendedUsage(
      SpatialMetadata(
        heroEye: .right, baseline: Baseline(micrometres: 64_000),
        disparityAdjustment: DisparityAdjustment(tenThousandths: -300),
        projection: .halfEquirectangular),
      packing: PackingLayout(.sideBySide, rightViewFirst: true))
    entry.horizontalFieldOfView = HorizontalFieldOfView(thousandthsOfDegree: 180_000)
    entry.otherBoxes = [OpaqueBox("abcd", payload: [1, 2, 3, 4, 5])]
    return entry
  }

  @Test("every field of a video sample entry", arguments: MovieContainer.allCases)
  func video(container: MovieContainer) throws {
    let track = try #require(try read(.video(fullEntry), container).tracks.first)
    var expected = fullEntry
    expected.colour?.fullRange = container == .mp4 ? false : nil
    #expect(track.sampleEntries == [.video(expected)])
    #expect(track.timescale == 600)
    #expect(track.language == "deu")
    #expect(track.size == FixedPointSize(width: (1900 << 16) * 4 / 3, height: 1000 << 16))
    #expect(
      track.edits == [
        Edit(duration: 9000, mediaTime: nil), Edit(duration: 3000, mediaTime: 0),
      ])
  }

  @Test("hvcC is written before lhvC, in whatever order they were read")
  func configurationOrder() throws {
    var entry = fullEntry
    entry.configuration.reverse()
    let track = try #require(try read(.video(entry), .mp4).tracks.first)
    guard case .video(let found) = track.sampleEntries.first else { return }
    #expect(found.configuration.map(\.type) == ["hvcC", "lhvC"])
  }

  @Test("the projection of an sv3d box")
  func spherical() throws {
    let track = try #require(try read(.video(fullEntry), .mp4).tracks.first)
    guard case .video(let entry) = track.sampleEntries.first else { return }
    #expect(
      entry.sphericalVideo?.projection
        == .equirectangular(top: 0, bottom: 0, left: 0x4000_0000, right: 0x4000_0000))
    #expect(entry.sphericalVideo?.metadataSource == "test")
  }

  @Test("a vexu box with boxes of the future is written back byte for byte")
  func unknownChildren() throws {
    var entry = fullEntry
    let payload = try #require(entry.extendedUsage).payload
    // The same content after a `must` box, and with an unknown box.
    let must: [UInt8] = [0, 0, 0, 16, 0x6D, 0x75, 0x73, 0x74, 0, 0, 0, 0, 0x65, 0x79, 0x65, 0x73]
    let unknown: [UInt8] = [0, 0, 0, 9, 0x7A, 0x7A, 0x7A, 0x7A, 7]
    entry.extendedUsage = nil
    entry.otherBoxes = [OpaqueBox("vexu", payload: must + payload + unknown)]
    let track = try #require(try read(.video(entry), .mp4).tracks.first)
    guard case .video(let found) = track.sampleEntries.first else {
      Issue.record("not a video track")
      return
    }
    #expect(found.extendedUsage?.payload == must + payload + unknown)
    #expect(found.extendedUsage?.metadata.heroEye == .right)
    let again = try #require(try read(.video(found), .mp4).tracks.first)
    #expect(again.sampleEntries == [.video(found)])
  }

  @Test(
    "every audio coding",
    arguments: [
      .aac(audioSpecificConfig: [0x11, 0x90]), .mp3, .pcm(PCMFormat(bitsPerSample: 16)),
      .pcm(PCMFormat(bitsPerSample: 16, isBigEndian: true)),
      .pcm(PCMFormat(bitsPerSample: 24)), .pcm(PCMFormat(bitsPerSample: 32, isFloat: true)),
      .ac3(dac3: [1, 2, 3]), .eac3(dec3: [1, 2, 3, 4, 5]), .opus(dOps: Array(0..<11)),
      .flac(metadataBlocks: Array(0..<38)), .alac(magicCookie: Array(0..<24)), .other("apac"),
    ] as [AudioCoding], MovieContainer.allCases)
  func audio(coding: AudioCoding, container: MovieContainer) throws {
    var entry = AudioSampleEntry(coding: coding, channelCount: 2, sampleRate: 48_000)
    if container == .quickTime {
      entry.channelBitmap = 3
    }
    if case .aac = coding {
      entry.averageBitRate = 128_000
      entry.maximumBitRate = 256_000
    }
    if case .pcm = coding {
      entry.framesPerSample = 1
      entry.channelBitmap = 3
    }
    if case .other = coding {
      entry.channelBitmap = nil
      let chan: [UInt8] = [0, 0, 0, 0, 0, 0x65, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0]
      entry.otherBoxes = [
        OpaqueBox("dapa", payload: [9, 8, 7]), OpaqueBox("chan", payload: chan),
        OpaqueBox("btrt", payload: Array(repeating: 1, count: 12)),
      ]
    }
    let movie = try read(.audio(entry), container)
    #expect(movie.tracks.first?.sampleEntries == [.audio(entry)])
  }

  @Test("a sample rate beyond 16 bits, by the timescale", arguments: MovieContainer.allCases)
  func highRate(container: MovieContainer) throws {
    var entry = AudioSampleEntry(
      coding: .pcm(PCMFormat(bitsPerSample: 16)), channelCount: 2, sampleRate: 192_000)
    entry.framesPerSample = 1
    var writer = MovieWriter(container: container)
    let track = try writer.addTrack(TrackDescription(.audio(entry), timescale: 192_000))
    try writer.append(SampleDescription(size: 4, decodeTime: 0, duration: 1), to: track)
    let movie = try Movie(content: Array(try writer.finish().index.dropFirst(8)))
    #expect(movie.tracks.first?.sampleEntries == [.audio(entry)])
  }

  @Test("a track of another kind, and its fourcc", arguments: MovieContainer.allCases)
  func other(container: MovieContainer) throws {
    let entry = OtherSampleEntry(handlerType: "meta", type: "mebx", payload: [1, 2, 3])
    let track = try #require(try read(.other(entry), container).tracks.first)
    #expect(track.handlerType == "meta")
    #expect(track.sampleEntries == [.other(entry)])
  }

  @Test("metadata and the date", arguments: MovieContainer.allCases)
  func metadata(container: MovieContainer) throws {
    let metadata = MovieMetadata(
      creationTime: 1_700_000_000,
      items: [MetadataItem(key: "com.apple.quicktime.title", value: .utf8("Gezeiten"))]
        + MovieMetadata.spatialItems)
    let movie = try read(.video(fullEntry), container, metadata: metadata)
    #expect(movie.creationTime == 1_700_000_000 + 2_082_844_800)
    let found = Dictionary(uniqueKeysWithValues: movie.metadata.map { ($0.key, $0.value) })
    let title = container == .mp4 ? "©nam" : "com.apple.quicktime.title"
    #expect(found[title]?.string == "Gezeiten")
    #expect(found["com.apple.quicktime.spatial.format-version"]?.string == "1.0")
    #expect(found["com.apple.quicktime.spatial.aggressors-seen"]?.integer == 0)
  }

  @Test("a track's description, and further user data", arguments: MovieContainer.allCases)
  func trackMetadata(container: MovieContainer) throws {
    let (name, secret) = (
      OpaqueBox("name", payload: Array("Main".utf8)), OpaqueBox("GPMF", payload: [1, 2, 3])
    )
    let lens = MetadataItem(key: "com.apple.quicktime.camera.lens_model", value: .utf8("wide"))
    var writer = MovieWriter(
      container: container, metadata: MovieMetadata(items: [lens], userData: [secret]))
    var track = TrackDescription(.video(fullEntry), timescale: 600, language: "deu")
    track.languageTag = "de-AT"
    track.orientation = try #require(PictureOrientation(clockwiseRotation: 90))
    (track.metadata, track.userData) = ([lens], [name])
    (track.alternateGroup, track.isEnabled, track.handlerName) = (7, false, "Camera")
    track.references = [TrackReference(type: "cdsc", track: TrackID(rawValue: 1))]
    let id = try writer.addTrack(track)
    try writer.append(SampleDescription(size: 4, decodeTime: 0, duration: 1), to: id)
    let movie = try Movie(content: Array(try writer.finish().index.dropFirst(8)))
    #expect(movie.issues.isEmpty)
    #expect(movie.metadata == [lens])
    #expect(movie.userData == [secret])
    let copy = try #require(movie.tracks.first)
    // Of the entry there are tests of its own.
    track.sampleEntry = copy.description.sampleEntry
    #expect(copy.description == track)
    #expect(copy.language == "de-AT")
  }
}
