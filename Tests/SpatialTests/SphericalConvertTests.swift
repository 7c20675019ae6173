// SPDX-License-Identifier: MPL-2.0

import Foundation
import GStreamer
import GStreamerCheck
import StereoVideo
import TestElements
import TestKit
import Testing

/// `sphericalconvert`: what it draws, its sizes, and what it says of the output.
struct SphericalConvertTests {
  private static let whole = "video/x-raw,format=GRAY8,width=512,height=256,framerate=25/1"

  init() throws {
    try BuiltPlugin.require()
  }

  private func begin(
    _ caps: String, _ properties: [String: String], size: String? = nil
  ) throws -> Harness {
    let harness = try #require(Harness("sphericalconvert"))
    for (name, value) in properties { harness.element.offer(name, value) }
    if let size { harness.setSinkCaps("video/x-raw,\(size)") }
    harness.play()
    harness.setSourceCaps(caps)
    return harness
  }

  private func draw(_ harness: Harness, _ bytes: [UInt8]) throws -> [UInt8] {
    let buffer = Buffer(bytes)
    buffer.pts = 0
    #expect(harness.push(buffer) == .ok)
    return try #require(harness.pull()).bytes
  }

  private func size(_ harness: Harness) -> [Int?] {
    let caps = harness.sourceCaps?.first
    return [caps?.int("width"), caps?.int("height")]
  }

  /// A picture without edges, on the sphere too, so that what is sampled twice stays what it was.
  private func smooth(_ width: Int, _ height: Int) -> [UInt8] {
    (0..<height).flatMap { y in
      (0..<width).map { x in
        let longitude = (Double(x) + 0.5) / Double(width) * 2 * Double.pi
        let latitude = ((Double(y) + 0.5) / Double(height) - 0.5) * Double.pi
        let wave = 40 * sin(3 * longitude) * cos(latitude) * cos(latitude)
        return UInt8(120 + wave + 50 * sin(2 * latitude))
      }
    }
  }

  /// In decibels, of 8 bits.
  private func quality(_ one: [UInt8], _ other: [UInt8], where isCounted: (Int) -> Bool) -> Double {
    var (sum, count) = (0, 0)
    for index in one.indices where isCounted(index) {
      let difference = Int(one[index]) - Int(other[index])
      (sum, count) = (sum + difference * difference, count + 1)
    }
    guard count > 0, one.count == other.count else { return 0 }
    return 10 * log10(255 * 255 * Double(count) / max(Double(sum), 0.01))
  }

  // MARK: Pictures

  static let ways: [(String, Double)] = [
    ("half-equirectangular", 90), ("fisheye", 88), ("cubemap", 180), ("equi-angular-cubemap", 180),
  ]

  @Test("there and back, the picture is the same", arguments: ways)
  func roundTrip(way: (projection: String, degrees: Double)) throws {
    let picture = smooth(512, 256)
    let there = try begin(
      Self.whole, ["projection": "equirectangular", "output-projection": way.projection])
    let drawn = try draw(there, picture)
    let caps = try #require(there.sourceCaps)
    let back = try begin(
      caps.description, ["projection": way.projection], size: "width=512,height=256")
    let again = try draw(back, drawn)
    let inside = quality(picture, again) { index in
      // Both the longitude and the angle from the axis, for a fisheye has a circle.
      let longitude = (Double(index % 512) + 0.5) / 512 * 360 - 180
      let latitude = ((Double(index / 512) + 0.5) / 256 - 0.5) * .pi
      let axis = acos(cos(latitude) * cos(longitude * .pi / 180)) * 180 / .pi
      return abs(longitude) < way.degrees && axis < way.degrees
    }
    #expect(inside > 46, "\(inside) dB")
    // What the projection does not reach is black.
    #expect((again[128 * 512 + 4] == 0) == (way.degrees < 180))
  }

