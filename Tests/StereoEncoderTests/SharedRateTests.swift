// SPDX-License-Identifier: MPL-2.0

import Foundation
import HEVC
import StereoEncoder
import StereoVideo
import TestKit
import Testing

/// One rate control for both eyes: a bitrate, a limited peak, and the QPs of the dependent eye.
struct SharedRateTests {
  struct Case: CustomTestStringConvertible, Sendable {
    var preset = StereoEncoderConfiguration.Preset.superfast
    var tune: StereoEncoderConfiguration.Tune?
    var prediction = StereoEncoderConfiguration.InterViewPrediction.none
    var bitDepth = 8
    /// In kbit/s; nil for a quality of 16 with the same limits.
    var rate: Int? = 150
    var peak = 225
    /// In kbit.
    var buffer = 225
    var keyframeDistance = 30
    var offset = 0.0
    var options = ""
    var baseEye = Eye.left
    var seconds = 20

    var testDescription: String {
      "\(preset) \(tune.map { "\($0)" } ?? "") \(bitDepth) bit, \(rate ?? 0) of \(peak) kbit/s, "
        + "buffer \(buffer), GOP \(keyframeDistance), prediction \(prediction), "
        + "offset \(offset) “\(options)”"
    }

    var scene: TestScene { TestScene(width: 96, height: 64, bitDepth: bitDepth) }

    var configuration: StereoEncoderConfiguration {
      var configuration = scene.configuration
      configuration.preset = preset
      configuration.tune = tune
      configuration.interViewPrediction = prediction
      configuration.keyframeDistance = keyframeDistance
      configuration.dependentEyeQualityOffset = offset
      configuration.optionString = options
      configuration.baseEye = baseEye
      let limits = RateControl.VideoBuffer(maximumRate: peak, size: buffer)
      configuration.rateControl =
        rate.map { .bitrate(kilobitsPerSecond: $0, buffer: limits) }
        ?? .quality(16, buffer: limits)
      return configuration
    }
  }

  static let cases = [
    Case(),
    Case(preset: .ultrafast, bitDepth: 10, rate: 100, keyframeDistance: 60),
    Case(offset: 4, options: "no-cutree:aq-mode=0"),
  ]

  static let moreCases = [
    Case(preset: .fast, prediction: .keyframes, baseEye: .right),
    Case(tune: .zerolatency),
    Case(preset: .veryfast, peak: 160, buffer: 80),
    Case(rate: 300, peak: 300, buffer: 300, keyframeDistance: 12),
    Case(rate: nil),
  ].filter { $0.prediction == .none || canPredict }

  /// Whether libx265 can predict keyframes in a shared rate control.
  static let canPredict = X265.build == 199

  private static let pictureRate = 30

  private func encode(_ test: Case) throws -> (units: [LayeredAccessUnit], encoder: StereoEncoder) {
    let encoder = try StereoEncoder(test.configuration)
    var units: [LayeredAccessUnit] = []
    for frame in 0..<test.seconds * Self.pictureRate {
      units += try encoder.encode(
        left: test.scene.picture(frame: frame, eye: .left, scene: frame / 170),
        right: test.scene.picture(frame: frame, eye: .right, scene: frame / 170),
        timestamp: Int64(frame))
      #expect(frame + 1 - units.count <= encoder.delay)
    }
    units += try encoder.finish()
    return (units, encoder)
  }

  /// How full a decoder's buffer is before each access unit is taken out, at least, against its
  /// size: H.265, Annex C, with a buffer that begins nine tenths full.
  private func leastFill(_ units: [LayeredAccessUnit], _ test: Case) -> Double {
    let size = Double(test.buffer) * 1000
    var (fill, least) = (size * 0.9, size)
    for (index, unit) in units.enumerated() {
      if index > 0 {
        let pictures = Double(unit.decoding - units[index - 1].decoding)
        fill = min(size, fill + pictures * Double(test.peak) * 1000 / Double(Self.pictureRate))
      }
      fill -= Double(unit.byteCount(framing: .annexB) * 8)
      least = min(least, fill)
    }
    return least / size
  }

