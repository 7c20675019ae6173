// SPDX-License-Identifier: MPL-2.0

import StereoEncoder
import StereoVideo
import TestKit
import Testing

/// Rate control that changes while the encoder runs, and quality with a limited peak.
struct RateChangeTests {
  private let scene = TestScene(width: 192, height: 112)

  private func configuration(_ rate: RateControl) -> StereoEncoderConfiguration {
    var configuration = scene.configuration
    configuration.preset = .superfast
    configuration.rateControl = rate
    return configuration
  }

  /// The access units of `count` frames, in display order, with the rate control that holds from
  /// each frame of `changes` on.
  private func units(
    _ count: Int, _ rate: RateControl, changes: [Int: RateControl] = [:]
  ) throws -> [LayeredAccessUnit] {
    let encoder = try StereoEncoder(configuration(rate))
    var units: [LayeredAccessUnit] = []
    for frame in 0..<count {
      if let rate = changes[frame] { try encoder.change(to: rate) }
      units += try encoder.encode(
        left: scene.picture(frame: frame, eye: .left),
        right: scene.picture(frame: frame, eye: .right), timestamp: Int64(frame))
    }
    units += try encoder.finish()
    #expect(units.map(\.decoding) == units.map(\.decoding).sorted())
    #expect(encoder.statistics(of: .left).frames == count)
    for eye in Eye.allCases {
      let statistics = encoder.statistics(of: eye)
      #expect(statistics.frames == count)
      #expect(statistics.bytes == units.reduce(0) { $0 + $1.byteCount(of: eye) })
    }
    return units.sorted { $0.presentation < $1.presentation }
  }

  private func sizes(_ units: [LayeredAccessUnit], _ eye: Eye) -> [Int] {
    units.map { $0.byteCount(of: eye) }
  }

  private func totals(_ units: [LayeredAccessUnit]) -> [Int] {
    zip(sizes(units, .left), sizes(units, .right)).map(+)
  }

  @Test("a new quality applies from a keyframe on, at once and in both eyes")
  func quality() throws {
    let plain = try units(110, .quality(18))
    let changed = try units(110, .quality(18), changes: [40: .quality(38), 80: .quality(18)])
    #expect(plain.filter(\.isSync).map(\.presentation) == [0, 60])
    #expect(changed.filter(\.isSync).map(\.presentation) == [0, 40, 80])
    for eye in Eye.allCases {
      let (before, after) = (sizes(plain, eye), sizes(changed, eye))
      let (fine, coarse) = (before[41..<59].reduce(0, +), after[41..<59].reduce(0, +))
      #expect(coarse * 3 < fine, "\(eye): \(coarse) of \(fine) bytes")
      let (old, again) = (before[81...].reduce(0, +), after[81...].reduce(0, +))
      #expect(again * 10 > old * 8, "\(eye): \(again) of \(old) bytes")
    }
  }

  @Test(
    "changes with every picture leave the eyes in step, and keyframes apart")
  func everyPicture() throws {
    let changes = (0..<90).map { ($0, RateControl.quality(Double(16 + $0 * 7 % 30))) }
    let units = try units(90, .quality(26), changes: Dictionary(uniqueKeysWithValues: changes))
    #expect(units.map(\.presentation) == Array(0..<90))
    #expect(units.filter(\.isSync).map(\.presentation) == Array(stride(from: 0, to: 90, by: 6)))
  }

  @Test("a new bitrate is met, in both eyes together, and quality can replace it", .tags(.long))
  func bitrate() throws {
    func limits(_ rate: Int) -> RateControl {
      .bitrate(kilobitsPerSecond: rate, buffer: .init(maximumRate: rate, size: rate / 2))
    }
    let units = try units(300, limits(1200), changes: [120: limits(300), 240: .quality(14)])
    let total = totals(units)
    // Bits a second of thirty pictures, in kbit.
    let rates = [60..<120, 150..<240, 241..<300].map { range -> Double in
      let bytes: Int = total[range].reduce(0, +)
      return Double(bytes) * 8 / 1000 * 30 / Double(range.count)
    }
    #expect((700...1300).contains(rates[0]), "\(rates)")
    #expect((200...345).contains(rates[1]), "\(rates)")
    #expect(rates[2] > 400, "\(rates)")
  }

  @Test(
    "quality with a buffer is lowered only if the buffer requires it", .tags(.exhaustive))
  func cappedQuality() throws {
    func kilobits(_ units: [LayeredAccessUnit]) -> Double {
      Double(totals(units).reduce(0, +)) * 8 / 1000
    }
    let free = try kilobits(units(120, .quality(14)))
    let most = Int(free / 4)
    let roomy = RateControl.VideoBuffer(maximumRate: most * 8, size: most * 8)
    #expect(try kilobits(units(120, .quality(14, buffer: roomy))) > free * 0.9)
    let tight = RateControl.VideoBuffer(maximumRate: most / 3, size: most / 3)
    let capped = try kilobits(units(120, .quality(14, buffer: tight)))
    // Four seconds, and what the buffer holds at the start.
    #expect(capped < Double(tight.maximumRate) * 5.1)
    #expect(capped > Double(tight.maximumRate) * 2)
  }

  @Test("an impossible change is refused, and the encoder continues")
  func refusedChange() throws {
    let encoder = try StereoEncoder(configuration(.quality(20)))
    let error = #expect(throws: StereoEncoderError.self) { try encoder.change(to: .quality(52)) }
    guard case .setting = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(encoder.configuration.rateControl == .quality(20))
    let picture = try scene.picture(frame: 0, eye: .left)
    _ = try encoder.encode(left: picture, right: picture, timestamp: 0)
    #expect(try encoder.finish().count == 1)
  }

  @Test(
    "with the distance as its minimum, groups of pictures are of equal length, whatever is cut",
    .tags(.exhaustive))
  func equalGroups() throws {
    var configuration = configuration(.quality(30))
    configuration.keyframeDistance = 24
    for (minimum, expected) in [
      (nil, [0, 17, 34, 51, 68, 85]), (24, [0, 24, 48, 72]), (20, [0, 24, 48, 68]),
    ] as [(Int?, [Int64])] {
      configuration.minimumKeyframeDistance = minimum
      let encoder = try StereoEncoder(configuration)
      var units: [LayeredAccessUnit] = []
      for frame in 0..<90 {
        units += try encoder.encode(
          left: scene.picture(frame: frame, eye: .left, scene: frame / 17),
          right: scene.picture(frame: frame, eye: .right, scene: frame / 17),
          timestamp: Int64(frame))
      }
      units += try encoder.finish()
      #expect(
        units.filter(\.isSync).map(\.presentation) == expected, "\(String(describing: minimum))")
    }
  }
}
