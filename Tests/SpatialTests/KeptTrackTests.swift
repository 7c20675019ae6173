// SPDX-License-Identifier: MPL-2.0

import Foundation
import ISOBMFF
import StereoVideo
import TestElements
import TestKit
import Testing

/// What the tracks of other makers' movies say of themselves, through `mvhevcdemux` and
/// `mvhevcmux`.
struct KeptTrackTests {
  private let folder: TemporaryFolder
  private let path: String
  private let copy: String

  init() throws {
    folder = try TemporaryFolder()
    (path, copy) = (folder.path("movie.mp4"), folder.path("copy.mp4"))
    try BuiltPlugin.require()
  }

  // MARK: Tracks

  private static func video(
    _ name: String? = nil, _ change: (inout VisualSampleEntry) -> Void = { _ in }
  ) -> TrackDescription {
    let avcC: [UInt8] = [1, 66, 0xC0, 10, 0xFF, 0xE1, 0, 4, 0x67, 66, 0xC0, 10, 1, 0, 2, 0x68, 1]
    var entry = VisualSampleEntry(width: 64, height: 48, avcC: avcC)
    change(&entry)
    var track = TrackDescription(.video(entry), timescale: 30_000)
    track.handlerName = name
    return track
  }

  private static func audio(
    _ coding: AudioCoding, rate: UInt32, channels: UInt32, _ boxes: [OpaqueBox], _ name: String
  ) -> TrackDescription {
    var entry = AudioSampleEntry(
      coding: coding, channelCount: channels, sampleRate: rate, framesPerSample: 0)
    entry.otherBoxes = boxes
    var track = TrackDescription(.audio(entry), timescale: 48_000)
    track.handlerName = name
    return track
  }

  /// A track with a sample for each tenth of a second.
  private static func filled(
    _ description: TrackDescription, count: Int = 10
  ) -> HandmadeMovie.Track {
    var track = HandmadeMovie.Track(description)
    for index in 0..<count {
      track.add(
        [UInt8](repeating: UInt8(index), count: 20), at: Int64(index * 3000), duration: 3000)
    }
    return track
  }

  private func remuxed(
    _ tracks: [HandmadeMovie.Track], _ change: (inout [UInt8]) throws -> Void = { _ in }
  ) async throws -> (old: Movie, new: Movie) {
    var movie = HandmadeMovie(tracks)
    movie.container = .mp4
    var bytes = try movie.bytes()
    try change(&bytes)
    try Data(bytes).write(to: URL(filePath: path))
    var counts: [String: Int] = [:]
    let pads = tracks.map { track in
      let kind =
        switch track.description.sampleEntry {
        case .video: "video"
        case .audio: "audio"
        case .other: "meta"
        }
      defer { counts[kind, default: 0] += 1 }
      return "\(kind)_\(counts[kind] ?? 0)"
    }
    try await play(
      "filesrc location=\(path) ! mvhevcdemux name=d "
        + pads.map { "d.\($0) ! queue ! m.\($0) " }.joined()
        + "mvhevcmux name=m container=mp4 ! filesink location=\(copy)")
    return (try MovieFile(path).movie, try MovieFile(copy).movie)
  }