  @Test("by default, the output has as many pixels per degree as the input")
  func ownSize() throws {
    for (projection, size) in [
      ("equirectangular", [512, 256]), ("half-equirectangular", [256, 256]),
      ("fisheye", [256, 256]), ("cubemap", [384, 256]), ("equi-angular-cubemap", [388, 264]),
    ] {
      let harness = try begin(
        Self.whole, ["projection": "equirectangular", "output-projection": projection])
      _ = try draw(harness, smooth(512, 256))
      #expect(self.size(harness) == size, "\(projection)")
      #expect(
        harness.sourceCaps?.first?.fraction("pixel-aspect-ratio") ?? Fraction(1, 1)
          == Fraction(1, 1))
    }
  }

  @Test("both eyes stay apart, as they are packed, or one comes alone")
  func eyes() throws {
    for (mode, isBeside) in [("side-by-side", true), ("top-bottom", false)] {
      let packed =
        Self.whole
        + ",multiview-mode=\(mode),multiview-flags=(GstVideoMultiviewFlagsSet)0:ffffffff"
      let frame = (0..<256).flatMap { y in
        (0..<512).map { x -> UInt8 in (isBeside ? x < 256 : y < 128) ? 50 : 200 }
      }
      for eye in ["both", "left", "right"] {
        let harness = try begin(
          packed,
          [
            "projection": "equirectangular", "output-projection": "half-equirectangular",
            "output-eyes": eye,
          ], size: "width=128,height=128")
        let drawn = try draw(harness, frame)
        for index in drawn.indices {
          let isFirst = isBeside ? index % 128 < 64 : index / 128 < 64
          let expected: UInt8 = eye == "both" ? (isFirst ? 50 : 200) : eye == "left" ? 50 : 200
          guard drawn[index] != expected else { continue }
          Issue.record("\(mode) \(eye) \(index): \(drawn[index])")
          return
        }
        let caps = harness.sourceCaps?.first
        #expect(caps?.string("multiview-mode") == (eye == "both" ? mode : eye))
      }
    }
  }

  // MARK: Tags

  private func tags(_ harness: Harness) -> TagList? {
    var last: TagList?
    while let event = harness.tryPullEvent() { last = event.tags ?? last }
    return last
  }

  @Test("the projection comes from the tags, and the output's is in its tags")
  func tagged() throws {
    let harness = try begin(
      Self.whole, ["output-projection": "fisheye", "output-fisheye-field-of-view": "200"])
    let said = TagList()
    said.set("stereo-projection", .string("equirectangular"))
    said.set("stereo-horizontal-field-of-view", .double(360))
    said.set("stereo-baseline", .double(64))
    said.set("spherical-pose", .string("10, 0, 0"))
    #expect(harness.push(.tags(said)))
    _ = try draw(harness, smooth(512, 256))
    let tags = try #require(self.tags(harness))
    #expect(tags.string("stereo-projection") == "fisheye")
    #expect(tags.double("stereo-horizontal-field-of-view") == 200)
    #expect(tags.double("spherical-fisheye-field-of-view") == 200)
    #expect(tags.double("stereo-baseline") == 64)
    #expect(tags.string("spherical-pose") == nil)
  }

  @Test("without tags at the input, the output has them")
  func untagged() throws {
    for (projection, degrees) in [
      ("equirectangular", 360.0), ("half-equirectangular", 180), ("fisheye", 180),
      ("cubemap", 360), ("equi-angular-cubemap", 360),
    ] {
      let harness = try begin(
        Self.whole, ["projection": "equirectangular", "output-projection": projection])
      _ = try draw(harness, smooth(512, 256))
      let tags = try #require(self.tags(harness))
      #expect(tags.string("stereo-projection") == projection)
      #expect(tags.double("stereo-horizontal-field-of-view") == degrees)
    }
  }

  @Test("one converter understands another's tags", arguments: ways)
  func chain(way: (projection: String, degrees: Double)) async throws {
    try await play(
      "videotestsrc num-buffers=2 ! video/x-raw,format=I420,width=256,height=128 ! "
        + "sphericalconvert projection=equirectangular output-projection=\(way.projection) "
        + "output-fisheye-field-of-view=220 ! sphericalconvert ! "
        + "video/x-raw,width=[250,264],height=[124,132] ! fakesink")
  }

  @Test("a pose turns the picture upright: its yaw counts counter-clockwise")
  func pose() throws {
    let picture = smooth(512, 256)
    let turned = try begin(Self.whole, ["projection": "equirectangular"])
    let said = TagList()
    said.set("spherical-pose", .string("90,0,0"))
    #expect(turned.push(.tags(said)))
    let drawn = try draw(turned, picture)
    // A quarter of 512 columns; the picture's middle looks to the left.
    let same = quality(picture, drawn) { _ in true }
    let rolled = picture.indices.map { index in
      let (row, column) = index.quotientAndRemainder(dividingBy: 512)
      return picture[row * 512 + (column + 128) % 512]
    }
    let upright = quality(rolled, drawn) { _ in true }
    #expect(upright > 45 && same < 30, "\(upright) and \(same) dB")
    // The properties turn the look the other way.
    let looking = try begin(Self.whole, ["projection": "equirectangular", "yaw": "90"])
    #expect(try draw(looking, picture) == drawn)
  }

  @Test("bounds select the part of the sphere that the picture shows")
  func bounds() throws {
    let harness = try begin(
      "video/x-raw,format=GRAY8,width=256,height=256,framerate=25/1", [:],
      size: "width=512,height=256")
    let said = TagList()
    said.set("stereo-projection", .string("equirectangular"))
    said.set("spherical-bounds", .string("0,0,0.25,0.25"))
    #expect(harness.push(.tags(said)))
    let drawn = try draw(harness, [UInt8](repeating: 99, count: 65536))
    let row = drawn[128 * 512..<129 * 512]
    #expect(row.prefix(127).allSatisfy { $0 == 0 } && row.suffix(127).allSatisfy { $0 == 0 })
    #expect(row.dropFirst(129).prefix(254).allSatisfy { $0 == 99 })
  }

  // MARK: What comes from outside

  @Test(
    "values that are not numbers are refused or ignored",
    arguments: [
      "nan,0,0", "inf,-inf,nan", "1e308,1e308,1e308", "1e999,0,0", "1,2", "1,2,3,4", "", ",,",
      "a,b,c",
      "-1,-1,-1,-1", "0.5,0.5,0,0", "1e9,0,0,0", "0.999999999,0,0,0", "nan,nan,nan,nan",
    ])
  func oddTags(text: String) throws {
    let harness = try begin(Self.whole, ["output-projection": "cubemap", "yaw": "nan"])
    let said = TagList()
    said.set("stereo-projection", .string("equirectangular"))
    for tag in ["spherical-pose", "spherical-bounds"] { said.set(tag, .string(text)) }
    said.set("spherical-fisheye-field-of-view", .double(.nan))
    said.set("stereo-horizontal-field-of-view", .double(.infinity))
    #expect(harness.push(.tags(said)))
    let buffer = Buffer(smooth(512, 256))
    buffer.pts = 0
    // Bounds that leave less than a pixel are an error.
    _ = harness.push(buffer)
  }

  @Test("properties that are no numbers or huge do not stop the process")
  func oddProperties() throws {
    for value in ["nan", "inf", "-inf", "1e308", "-1e308", "0", "-1"] {
      for projection in ["fisheye", "half-equirectangular"] {
        let harness = try begin(
          Self.whole,
          [
            "projection": projection, "output-projection": projection, "yaw": value,
            "pitch": value, "roll": value, "fisheye-field-of-view": value,
            "output-fisheye-field-of-view": value, "n-threads": "2",
          ])
        let buffer = Buffer(smooth(512, 256))
        buffer.pts = 0
        _ = harness.push(buffer)
      }
    }
  }

  @Test("pictures of every odd size are drawn, or refused with a reason")
  func oddSizes() throws {
    for (width, height) in [(1, 1), (2, 1), (1, 300), (3, 5), (33, 17)] {
      for (projection, _) in Self.ways {
        for size in [nil, "width=1,height=1", "width=7,height=5", "width=31,height=1"] {
          let harness = try begin(
            "video/x-raw,format=GRAY8,width=\(width),height=\(height),framerate=25/1",
            ["projection": "equirectangular", "output-projection": projection], size: size)
          let stride = (width + 3) / 4 * 4
          let buffer = Buffer([UInt8](repeating: 90, count: stride * height))
          buffer.pts = 0
          let result = harness.push(buffer)
          let isCube = projection.hasSuffix("cubemap")
          #expect(result == .ok || (isCube && size != nil), "\(width) \(projection) \(size ?? "")")
        }
      }
    }
  }

  @Test("every format is drawn in every projection, on many threads")
  func formats() async throws {
    for format in [
      "I420", "YV12", "NV12", "NV21", "Y42B", "Y444", "GRAY8", "I420_10LE", "P010_10LE", "BGRx",
    ] {
      for (projection, _) in Self.ways {
        try await play(
          "videotestsrc num-buffers=3 pattern=smpte ! "
            + "video/x-raw,format=\(format),width=320,height=160 ! "
            + "sphericalconvert projection=equirectangular output-projection=\(projection) "
            + "yaw=170 pitch=-80 n-threads=3 ! "
            + "video/x-raw,format=\(format),width=177,height=118 ! fakesink")
      }
    }
  }
}