  @Test(
    "both eyes together meet the rate and the buffer, and neither is worse for a second",
    .tags(.judge),
    .enabled(if: Judge.isAvailable, "needs PyAV"), arguments: cases.sampled(2))
  func meetsRate(_ test: Case) throws { try checkRate(test) }

  @Test(
    "the same with other settings", .tags(.judge, .exhaustive),
    .enabled(if: Judge.isAvailable, "needs PyAV"), arguments: moreCases)
  func meetsRateOtherwise(_ test: Case) throws { try checkRate(test) }

  private func checkRate(_ test: Case) throws {
    let (units, encoder) = try encode(test)
    let bits = units.reduce(0) { $0 + $1.byteCount(framing: .annexB) * 8 }
    let rate = Double(bits) / 1000 / Double(test.seconds)
    if let target = test.rate {
      #expect(abs(rate / Double(target) - 1) < 0.03, "\(rate) for \(target) kbit/s")
    } else {
      #expect(rate < Double(test.peak) * 1.05 && rate > Double(test.peak) * 0.7, "\(rate) kbit/s")
    }
    #expect(leastFill(units, test) >= 0, "\(leastFill(units, test))")

    let gaps = try qualityGaps(units, test)
    try #require(gaps.count == test.seconds)
    if test.offset == 0 {
      #expect(gaps.allSatisfy { abs($0) < 1.5 }, "\(gaps)")
    } else {
      #expect(gaps.allSatisfy { $0 > 0.5 && $0 < 6 }, "\(gaps)")
    }
    let base = try encoder.statistics(of: test.baseEye).averageQP.orThrow()
    let dependent = try encoder.statistics(of: test.baseEye.other).averageQP.orThrow()
    #expect(abs(dependent - base - test.offset) < 1.5, "\(base) and \(dependent)")
  }

  /// By how many decibels the base eye is better than the other, in each second.
  private func qualityGaps(_ units: [LayeredAccessUnit], _ test: Case) throws -> [Double] {
    let bytesPerSample = test.bitDepth > 8 ? 2 : 1
    let luma = test.scene.width * test.scene.height * bytesPerSample
    let views = try Judge.samples(
      of: units.flatMap { $0.bytes(framing: .annexB) }, pictureSize: luma * 3 / 2)
    func errors(_ view: String, _ eye: Eye) throws -> [Double] {
      let pictures = try views[view].orThrow()
      try #require(pictures.count == units.count)
      return pictures.enumerated().map { frame, picture in
        let source = test.scene.samples(frame: frame, eye: eye, scene: frame / 170)
        var sum = 0.0
        for index in stride(from: 0, to: luma, by: bytesPerSample) {
          let high =
            bytesPerSample > 1 ? (Int(picture[index + 1]) - Int(source[index + 1])) << 8 : 0
          let difference = Int(picture[index]) - Int(source[index]) + high
          sum += Double(difference * difference)
        }
        return sum
      }
    }
    let (base, other) = (
      try errors("0", test.baseEye), try errors("1", test.baseEye.other)
    )
    return stride(from: 0, to: units.count, by: Self.pictureRate).map { start in
      let second = start..<min(start + Self.pictureRate, units.count)
      return 10 * log10(max(other[second].reduce(0, +), 1) / max(base[second].reduce(0, +), 1))
    }
  }

  @Test(
    "the same pictures give the same stream, however long each takes", .tags(.long),
    arguments: [cases[0], moreCases[0], Case(preset: .fast)])
  func reproducible(_ test: Case) throws {
    var test = test
    test.seconds = 4
    let (one, other) = (try encode(test, waits: false), try encode(test, waits: true))
    #expect(one.counts == other.counts)
    let change = zip(one.units, other.units).enumerated().first { $1.0 != $1.1 }
    #expect(change == nil, "from access unit \(change?.offset ?? 0) on")
  }

