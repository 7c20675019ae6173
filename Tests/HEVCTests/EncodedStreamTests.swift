// SPDX-License-Identifier: MPL-2.0

import HEVC
import StereoEncoder
import StereoTestScene
import StereoVideo
import TestKit
import Testing

/// Streams as `StereoEncoder` makes them by itself, with keyframes that are predicted from the
/// other eye.
@Suite(
  "Encoded streams",
  .enabled(if: Decoder.isAvailable, "needs Python with PyAV"))
struct EncodedStreamTests {
  typealias Configuration = StereoEncoderConfiguration

  private static let presets: [Configuration.Preset] = [
    .ultrafast, .superfast, .veryfast, .faster, .fast, .medium, .slow,
  ]

  @Test(
    "both eyes are flattened in a conforming order, for the references of each preset",
    .tags(.judge),
    arguments: presets.sampled(3))
  func strictness(_ preset: Configuration.Preset) throws {
    let units = try accessUnits(of: stream(preset, count: 75))
    let frames = try Decoder.frames(of: units.flatMap(\.bytes))
    for output in [Flattener.Output.dependentEye, .bothEyes] {
      let flat = try flattened(units, output: output)
      #expect(flat.isStrict && flat.warnings.isEmpty, "\(output): \(flat.warnings)")
      // What flattened streams are timed for, in access units.
      #expect((1...16).contains(flat.delay), "\(output): \(flat.delay)")
      let decoded = try Decoder.frames(of: flat.bytes, single: true).map(\.md5)
      let wanted = frames.filter { output == .bothEyes || $0.view == "1" }.map(\.md5)
      #expect(decoded.sorted() == wanted.sorted(), "\(output)")
    }
  }

  /// Three groups of pictures; the second begins with a requested keyframe.
  private func stream(_ preset: Configuration.Preset, count: Int) throws -> [UInt8] {
    var configuration = Configuration(width: 128, height: 96, frameRate: .init(30, 1))
    configuration.preset = preset
    configuration.keyframeDistance = 30
    configuration.optionString = "rc-lookahead=20"
    let scene = try #require(StereoTestScene(width: 128, height: 96))
    let encoder = try StereoEncoder(configuration)
    var units: [LayeredAccessUnit] = []
    for frame in 0..<count {
      units += try encoder.encode(
        left: picture(scene, .left, frame), right: picture(scene, .right, frame),
        timestamp: Int64(frame), forceKeyframe: frame == 17)
    }
    units += try encoder.finish()
    #expect(try #require(encoder.statistics(of: .right).keyframes).predicted > 0)
    return units.flatMap { $0.bytes(framing: .annexB) }
  }

  private func picture(_ scene: StereoTestScene, _ eye: Eye, _ frame: Int) throws -> Picture {
    let memory = Memory(scene.width * scene.height * 3 / 2)
    let luma = scene.width * scene.height
    let (first, second) = (luma, luma + luma / 4)
    func plane(_ range: Range<Int>, _ stride: Int) -> StereoTestScene.Plane {
      .init(bytes: UnsafeMutableRawBufferPointer(rebasing: memory.bytes[range]), stride: stride)
    }
    let planes = [
      plane(0..<first, scene.width), plane(first..<second, scene.width / 2),
      plane(second..<memory.bytes.count, scene.width / 2),
    ]
    try scene.render(
      eye: eye, frame: frame, into: .i420(luma: planes[0], cb: planes[1], cr: planes[2]))
    let read = try planes.map {
      Picture.Plane(
        address: UnsafeRawPointer(try #require($0.bytes.baseAddress)), stride: $0.stride)
    }
    return Picture(luma: read[0], cb: read[1], cr: read[2], owner: memory)
  }
}

/// The samples of one picture.
private final class Memory: @unchecked Sendable {
  let bytes: UnsafeMutableRawBufferPointer

  init(_ size: Int) { bytes = .allocate(byteCount: size, alignment: 64) }

  deinit { bytes.deallocate() }
}
