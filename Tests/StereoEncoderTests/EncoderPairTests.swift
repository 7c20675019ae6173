// SPDX-License-Identifier: MPL-2.0

import StereoEncoder
import StereoVideo
import TestKit
import Testing

struct EncoderPairTests {
  struct Case: CustomTestStringConvertible, Sendable {
    var preset = StereoEncoderConfiguration.Preset.ultrafast
    var tune: StereoEncoderConfiguration.Tune?
    var options = ""
    var bitDepth = 8
    var rate = RateControl.quality(28)
    var keyframeDistance = 48
    var frames = 120
    var offset = 0.0
    var reorders = true

    var testDescription: String {
      "\(preset) \(tune.map { "\($0)" } ?? "") \(bitDepth) bit, \(rate), “\(options)”"
    }
  }

  static let cases: [Case] = [
    Case(frames: 320),
    Case(preset: .medium),
    Case(preset: .slow, frames: 60),
    Case(tune: .zerolatency, reorders: false),
    Case(options: "bframes=0", reorders: false),
    Case(options: "bframes=1"),
    Case(options: "bframes=8:rc-lookahead=20"),
    Case(preset: .superfast, options: "no-b-pyramid"),
    Case(bitDepth: 10),
    Case(preset: .veryfast, rate: .bitrate(kilobitsPerSecond: 300), offset: 4),
    Case(
      preset: .superfast,
      rate: .bitrate(kilobitsPerSecond: 200, buffer: .init(maximumRate: 220, size: 60))),
    Case(options: "frame-threads=4:lookahead-slices=4:slices=2"),
    Case(keyframeDistance: 1, frames: 20, reorders: false),
    Case(
      preset: .superfast, options: "bframes=4", keyframeDistance: 2, frames: 40, reorders: false),
  ].filter { X265.takes($0.options) }

  @Test(
    "both eyes have the same frame types, with the requested keyframes", .tags(.long),
    arguments: cases.sampled(6))
  func staysInStep(_ test: Case) throws {
    let scene = TestScene(width: 96, height: 64, bitDepth: test.bitDepth)
    var configuration = scene.configuration
    configuration.preset = test.preset
    configuration.tune = test.tune
    configuration.optionString = test.options
    configuration.rateControl = test.rate
    configuration.keyframeDistance = test.keyframeDistance
    configuration.dependentEyeQualityOffset = test.offset
    let pair = try EncoderPair(configuration)
    // Inside mini-GOPs, next to each other, and next to the regular keyframes.
    let forced: Set<Int> = [5, 18, 19, 59, 70, 96, 97, 103]
    var out: [EncoderPair.CodedPair] = []
    for frame in 0..<test.frames {
      // The eyes differ, so that content could pull them apart: cuts at different places.
      out += try pair.encode(
        left: scene.picture(frame: frame, eye: .left, scene: frame / 23),
        right: scene.picture(frame: frame, eye: .right, scene: frame / 31),
        timestamp: Int64(frame * 3 + frame % 2), isKeyframe: forced.contains(frame))
    }
    out += try pair.finish()
    #expect(out.count == test.frames)
    var keyframes = Set<Int>()
    for coded in out where coded.isKeyframe { keyframes.insert(Int(coded.presentation / 3)) }
    var expected = Set<Int>()
    var last = 0
    for frame in 0..<test.frames {
      if frame == 0 || forced.contains(frame) || frame - last >= test.keyframeDistance {
        expected.insert(frame)
        last = frame
      }
    }
    #expect(keyframes == expected)
    for (earlier, later) in zip(out, out.dropFirst()) {
      #expect(earlier.decoding < later.decoding)
    }
    #expect(out.allSatisfy { $0.decoding <= $0.presentation })
    let isReordered = zip(out, out.dropFirst()).contains { $0.presentation > $1.presentation }
    #expect(isReordered == test.reorders)
    for eye in Eye.allCases {
      #expect(pair.statistics(eye).frames == test.frames)
    }
  }
}