  /// Encodes a case; returns how many access units each picture gave, and the units.
  ///
  /// - Parameter waits: whether to wait until the encoder has nothing left to do, as if the next
  ///   picture came late.
  private func encode(_ test: Case, waits: Bool) throws -> (counts: [Int], units: [[UInt8]]) {
    let encoder = try StereoEncoder(test.configuration)
    var counts: [Int] = []
    var units: [LayeredAccessUnit] = []
    for frame in 0..<test.seconds * Self.pictureRate {
      let new = try encoder.encode(
        left: test.scene.picture(frame: frame, eye: .left),
        right: test.scene.picture(frame: frame, eye: .right), timestamp: Int64(frame))
      counts.append(new.count)
      units += new
      if waits { for eye in Eye.allCases { _ = encoder.statistics(of: eye) } }
    }
    return (counts, try (units + encoder.finish()).map { $0.bytes(framing: .annexB) })
  }

  @Test("an eye that needs fewer bits leaves the rest to the other")
  func unlikeEyes() throws {
    let test = Case(preset: .veryfast)
    let encoder = try StereoEncoder(test.configuration)
    let flat = try test.scene.picture(
      [UInt8](repeating: 100, count: test.scene.width * test.scene.height * 3 / 2))
    for frame in 0..<test.seconds * Self.pictureRate {
      _ = try encoder.encode(
        left: test.scene.picture(frame: frame, eye: .left),
        right: frame < 300 ? flat : test.scene.picture(frame: frame, eye: .right),
        timestamp: Int64(frame))
    }
    _ = try encoder.finish()
    let rates = Eye.allCases.map { encoder.statistics(of: $0).kilobitsPerSecond }
    #expect(abs(rates.reduce(0, +) / 150 - 1) < 0.05, "\(rates)")
    #expect(rates[0] > rates[1] * 1.5, "\(rates)")
  }

  @Test(
    "changing from constant quality to a bitrate delays pictures, and loses none")
  func fromQuality() throws {
    let test = Case(preset: .veryfast)
    var configuration = test.configuration
    configuration.rateControl = .quality(24)
    let encoder = try StereoEncoder(configuration)
    let delay = encoder.delay
    var units: [LayeredAccessUnit] = []
    for frame in 0..<180 {
      if frame == 50 { try encoder.change(to: test.configuration.rateControl) }
      if frame == 120 { try encoder.change(to: .quality(30)) }
      units += try encoder.encode(
        left: test.scene.picture(frame: frame, eye: .left),
        right: test.scene.picture(frame: frame, eye: .right), timestamp: Int64(frame))
    }
    #expect(encoder.delay >= 2 * delay)
    #expect(units.count < 180 - delay)
    units += try encoder.finish()
    #expect(units.map(\.presentation).sorted() == Array(0..<180))
    #expect(units.map(\.decoding) == units.map(\.decoding).sorted())
  }

  @Test("options that prevent changing QPs are refused only with a bitrate")
  func refused() throws {
    let test = Case(options: "hevc-aq")
    #expect(throws: StereoEncoderError.self) { try StereoEncoder(test.configuration) }
    var configuration = test.configuration
    configuration.rateControl = .quality(20)
    _ = try StereoEncoder(configuration)
  }

  @Test("any rate, buffer and picture rate is taken, and any number of pictures")
  func extremes() throws {
    let scene = TestScene(width: 64, height: 64)
    let rates: [RateControl] = [
      .bitrate(kilobitsPerSecond: 16), .bitrate(kilobitsPerSecond: 1_600_000),
      .bitrate(kilobitsPerSecond: 16, buffer: .init(maximumRate: 16, size: 16)),
      .bitrate(
        kilobitsPerSecond: 1_600_000,
        buffer: .init(maximumRate: 3_200_000, size: 160_000_000)),
      .quality(0, buffer: .init(maximumRate: 16, size: 16)),
      .quality(51, buffer: .init(maximumRate: 3_200_000, size: 16)),
    ]
    let frameRates: [StereoEncoderConfiguration.Ratio?] = [
      nil, .init(1, 1_000_000), .init(1_000_000, 1), .init(24000, 1001),
    ]
    for rate in rates {
      for frameRate in frameRates {
        var configuration = scene.configuration
        configuration.preset = .ultrafast
        configuration.frameRate = frameRate
        configuration.rateControl = rate
        for count in [1, 14] {
          let encoder = try StereoEncoder(configuration)
          #expect(try encoder.encode(count, of: scene).count == count)
        }
      }
    }
  }

