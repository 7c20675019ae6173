// SPDX-License-Identifier: MPL-2.0

import ISOBMFF
import StereoVideo
import Testing

/// ``MatroskaVideo``: bytes as RFC 9559 draws them.
struct MatroskaVideoTests {
  /// An element with a size of eight bytes, as muxers leave room for.
  private func element(_ id: [UInt8], _ content: [UInt8]) -> [UInt8] {
    let size = UInt64(content.count) | 1 << 56
    return id + (0..<8).map { UInt8(truncatingIfNeeded: size >> (56 - 8 * $0)) } + content
  }

  private static let header: [UInt8] = [0x1A, 0x45, 0xDF, 0xA3, 0x84, 0x42, 0x86, 0x81, 0x01]
  /// A segment of unknown size, as live streams have.
  private static let segment: [UInt8] =
    [0x18, 0x53, 0x80, 0x67, 0x01] + Array(repeating: 0xFF, count: 7)

  /// A file with a track of sound, and one of video that says this.
  private func file(_ video: [UInt8]) -> [UInt8] {
    let audio = element([0xAE], element([0x83], [2]))
    let pictures = element(
      [0xAE], element([0x83], [1]) + element([0xE0], element([0xB0], [2, 0]) + video))
    return Self.header + Self.segment + element([0xEC], [0, 0, 0])
      + element([0x16, 0x54, 0xAE, 0x6B], audio + pictures) + element([0x1F, 0x43, 0xB6, 0x75], [])
  }

  private func read(_ bytes: [UInt8]) -> MatroskaVideo? {
    MatroskaVideo(fileSize: UInt64(bytes.count)) { range in
      #expect(range.upperBound <= UInt64(bytes.count))
      return Array(bytes[Int(range.lowerBound)..<min(Int(range.upperBound), bytes.count)])
    }
  }

  private func projection(_ content: [UInt8]) -> [UInt8] { element([0x76, 0x70], content) }

  @Test("the packing of each stereo mode with two eyes in a frame")
  func packing() {
    for (mode, packing) in [
      0: nil, 1: PackingLayout(.sideBySide), 2: PackingLayout(.topBottom, rightViewFirst: true),
      3: PackingLayout(.topBottom), 11: PackingLayout(.sideBySide, rightViewFirst: true),
      13: PackingLayout(.frameByFrame), 14: PackingLayout(.frameByFrame, rightViewFirst: true),
    ] as [UInt8: PackingLayout?] {
      let video = read(file(element([0x53, 0xB8], [mode])))
      #expect(video != nil && video?.packing == packing && video?.projection == nil)
    }
  }

  @Test("modes that cannot be separated have a name, and tracks of the same size are counted")
  func otherModes() {
    for (mode, words) in [
      1: nil, 4: "checkerboard", 5: "checkerboard", 6: "rows", 7: "rows", 8: "columns",
      9: "columns", 10: "anaglyph", 12: "anaglyph", 13: nil,
    ] as [UInt8: String?] {
      let named = read(file(element([0x53, 0xB8], [mode])))?.otherPacking
      #expect(words.map { named?.contains($0) == true } ?? (named == nil), "mode \(mode)")
    }
    func track(_ width: UInt8) -> [UInt8] {
      element(
        [0xAE],
        element([0x83], [1]) + element([0x86], Array("V_TEST".utf8))
          + element([0xE0], element([0xB0], [width]) + element([0xBA], [90])))
    }
    for (widths, count) in [([160], 1), ([160, 160], 2), ([160, 80], 1), ([80, 160, 80], 2)] {
      let video = read(
        Self.header + Self.segment
          + element([0x16, 0x54, 0xAE, 0x6B], widths.flatMap { track(UInt8($0)) }))
      #expect(video?.trackCount == count && video?.codec == "V_TEST")
    }
  }

  @Test("flags that GStreamer's demuxer does not forward are named with their tracks")
  func flags() {
    func track(_ type: UInt8, _ more: [UInt8]) -> [UInt8] {
      element([0xAE], element([0x83], [type]) + more)
    }
    let name = element([0x53, 0x6E], Array("Deutsch".utf8))
    let tracks =
      track(1, element([0xE0], element([0xB0], [64])) + element([0x55, 0xAA], [1]))
      + track(2, element([0x55, 0xAF], [1]) + element([0x22, 0xB5, 0x9C], Array("eng".utf8)))
      + track(17, name + element([0x55, 0xAA], [1]) + element([0x55, 0xAB], [1]))
      + track(17, name + element([0x55, 0xAA], [0]) + element([0x88], [1]))
    let video = read(Self.header + Self.segment + element([0x16, 0x54, 0xAE, 0x6B], tracks))
    #expect(
      video?.flaggedTracks == [
        "audio 'eng' (commentary)", "subtitles 'Deutsch' (forced, for the hearing impaired)",
      ])
  }

  @Test("a half sphere with a pose, as the box of MP4 says it")
  func halfSphere() throws {
    let bounds: [UInt8] = [0, 0, 0, 0] + [0, 0, 0, 0, 0, 0, 0, 0, 0x40, 0, 0, 0, 0x40, 0, 0, 0]
    let video = try #require(
      read(
        file(
          projection(
            element([0x76, 0x71], [1]) + element([0x76, 0x72], bounds)
              // 10 as a float, -2.5 as a double.
              + element([0x76, 0x73], [0x41, 0x20, 0, 0])
              + element([0x76, 0x74], [0xC0, 0x04, 0, 0, 0, 0, 0, 0])))))
    let immersive = try #require(video.immersive)
    #expect(immersive.projection.kind == .halfEquirectangular)
    #expect(immersive.pose == SphereOrientation(yaw: 10, pitch: -2.5, roll: 0))
  }

  @Test("the whole sphere, a cube and a mesh")
  func others() {
    let whole = read(file(projection(element([0x76, 0x71], [1]))))
    #expect(whole?.immersive?.projection.kind == .equirectangular)
    let cube = read(
      file(
        projection(
          element([0x76, 0x71], [2])
            + element([0x76, 0x72], Array(repeating: 0, count: 11) + [16]))))
    #expect(
      cube?.immersive?.projection == .known(.cubemap(.sphericalVideo, padding: 16)))
    #expect(read(file(projection(element([0x76, 0x71], [3]))))?.immersive?.projection == .mesh)
    #expect(read(file(projection(element([0x76, 0x71], [0]))))?.projection == nil)
  }

  @Test(
    "truncated, broken and other files give nil, and no read beyond their end"
  )
  func broken() {
    let whole = file(projection(element([0x76, 0x71], [1])))
    for end in 0..<whole.count { _ = read(Array(whole[..<end])) }
    for index in whole.indices {
      for value in [0, 0x0F, 0x7F, 0x80, 0xFF] as [UInt8] {
        var bytes = whole
        bytes[index] = value
        _ = read(bytes)
      }
    }
    #expect(read([]) == nil && read(Array(whole.dropFirst())) == nil)
    // Longer than it may be.
    var large = Self.header + Self.segment
    large += [0x16, 0x54, 0xAE, 0x6B, 0x01, 0, 0, 0, 0x7F, 0, 0, 0]
    let video = MatroskaVideo(fileSize: .max) { range in
      #expect(range.count <= 12)
      return Array(large.dropFirst(Int(range.lowerBound)).prefix(range.count))
    }
    #expect(video == nil)
    // Degrees that are none.
    let turned = read(
      file(projection(element([0x76, 0x71], [1]) + element([0x76, 0x73], [0x7F, 0xC0, 0, 0]))))
    #expect(turned?.immersive?.pose == .front)
  }
}
