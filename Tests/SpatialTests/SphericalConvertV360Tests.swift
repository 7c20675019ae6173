// SPDX-License-Identifier: MPL-2.0

import Foundation
import GStreamer
import GStreamerCheck
import TestElements
import TestKit
import Testing

/// What `sphericalconvert` draws, against FFmpeg's v360: ramps of 10 bits, whose values say from
/// where a pixel was taken.
struct SphericalConvertV360Tests {
  private let folder: TemporaryFolder

  init() throws {
    try BuiltPlugin.require()
    folder = try TemporaryFolder()
  }

  struct Way: Sendable, CustomTestStringConvertible {
    /// The element's properties and the sizes.
    let properties: [String: String]
    let input, output: (width: Int, height: Int)
    /// What v360 calls it.
    let filter: String
    var testDescription: String { filter }
  }

  private static func to(_ name: String, _ width: Int, _ height: Int, _ filter: String) -> Way {
    Way(
      properties: [
        "projection": "equirectangular", "output-projection": name,
        "output-fisheye-field-of-view": "200",
      ], input: (512, 256), output: (width, height), filter: "equirect:" + filter)
  }

  private static func from(_ name: String, _ width: Int, _ height: Int, _ filter: String) -> Way {
    Way(
      properties: ["projection": name, "fisheye-field-of-view": "200"], input: (width, height),
      output: (512, 256), filter: filter)
  }

  /// Layout 0 of cbmp has the cells of c3x2, up and down turned by 180 degrees.
  static let ways = [
    to("equirectangular", 512, 256, "equirect"),
    to("half-equirectangular", 256, 256, "hequirect"),
    to("fisheye", 256, 256, "fisheye:h_fov=200:v_fov=200"),
    to("cubemap", 384, 256, "c3x2:out_frot=002200"),
    to("equi-angular-cubemap", 388, 264, "eac"),
    from("half-equirectangular", 256, 256, "hequirect:equirect"),
    from("fisheye", 256, 256, "fisheye:equirect:ih_fov=200:iv_fov=200"),
    from("cubemap", 384, 256, "c3x2:equirect:in_frot=002200"),
    from("equi-angular-cubemap", 388, 264, "eac:equirect"),
  ]

  @Test(
    "pixels come from the same positions as in v360", .tags(.judge), arguments: ways.prefix(4))
  func coordinates(way: Way) throws { try expectSamePositions(way) }

  @Test(
    "so they do on the other ways", .tags(.judge, .exhaustive), arguments: ways.dropFirst(4))
  func otherCoordinates(way: Way) throws { try expectSamePositions(way) }

  private func expectSamePositions(_ way: Way) throws {
    for (yaw, pitch, roll) in [(0, 0, 0), (30, 20, 25), (-100, -50, 170)] {
      var agreeing = 0
      var counted = 0
      for isAcross in [true, false] {
        let (width, height) = way.input
        let step = 800 / Double(isAcross ? width : height)
        var luma = [UInt16](repeating: 512, count: width * height * 3 / 2)
        for index in 0..<width * height {
          luma[index] = UInt16(100 + step * Double(isAcross ? index % width : index / width))
        }
        let bytes = luma.flatMap { [UInt8($0 & 255), UInt8($0 >> 8)] }
        let ours = try drawn(bytes, way, yaw, pitch, roll)
        let theirs = try judged(bytes, way, yaw, pitch, roll)
        #expect(ours.count == theirs.count)
        for (one, other) in zip(ours, theirs) where one != 64 && one != 0 {
          // v360 scales to the outermost pixels' centres, which is up to half a pixel away.
          counted += 1
          agreeing += abs(Double(one) - Double(other)) <= 0.6 * step + 1.5 ? 1 : 0
        }
      }
      // The rest lies along seams, where values of both ends are mixed.
      let part = Double(agreeing) / Double(max(1, counted))
      #expect(part > 0.96 && counted > 30_000, "\(yaw) \(pitch) \(roll): \(part) of \(counted)")
    }
  }

  /// The luma of a frame.
  private func luma(_ bytes: [UInt8], _ way: Way) -> [UInt16] {
    (0..<min(bytes.count / 2, way.output.width * way.output.height)).map {
      UInt16(bytes[2 * $0]) | UInt16(bytes[2 * $0 + 1]) << 8
    }
  }

  private func drawn(
    _ bytes: [UInt8], _ way: Way, _ yaw: Int, _ pitch: Int, _ roll: Int
  ) throws -> [UInt16] {
    let harness = try #require(Harness("sphericalconvert"))
    for (name, value) in way.properties { harness.element.set(name, value) }
    for (name, value) in [("yaw", yaw), ("pitch", pitch), ("roll", roll)] {
      harness.element.set(name, "\(value)")
    }
    harness.element.set("antialias", "false")
    harness.setSinkCaps("video/x-raw,width=\(way.output.width),height=\(way.output.height)")
    harness.play()
    harness.setSourceCaps(
      "video/x-raw,format=I420_10LE,width=\(way.input.width),height=\(way.input.height),"
        + "framerate=25/1")
    #expect(harness.push(Buffer(bytes)) == .ok)
    return luma(try #require(harness.pull()).bytes, way)
  }

  private func judged(
    _ bytes: [UInt8], _ way: Way, _ yaw: Int, _ pitch: Int, _ roll: Int
  ) throws -> [UInt16] {
    let (input, output) = (folder.path("in"), folder.path("out"))
    try Data(bytes).write(to: URL(filePath: input))
    let ended = try Program.run([
      "ffmpeg", "-y", "-loglevel", "error", "-f", "rawvideo", "-pix_fmt", "yuv420p10le", "-s",
      "\(way.input.width)x\(way.input.height)", "-i", input, "-vf",
      "v360=\(way.filter):w=\(way.output.width):h=\(way.output.height):yaw=\(yaw):pitch=\(pitch)"
        + ":roll=\(roll):interp=line", "-f", "rawvideo", output,
    ])
    guard ended.status == 0 else { throw Failure(ended.output) }
    return luma([UInt8](try Data(contentsOf: URL(filePath: output))), way)
  }
}