  /// Set `GST_SPATIAL_RANDOM_STREAMS` for more than a few.
  @Test(
    "whatever the settings, the eyes stay in step and each picture is decoded", .tags(.judge),
    .enabled(if: Judge.isAvailable, "needs PyAV"))
  func randomStreams() throws {
    let wanted = ProcessInfo.processInfo.environment["GST_SPATIAL_RANDOM_STREAMS"].flatMap {
      Int($0)
    }
    var generator = Generator(state: 1)
    var streams: [[UInt8]] = []
    var expected: [(Int, String)] = []
    for number in 0..<(wanted ?? (Tier.current == "all" ? 25 : 12)) {
      let (stream, count, description) = try randomStream(&generator, number)
      streams.append(stream)
      expected.append((count, description))
    }
    let counts = try Judge.pictureCounts(of: streams)
    #expect(counts.count == expected.count)
    for (views, (count, description)) in zip(counts, expected) {
      #expect(views == ["0": count, "1": count], "\(description)")
    }
  }

  /// A stream, how many pictures of each eye it has, and how it was made.
  private func randomStream(
    _ generator: inout Generator, _ number: Int
  ) throws -> ([UInt8], Int, String) {
    func one<Value>(_ values: [Value]) -> Value {
      values[Int(generator.next() % UInt64(values.count))]
    }
    let scene = TestScene(
      width: one([64, 66, 96]), height: one([64, 96, 130]), bitDepth: one([8, 8, 10]))
    func rate() -> RateControl {
      let rate = one([16, 60, 200, 1000])
      let buffer = RateControl.VideoBuffer(
        maximumRate: rate * one([1, 2, 4]), size: max(16, rate * one([1, 4]) / one([1, 3])))
      return one([
        .bitrate(kilobitsPerSecond: rate), .bitrate(kilobitsPerSecond: rate, buffer: buffer),
        .quality(24, buffer: buffer), .quality(30),
      ])
    }
    var configuration = scene.configuration
    configuration.preset = one([.ultrafast, .superfast, .veryfast, .faster, .medium])
    configuration.tune = one([nil, nil, nil, .zerolatency, .grain])
    configuration.rateControl = rate()
    configuration.keyframeDistance = one([1, 2, 9, 30, 250])
    configuration.dependentEyeQualityOffset = one([0, 0, 3, -3])
    configuration.optionString = one([
      "", "bframes=0", "bframes=8:rc-lookahead=20", "no-cutree", "rc-lookahead=40",
    ])
    configuration.baseEye = one([.left, .right])
    configuration.interViewPrediction = one(
      Self.canPredict ? [.none, .keyframes] : [.none, .automatic])
    let (count, most) = (Int(one([1, 3, 30, 90])), one([1, 10, 40]))
    let description = "stream \(number), \(configuration), \(count) pictures"
    let encoder = try StereoEncoder(configuration)
    var units: [LayeredAccessUnit] = []
    do {
      for frame in 0..<count {
        if generator.next() % 40 == 0 { try encoder.change(to: rate()) }
        units += try encoder.encode(
          left: scene.picture(frame: frame, eye: .left, scene: frame / 25),
          right: scene.picture(frame: frame, eye: .right, scene: frame / 31),
          timestamp: Int64(frame), forceKeyframe: generator.next() % UInt64(most) == 1)
      }
      units += try encoder.finish()
    } catch {
      Issue.record("\(error) in \(description)")
    }
    #expect(units.map(\.presentation).sorted() == (0..<Int64(count)).map { $0 }, "\(description)")
    return (units.flatMap { $0.bytes(framing: .annexB) }, count, description)
  }
}

/// Numbers that look random, the same in every run (SplitMix64).
private struct Generator {
  var state: UInt64

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var value = state
    value = (value ^ value >> 30) &* 0xBF58_476D_1CE4_E5B9
    value = (value ^ value >> 27) &* 0x94D0_49BB_1331_11EB
    return (value ^ value >> 31) >> 11
  }
}