  @Test("boxes of entries, names of handlers, and entries without their usual fields are kept")
  func entries() async throws {
    let ambisonics = OpaqueBox("SA3D", payload: [0, 0, 0, 0, 0, 1, 0, 0, 0, 4, 1, 2, 3, 4])
    let layout = OpaqueBox(
      "chan", payload: [0, 0, 0, 0, 0, 0x79, 0, 6] + [UInt8](repeating: 0, count: 8))
    let text = Array("application/motion\u{0}".utf8)
    let (old, new) = try await remuxed([
      Self.filled(
        Self.video("GoPro AVC") {
          $0.pixelAspectRatio = PixelAspectRatio(horizontalSpacing: 1, verticalSpacing: 1)
          $0.otherBoxes = [OpaqueBox("abcd", payload: [1, 2, 3])]
        }),
      Self.filled(
        Self.audio(
          .aac(audioSpecificConfig: [0x11, 0xA0]), rate: 48_000, channels: 4, [ambisonics],
          "DJI sound")),
      Self.filled(
        Self.audio(.mp3, rate: 48_000, channels: 2, [layout], "Core Media Audio")),
      // What IAMF demands.
      Self.filled(
        Self.audio(
          .other("iamf"), rate: 0, channels: 0, [OpaqueBox("iacb", payload: [1, 0])], "IAMF")),
      // As Android's muxer writes it.
      Self.filled(
        TrackDescription(
          .other(OtherSampleEntry(handlerType: "meta", type: "mett", content: text)),
          timescale: 30_000)),
    ])
    #expect(new.tracks.count == 5)
    for (one, two) in zip(old.tracks, new.tracks) {
      #expect(two.sampleEntries == one.sampleEntries, "\(one.handlerType)")
      #expect(two.handlerName == one.handlerName)
    }
    guard case .other(let entry)? = new.tracks.last?.sampleEntries.first else { return }
    #expect(entry.content == text)
  }

  @Test("a name after its length, as some cameras write it in MP4, is the name")
  func lengthBeforeName() async throws {
    let (old, new) = try await remuxed([Self.filled(Self.video("\u{9}GoPro AVC"))])
    #expect(old.tracks.first?.handlerName == "GoPro AVC")
    #expect(new.tracks.first?.handlerName == "GoPro AVC")
  }

  /// A matrix of the movie: its elements a, b, c and d, and what they do.
  struct Matrix: CustomTestStringConvertible {
    let elements: [Int32]
    let rotation: Int
    let shape: PixelAspectRatio?

    var testDescription: String { "\(elements)" }
  }

  private static let one: Int32 = 0x1_0000
  private static let matrices = [
    Matrix(elements: [one, 0, 0, one], rotation: 0, shape: nil),
    Matrix(
      elements: [2 * one, 0, 0, one], rotation: 0,
      shape: PixelAspectRatio(horizontalSpacing: 2, verticalSpacing: 1)),
    Matrix(elements: [2 * one, 0, 0, 2 * one], rotation: 0, shape: nil),
    Matrix(elements: [-one, 0, 0, -one], rotation: 180, shape: nil),
    Matrix(
      elements: [0, one, -2 * one, 0], rotation: 90,
      shape: PixelAspectRatio(horizontalSpacing: 1, verticalSpacing: 2)),
    // A picture without height is left as it is.
    Matrix(elements: [one, 0, 0, 0], rotation: 0, shape: nil),
    Matrix(elements: [.max, 0, 0, .min], rotation: 0, shape: nil),
  ]

  @Test("the matrix of the whole movie turns and stretches its pictures", arguments: matrices)
  func matrix(_ matrix: Matrix) async throws {
    let (old, new) = try await remuxed([Self.filled(Self.video())]) { bytes in
      let start = try #require(bytes.firstRange(of: Array("mvhd".utf8))).lowerBound + 40
      for (element, place) in zip(matrix.elements, [0, 4, 12, 16]) {
        withUnsafeBytes(of: element.bigEndian) {
          bytes.replaceSubrange(start + place..<start + place + 4, with: $0)
        }
      }
    }
    for track in [old.tracks.first, new.tracks.first] {
      let track = try #require(track)
      guard case .video(let entry)? = track.sampleEntries.first else { continue }
      if matrix.elements.last != .min {
        #expect(track.orientation.clockwiseRotation == matrix.rotation)
        #expect(entry.pixelAspectRatio == matrix.shape)
      }
    }
    #expect(new.tracks.first?.sampleEntries == old.tracks.first?.sampleEntries)
    #expect(new.tracks.first?.orientation == old.tracks.first?.orientation)
  }

  @Test("a trim's end is kept, to the unit, within a frame or between frames")
  func end() async throws {
    for end in [Int64(24_000), 25_236, 30_000] {
      var track = Self.filled(Self.video())
      track.end = end
      let (old, new) = try await remuxed([track])
      #expect(new.tracks.first?.edits == old.tracks.first?.edits, "\(end)")
      #expect(new.duration == old.duration)
    }
  }
}
