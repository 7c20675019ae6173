// SPDX-License-Identifier: MPL-2.0

import StereoEncoder
import StereoVideo
import TestKit
import Testing

struct ConfigurationTests {
  private static func configuration(
    width: Int = 64, height: Int = 64, options: String = ""
  ) -> StereoEncoderConfiguration {
    var configuration = StereoEncoderConfiguration(
      width: width, height: height, frameRate: .init(30, 1))
    configuration.preset = .ultrafast
    configuration.optionString = options
    return configuration
  }

  @Test("an option that x265 does not know is named")
  func unknownOption() {
    #expect(throws: StereoEncoderError.unknownOption(name: "quux")) {
      try EncoderPair(Self.configuration(options: "rd=3:quux=1"))
    }
  }

  @Test("a value that x265 cannot read is named with its option")
  func unreadableValue() {
    #expect(throws: StereoEncoderError.optionValue(name: "rd", value: "much")) {
      try EncoderPair(Self.configuration(options: "rd=much"))
    }
  }

  @Test("a value outside its option's range is named with its option")
  func valueOutOfRange() {
    #expect(throws: StereoEncoderError.optionValue(name: "aq-mode", value: "99")) {
      try EncoderPair(Self.configuration(options: "rd=3:aq-mode=99"))
    }
  }

  @Test(
    "of incompatible options, the invalid one is named",
    .enabled(if: X265.hasSlices, "libx265 4.1 and 4.2 have no slices"))
  func contradiction() {
    #expect(throws: StereoEncoderError.optionValue(name: "no-wpp", value: "true")) {
      try EncoderPair(Self.configuration(options: "slices=2:no-wpp:rd=2"))
    }
  }

  @Test(
    "an option that would break the step is refused, however it is written",
    arguments: [
      "b-adapt=2", "b_adapt=2", "--b-adapt=2", "no-b-adapt", "nob-adapt", "scenecut=40",
      "keyint=10",
      "open-gop", "no-open-gop=0", "hrd=1", "annexb=0", "repeat-headers=0", "pass=2", "csv=x",
      "crf=3", "fades", "radl=2", "temporal-layers", "field=1", "intra-refresh", "preset=slow",
      "num-views=2",
    ])
  func refused(_ option: String) throws {
    let name = try option.split(separator: "=").first.map(String.init).orThrow()
    let error = #expect(throws: StereoEncoderError.self) {
      try EncoderPair(Self.configuration(options: "rd=3:" + option))
    }
    guard case .refusedOption(name, let reason) = error else {
      Issue.record("\(option): \(String(describing: error))")
      return
    }
    #expect(!reason.isEmpty)
  }

  @Test("several slices in narrow pictures, with which x265 3.5 crashes, are refused")
  func narrowSlices() throws {
    for (width, height) in [(66, 130), (128, 512), (64, 192)] {
      let error = #expect(throws: StereoEncoderError.self) {
        try EncoderPair(
          Self.configuration(width: width, height: height, options: "ctu=64:slices=2"))
      }
      guard case .refusedOption("slices", _) = error else {
        Issue.record("\(String(describing: error))")
        continue
      }
    }
    // 4.1 and 4.2 take none at all.
    guard X265.hasSlices else { return }
    _ = try EncoderPair(Self.configuration(width: 130, height: 130, options: "ctu=64:slices=2"))
    _ = try EncoderPair(Self.configuration(width: 66, height: 130, options: "ctu=16:slices=2"))
  }

  @Test("options in free notation reach x265")
  func acceptedOptions() throws {
    _ = try EncoderPair(
      Self.configuration(options: "rd=2:no-sao:aq-mode=1::max-merge=2:ref=2:deblock=-1,-1"))
  }

  @Test(
    "sizes from the smallest to the largest are taken",
    arguments: [(16, 16), (18, 34), (16, 1024), (62, 64), (1934, 16)])
  func sizes(_ width: Int, _ height: Int) throws {
    let scene = TestScene(width: width, height: height)
    let pair = try EncoderPair(Self.configuration(width: width, height: height))
    var count = 0
    for frame in 0..<6 {
      count += try pair.encode(
        left: scene.picture(frame: frame, eye: .left),
        right: scene.picture(frame: frame, eye: .right), timestamp: Int64(frame),
        isKeyframe: false
      ).count
    }
    #expect(try count + pair.finish().count == 6)
  }

  @Test(
    "sizes that cannot be encoded are refused",
    arguments: [(14, 64), (64, 8), (65, 64), (64, 65), (8192, 8192), (32768, 64), (-2, 64)])
  func refusedSizes(_ width: Int, _ height: Int) {
    let error = #expect(throws: StereoEncoderError.self) {
      try EncoderPair(Self.configuration(width: width, height: height))
    }
    guard case .setting("picture size", _) = error else {
      Issue.record("\(width)x\(height): \(String(describing: error))")
      return
    }
  }

  @Test("settings outside their range are refused, each by its name")
  func refusedSettings() {
    let changes: [(name: String, change: (inout StereoEncoderConfiguration) -> Void)] = [
      ("bit depth", { $0.bitDepth = 12 }),
      ("frame rate", { $0.frameRate = .init(30, 0) }),
      ("pixel aspect ratio", { $0.pixelAspectRatio = .init(-1, 1) }),
      ("pixel aspect ratio", { $0.pixelAspectRatio = .init(70001, 70000) }),
      ("quality", { $0.rateControl = .quality(.nan) }),
      ("quality", { $0.rateControl = .quality(52) }),
      ("bitrate", { $0.rateControl = .bitrate(kilobitsPerSecond: 0) }),
      ("bitrate", { $0.rateControl = .bitrate(kilobitsPerSecond: .max) }),
      (
        "bitrate",
        {
          $0.rateControl = .bitrate(
            kilobitsPerSecond: 1000, buffer: .init(maximumRate: 500, size: 500))
        }
      ),
      ("quality", { $0.rateControl = .quality(20, buffer: .init(maximumRate: 0, size: 500)) }),
      ("quality", { $0.rateControl = .quality(20, buffer: .init(maximumRate: 500, size: .max)) }),
      ("keyframe distance", { $0.keyframeDistance = 0 }),
      ("minimum keyframe distance", { $0.minimumKeyframeDistance = 0 }),
      ("minimum keyframe distance", { $0.minimumKeyframeDistance = 61 }),
      ("dependent eye's quality offset", { $0.dependentEyeQualityOffset = .infinity }),
      ("colour primaries", { $0.signal.colourPrimaries = 22 }),
      ("transfer characteristics", { $0.signal.transferCharacteristics = 3 }),
      ("matrix coefficients", { $0.signal.matrixCoefficients = 200 }),
      ("chroma location", { $0.signal.chromaLocation = 6 }),
    ]
    for (name, change) in changes {
      var configuration = Self.configuration()
      change(&configuration)
      let error = #expect(throws: StereoEncoderError.self) { try EncoderPair(configuration) }
      guard case .setting(name, _) = error else {
        Issue.record("\(name): \(String(describing: error))")
        continue
      }
    }
  }

  @Test("a picture whose rows are too short is refused, and the encoder continues")
  func shortRows() throws {
    let scene = TestScene(width: 64, height: 64)
    let pair = try EncoderPair(Self.configuration())
    let left = try scene.picture(frame: 0, eye: .left)
    let right = try scene.picture(frame: 0, eye: .right)
    let short = Picture(
      luma: .init(address: left.luma.address, stride: 32), cb: left.cb, cr: left.cr,
      owner: left.owner)
    #expect(throws: StereoEncoderError.self) {
      try pair.encode(left: left, right: short, timestamp: 0, isKeyframe: false)
    }
    _ = try pair.encode(left: left, right: right, timestamp: 0, isKeyframe: false)
    #expect(try pair.finish().count == 1)
  }

  @Test("a finished encoder takes no more pictures")
  func closed() throws {
    let scene = TestScene(width: 64, height: 64)
    let pair = try EncoderPair(Self.configuration())
    #expect(try pair.finish().isEmpty)
    #expect(throws: StereoEncoderError.closed) { try pair.finish() }
    let picture = try scene.picture(frame: 0, eye: .left)
    #expect(throws: StereoEncoderError.closed) {
      try pair.encode(left: picture, right: picture, timestamp: 0, isKeyframe: false)
    }
  }

  @Test("encoders are made, partly used and released, many times and many at once")
  func manyEncoders() throws {
    let scene = TestScene(width: 64, height: 64)
    for round in 0..<12 {
      let pairs = try (0..<3).map { _ in try EncoderPair(Self.configuration()) }
      for frame in 0..<round {
        let left = try scene.picture(frame: frame, eye: .left)
        let right = try scene.picture(frame: frame, eye: .right)
        for pair in pairs {
          _ = try pair.encode(
            left: left, right: right, timestamp: Int64(frame), isKeyframe: false)
        }
      }
      if let first = pairs.first { #expect(try first.finish().count == round) }
    }
  }
}
