// SPDX-License-Identifier: MPL-2.0

import GStreamer
import GStreamerCheck
import StereoVideo
import TestElements
import TestKit
import Testing

/// The property `fill-color` of `sphericalview` and `sphericalconvert`.
struct SphericalFillColorTests {
  init() throws {
    try BuiltPlugin.require()
  }

  /// An element that draws from fisheye pictures of 180 degrees.
  private struct Drawing {
    let harness: Harness
    let input: VideoInfo
  }

  private func begin(
    _ element: String, _ format: String, _ properties: [String: String]
  ) throws -> Drawing {
    let harness = try #require(Harness(element))
    harness.element.set("projection", "fisheye")
    harness.element.set("n-threads", "1")
    for (name, value) in properties { harness.element.set(name, value) }
    harness.setSinkCaps("video/x-raw,width=64,height=32")
    harness.play()
    let caps = "video/x-raw,format=\(format),width=64,height=64,framerate=25/1"
    harness.setSourceCaps(caps)
    return Drawing(
      harness: harness, input: try #require(Caps(parsing: caps).flatMap { VideoInfo($0) }))
  }

  /// What is drawn of a picture whose bytes are all 99.
  private func draw(_ drawing: Drawing) throws -> Picture {
    let buffer = Buffer([UInt8](repeating: 99, count: drawing.input.size))
    buffer.pts = 0
    return try picture(of: buffer, through: drawing.harness)
  }

  private func picture(of buffer: Buffer, through harness: Harness) throws -> Picture {
    #expect(harness.push(buffer) == .ok)
    let bytes = try #require(harness.pull()).bytes
    return Picture(bytes: bytes, info: try #require(harness.sourceCaps.flatMap { VideoInfo($0) }))
  }

  private func color(_ drawing: Drawing) -> UInt32? {
    guard case .uint(let color) = drawing.harness.element.get("fill-color") else { return nil }
    return color
  }

  private struct Picture {
    let bytes: [UInt8]
    let info: VideoInfo

    /// The bytes of one sample, or of those that share its place, in each plane.
    func samples(x: Int, y: Int) -> [[UInt8]] {
      (0..<info.planeCount).map { plane in
        let grid = info.sampleGrid(plane)
        let start =
          info.offsets[plane] + (y >> grid.heightShift) * info.strides[plane]
          + (x >> grid.widthShift) * grid.step
        return Array(bytes[start..<start + grid.step])
      }
    }
  }

  struct Way: Sendable, CustomTestStringConvertible {
    let format: String
    /// Of red.
    let samples: [[UInt8]]
    var testDescription: String { format }

    init(_ format: String, _ samples: [[UInt8]]) { (self.format, self.samples) = (format, samples) }
  }

  private static func low(_ value: Int) -> [UInt8] { [UInt8(value & 0xFF), UInt8(value >> 8)] }
  private static func high(_ value: Int) -> [UInt8] { low(value << 6) }

  /// By the formulas of BT.601, BT.709 and BT.2020.
  private static let ways = [
    Way("I420,colorimetry=bt709", [[63], [102], [240]]),
    Way("YV12,colorimetry=bt709", [[63], [240], [102]]),
    Way("NV12,colorimetry=bt709", [[63], [102, 240]]),
    Way("NV21,colorimetry=bt709", [[63], [240, 102]]),
    Way("Y444,colorimetry=bt601", [[81], [90], [240]]),
    Way("Y42B,colorimetry=1:4:7:1", [[76], [85], [255]]),
    Way("I420,colorimetry=1:3:5:1", [[54], [99], [255]]),
    // What says no matrix is taken as GStreamer takes pictures of that size.
    Way("I420,colorimetry=2:0:0:0", [[81], [90], [240]]),
    Way("I420_10LE,colorimetry=bt709", [low(250), low(409), low(960)]),
    Way("I420_10LE,colorimetry=bt2020", [low(294), low(387), low(960)]),
    Way("I420_10LE,colorimetry=1:3:5:1", [low(217), low(395), low(1023)]),
    Way("P010_10LE,colorimetry=bt709", [high(250), high(409) + high(960)]),
    Way("GRAY8,colorimetry=1:4:0:0", [[76]]),
    Way("BGRx,colorimetry=sRGB", [[0, 0, 255, 0]]),
    Way("BGRx,colorimetry=2:1:7:1", [[16, 16, 235, 0]]),
    Way("ARGB,colorimetry=sRGB", [[255, 255, 0, 0]]),
  ]

  @Test("the colour is that of the frames' matrix and range, of 8 and of 10 bits", arguments: ways)
  func colour(way: Way) throws {
    // Opposite the half of the sphere that the input shows, and outside the input's view.
    for (element, properties) in [
      ("sphericalconvert", ["output-projection": "equirectangular"]),
      ("sphericalview", ["yaw": "180"]),
    ] {
      // The alpha is ignored.
      for colour in ["0xffff0000", "0x00ff0000"] {
        let drawing = try begin(
          element, way.format, properties.merging(["fill-color": colour]) { one, _ in one })
        let samples = try draw(drawing).samples(x: 0, y: 16)
        #expect(samples == way.samples, "\(element) \(colour)")
      }
    }
  }

  @Test("unless it is set, black is drawn, and opaque")
  func black() throws {
    for (format, samples) in [
      ("I420,colorimetry=bt709", [[16], [128], [128]]),
      ("I420,colorimetry=1:3:5:1", [[0], [128], [128]]),
      ("I420_10LE,colorimetry=bt709", [Self.low(64), Self.low(512), Self.low(512)]),
      ("RGBA,colorimetry=sRGB", [[0, 0, 0, 255]]),
    ] as [(String, [[UInt8]])] {
      let drawing = try begin("sphericalconvert", format, [:])
      #expect(try draw(drawing).samples(x: 0, y: 16) == samples, "\(format)")
      #expect(color(drawing) == 0xFF00_0000)
    }
  }

  @Test("GStreamer's own converter gives the same colour")
  func judge() throws {
    for format in ["I420", "I420_10LE"] {
      for colorimetry in ["bt601", "bt709", "bt2020", "1:4:7:1"] {
        let said = "\(format),colorimetry=\(colorimetry)"
        let drawing = try begin("sphericalconvert", said, ["fill-color": "0xff3070c0"])
        let drawn = try draw(drawing).samples(x: 0, y: 16)
        let converter = try #require(Harness("videoconvert"))
        converter.element.set("dither", "none")
        converter.setSinkCaps("video/x-raw,format=\(said)")
        converter.play()
        // Of the same primaries and transfer, so that the matrix alone is applied.
        converter.setSourceCaps("video/x-raw,format=BGRx,width=64,height=32,framerate=25/1")
        let pixels = (0..<64 * 32).flatMap { _ in [0xC0, 0x70, 0x30, 0] as [UInt8] }
        let expected = try picture(of: Buffer(pixels), through: converter).samples(x: 0, y: 16)
        for (one, other) in zip(drawn, expected) {
          func value(_ bytes: [UInt8]) -> Int { bytes.reversed().reduce(0) { $0 << 8 | Int($1) } }
          // It starts from eight bits, and takes them to ten by copying the upper two.
          #expect(abs(value(one) - value(other)) <= (one.count == 1 ? 1 : 3), "\(said)")
        }
      }
    }
  }

  @Test("a change takes effect with the next frame, and only outside the input's picture")
  func change() throws {
    let drawing = try begin("sphericalconvert", "I420,colorimetry=bt709", [:])
    var seen: [[[UInt8]]] = []
    for colour in ["0xff000000", "0xff000000", "0xffffffff", "0xffff0000", "0xff000000"] {
      drawing.harness.element.set("fill-color", colour)
      let drawn = try draw(drawing)
      seen.append(drawn.samples(x: 0, y: 16))
      #expect(drawn.samples(x: 32, y: 16) == [[99], [99], [99]])
    }
    let black: [[UInt8]] = [[16], [128], [128]]
    #expect(seen == [black, black, [[235], [128], [128]], [[63], [102], [240]], black])
  }

  @Test("text that is no colour is black to GStreamer, without an error")
  func noColour() throws {
    let drawing = try begin("sphericalview", "I420,colorimetry=bt709", ["yaw": "180"])
    for value in ["0x100000000", "99999999999999999999", "nan", "red", "", "-"] {
      drawing.harness.element.set("fill-color", value)
      #expect(try draw(drawing).samples(x: 32, y: 16) == [[16], [128], [128]], "\(value)")
    }
  }
}
