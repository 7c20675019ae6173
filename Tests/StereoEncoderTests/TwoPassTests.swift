// SPDX-License-Identifier: MPL-2.0

import Foundation
import HEVC
import StereoEncoder
import StereoVideo
import TestKit
import Testing

/// Two passes over the same pictures.
final class TwoPassTests {
  private let folder = FileManager.default.temporaryDirectory
    .appending(path: "two-pass-\(UUID().uuidString)")
  private let scene = TestScene(width: 192, height: 108)

  init() throws {
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(at: folder) }

  private var statistics: String { folder.appending(path: "x265.log").path }

  private func configuration(
    _ rate: RateControl, _ pass: EncodingPass?,
    _ prediction: StereoEncoderConfiguration.InterViewPrediction = .none
  ) -> StereoEncoderConfiguration {
    var configuration = scene.configuration
    configuration.preset = .veryfast
    configuration.keyframeDistance = 30
    configuration.rateControl = rate
    configuration.pass = pass
    configuration.interViewPrediction = prediction
    return configuration
  }

  /// Encodes pictures with a flat first half of the right eye, so that the eyes need different
  /// amounts of data.
  private func encode(
    _ configuration: StereoEncoderConfiguration, count: Int = 150
  ) throws -> (units: [LayeredAccessUnit], left: EyeStatistics, right: EyeStatistics) {
    let encoder = try StereoEncoder(configuration)
    var units: [LayeredAccessUnit] = []
    let flat = try scene.picture(
      [UInt8](repeating: 100, count: scene.width * scene.height * 3 / 2))
    for frame in 0..<count {
      units += try encoder.encode(
        left: scene.picture(frame: frame, eye: .left),
        right: frame < 60 ? flat : scene.picture(frame: frame, eye: .right),
        timestamp: Int64(frame), forceKeyframe: frame == 60)
    }
    units += try encoder.finish()
    return (units, encoder.statistics(of: .left), encoder.statistics(of: .right))
  }

  private static let predictions: [StereoEncoderConfiguration.InterViewPrediction] =
    SharedRateTests.canPredict ? [.none, .keyframes] : [.none]

  @Test(
    "the second pass meets the rate of both eyes, each at the same quality, with the same types",
    .tags(.exhaustive),
    arguments: predictions)
  func rate(_ prediction: StereoEncoderConfiguration.InterViewPrediction) throws {
    let first = try encode(
      configuration(.quality(24), .first(statistics: statistics), prediction), count: 300)
    let files = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
    #expect(
      files == [
        "x265.log.left", "x265.log.left.cutree", "x265.log.right", "x265.log.right.cutree",
        "x265.log.right.keyframes",
      ])
    for rate in [150, 200] {
      let second = try encode(
        configuration(
          .bitrate(
            kilobitsPerSecond: rate, buffer: .init(maximumRate: 4 * rate, size: 4 * rate)),
          .second(statistics: statistics), prediction), count: 300)
      let total = second.left.kilobitsPerSecond + second.right.kilobitsPerSecond
      #expect(abs(total / Double(rate) - 1) < 0.03, "\(total) for \(rate)")
      // The right eye takes less, and is as good.
      #expect(second.right.bytes < second.left.bytes * 9 / 10)
      let distance = try second.left.averageQP.orThrow() - second.right.averageQP.orThrow()
      #expect(abs(distance) < 1.5, "\(distance)")
      #expect(second.units.map(\.presentation) == first.units.map(\.presentation))
      #expect(second.units.map(\.isSync) == first.units.map(\.isSync))
      if prediction == .keyframes {
        #expect(try second.right.keyframes.orThrow().predicted > 4)
      }
    }
  }

  @Test(
    "the second pass knows the size of predicted keyframes",
    .enabled(if: SharedRateTests.canPredict, "needs libx265 3.5"))
  func predictedKeyframes() throws {
    let first = try encode(
      configuration(.quality(24), .first(statistics: statistics), .keyframes), count: 90)
    let log = statistics + ".right.keyframes"
    let lines = try String(contentsOfFile: log, encoding: .utf8).split(separator: "\n")
    #expect(try lines.count == first.right.keyframes.orThrow().predicted && !lines.isEmpty)
    for unit in first.units where unit.isSync {
      let line = "in:\(unit.presentation) bits:\(unit.byteCount(of: .right) * 8)"
      #expect(
        lines.contains { $0 == line }
          || !lines.contains { $0.hasPrefix("in:\(unit.presentation) ") })
    }
    // The next first pass forgets them.
    _ = try encode(configuration(.quality(24), .first(statistics: statistics)), count: 90)
    #expect(try String(contentsOfFile: log, encoding: .utf8).isEmpty)
  }

  @Test(
    "both eyes of a second pass decode", .tags(.judge),
    .enabled(if: Judge.isAvailable, "needs PyAV"))
  func decoded() throws {
    _ = try encode(configuration(.quality(24), .first(statistics: statistics)), count: 40)
    let units = try encode(
      configuration(.bitrate(kilobitsPerSecond: 400), .second(statistics: statistics)), count: 40
    ).units
    let decoded = try Judge.pictures(of: units.flatMap { $0.bytes(framing: .annexB) })
    #expect(decoded["0"]?.count == 40 && decoded["1"]?.count == 40)
  }

  @Test("more pictures than in the first pass, and impossible passes, are errors")
  func refusals() throws {
    _ = try encode(configuration(.quality(30), .first(statistics: statistics)), count: 20)
    let rate = RateControl.bitrate(kilobitsPerSecond: 400)
    #expect(throws: StereoEncoderError.self) {
      try encode(configuration(rate, .second(statistics: statistics)), count: 21)
    }
    func refused(_ configuration: StereoEncoderConfiguration) -> Bool {
      do {
        _ = try StereoEncoder(configuration)
        return false
      } catch {
        if case .setting(name: "pass", _) = error { return true }
        return false
      }
    }
    let none = folder.appending(path: "none").path
    #expect(refused(configuration(rate, .first(statistics: statistics))))
    #expect(refused(configuration(.quality(22), .second(statistics: statistics))))
    #expect(refused(configuration(rate, .second(statistics: none))))
    #expect(refused(configuration(.quality(22), .first(statistics: none + "/in/no/folder"))))
    #expect(refused(configuration(.quality(22), .first(statistics: ""))))
    // A pipe without a writer or reader.
    let pipe = folder.appending(path: "pipe").path
    for file in [".left", ".right", ".right.keyframes"] {
      for eye in Eye.allCases {
        try Data("#options: crf=22.0\nin:0 tex:9\n".utf8).write(
          to: URL(filePath: "\(pipe).\(eye.rawValue)"))
      }
      try? FileManager.default.removeItem(atPath: pipe + file)
      #expect(mkfifo(pipe + file, 0o600) == 0)
      #expect(refused(configuration(rate, .second(statistics: pipe))))
      #expect(refused(configuration(.quality(22), .first(statistics: pipe))))
      try FileManager.default.removeItem(atPath: pipe + file)
    }
    // What the first pass wrote was cut off, or is something else.
    for eye in Eye.allCases {
      try Data("#options: none\n".utf8).write(to: URL(filePath: "\(none).\(eye.rawValue)"))
    }
    #expect(refused(configuration(rate, .second(statistics: none))))
  }

  @Test("the rate of two passes cannot be changed in between")
  func change() throws {
    let encoder = try StereoEncoder(configuration(.quality(24), .first(statistics: statistics)))
    #expect(throws: StereoEncoderError.self) { try encoder.change(to: .quality(20)) }
  }
}
