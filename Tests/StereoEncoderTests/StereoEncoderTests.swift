// SPDX-License-Identifier: MPL-2.0

import HEVC
import StereoEncoder
import StereoVideo
import TestKit
import Testing

struct StereoEncoderTests {
  struct Case: CustomTestStringConvertible, Sendable {
    var scene = TestScene(width: 128, height: 72)
    var preset = StereoEncoderConfiguration.Preset.superfast
    var options = ""
    var rate = RateControl.quality(26)
    var baseEye = Eye.left
    var sceneLength = 25

    var testDescription: String {
      "\(scene.width)x\(scene.height) \(scene.bitDepth) bit \(preset) \(rate) "
        + "\(baseEye) base “\(options)”"
    }

    var configuration: StereoEncoderConfiguration {
      var configuration = scene.configuration
      configuration.preset = preset
      configuration.optionString = options
      configuration.rateControl = rate
      configuration.baseEye = baseEye
      configuration.keyframeDistance = 30
      return configuration
    }
  }

  static let cases = [
    Case(),
    Case(preset: .medium, baseEye: .right),
    Case(preset: .slow, options: "weightb:bframes=4"),
    Case(scene: TestScene(width: 128, height: 72, bitDepth: 10), baseEye: .right),
    Case(preset: .ultrafast, options: "bframes=0"),
    Case(preset: .veryfast, rate: .bitrate(kilobitsPerSecond: 250)),
    Case(options: "slices=2:scaling-list=default:tskip"),
    Case(options: "no-wpp:frame-threads=3:max-merge=5:rect:amp"),
    Case(scene: TestScene(width: 16, height: 16), preset: .ultrafast),
    Case(scene: TestScene(width: 66, height: 130), preset: .medium),
  ].filter { X265.takes($0.options) }

  @Test(
    "both eyes of the layered stream decode as the two x265 streams do alone",
    .tags(.judge),
    .enabled(if: Judge.isAvailable, "needs PyAV"), arguments: cases)
  func exact(_ test: Case) throws {
    let encoder = try StereoEncoder(test.configuration)
    var layered: [LayeredAccessUnit] = []
    for frame in 0..<60 {
      let left = try test.scene.picture(frame: frame, eye: .left, scene: frame / test.sceneLength)
      let right = try test.scene.picture(frame: frame, eye: .right, scene: frame / test.sceneLength)
      layered += try encoder.encode(left: left, right: right, timestamp: Int64(frame))
      #expect(frame + 1 - layered.count <= encoder.delay)
    }
    layered += try encoder.finish()
    let decoded = try Judge.pictures(of: layered.flatMap { $0.bytes(framing: .annexB) })
    let left = try Judge.pictures(of: layered.flatMap { $0.left.byteStream })["-"]
    let right = try Judge.pictures(of: layered.flatMap { $0.right.byteStream })["-"]
    #expect(left?.count == 60)
    // View 0 is the base layer.
    #expect(decoded["0"] == (test.baseEye == .left ? left : right))
    #expect(decoded["1"] == (test.baseEye == .left ? right : left))
  }

  @Test("the base layer of a keyframe-only stream has a profile that MV-HEVC allows")
  func keyframesAlone() throws {
    let test = Case()
    var configuration = test.configuration
    configuration.keyframeDistance = 1
    let encoder = try StereoEncoder(configuration)
    let units = try encoder.encode(4, of: test.scene)
    #expect(units.filter(\.isSync).count == 4)
    let first = units[0].left
    let profiles = try first.nalUnits.map { Array(first.bytes[$0]) }
      .filter { NALUnitHeader($0.span.bytes)?.type == .sequenceParameterSet }
      .map { try SequenceParameterSet(nalUnit: $0).profileTierLevel?.profile?.profileIDC }
    #expect(profiles == [1])
  }

  @Test("draining returns the remaining pictures one by one, in order, then nil")
  func drain() throws {
    let test = Case()
    let encoder = try StereoEncoder(test.configuration)
    var units: [LayeredAccessUnit] = []
    for frame in 0..<20 {
      units += try encoder.encode(
        left: test.scene.picture(frame: frame, eye: .left),
        right: test.scene.picture(frame: frame, eye: .right), timestamp: Int64(frame))
    }
    let early = units.count
    while let next = try encoder.drain() {
      #expect(!next.isEmpty)
      units += next
      let picture = try test.scene.picture(frame: 20, eye: .left)
      #expect(throws: StereoEncoderError.closed) {
        try encoder.encode(left: picture, right: picture, timestamp: 20)
      }
    }
    #expect(early < 20)
    #expect(units.map(\.presentation).sorted() == Array(0..<20))
    #expect(units.map(\.decoding) == units.map(\.decoding).sorted())
    #expect(throws: StereoEncoderError.closed) { try encoder.drain() }
  }

  @Test("keyframes are at cuts of the base eye, at requests, and at the fixed distance")
  func keyframes() throws {
    let test = Case(sceneLength: 17)
    for eye in Eye.allCases {
      var configuration = test.configuration
      configuration.baseEye = eye
      let encoder = try StereoEncoder(configuration)
      var units: [LayeredAccessUnit] = []
      for frame in 0..<90 {
        units += try encoder.encode(
          left: test.scene.picture(frame: frame, eye: .left, scene: frame / 17 % 3),
          right: test.scene.picture(frame: frame, eye: .right, scene: frame / 41),
          timestamp: Int64(frame), forceKeyframe: frame == 20)
      }
      units += try encoder.finish()
      let expected: [Int64] =
        eye == .left ? [0, 17, 20, 34, 51, 68, 85] : [0, 20, 41, 71, 82]
      #expect(units.filter(\.isSync).map(\.presentation) == expected)
      #expect(units.allSatisfy { $0.isSync == $0.woven.type.isIDR })
    }
  }

  @Test("the first access unit has everything that hvcC and lhvC need")
  func configurationRecords() throws {
    let test = Case()
    let encoder = try StereoEncoder(test.configuration)
    let picture = try test.scene.picture(frame: 0, eye: .left)
    var units = try encoder.encode(left: picture, right: picture, timestamp: 0)
    units += try encoder.finish()
    let sets = try units.first.orThrow().woven.parameterSets
    #expect(try HEVCDecoderConfigurationRecord(sets).arrays.count == 4)
    #expect(try LHEVCDecoderConfigurationRecord(sets).arrays.isEmpty == false)
  }

  @Test("mastering display and content light level precede every keyframe")
  func highDynamicRange() throws {
    var test = Case()
    test.scene.bitDepth = 10
    var configuration = test.configuration
    configuration.signal = VideoSignal(
      colourPrimaries: 9, transferCharacteristics: 16, matrixCoefficients: 9, isFullRange: false,
      chromaLocation: 2,
      masteringDisplay: MasteringDisplayColourVolume(
        green: .init(x: 13250, y: 34500), blue: .init(x: 7500, y: 3000),
        red: .init(x: 34000, y: 16000), whitePoint: .init(x: 15635, y: 16450),
        maximumLuminance: 10_000_000, minimumLuminance: 50),
      contentLightLevel: ContentLightLevel(maximum: 1000, maximumFrameAverage: 400))
    let encoder = try StereoEncoder(configuration)
    var units: [LayeredAccessUnit] = []
    for frame in 0..<40 {
      let picture = try test.scene.picture(frame: frame, eye: .left)
      units += try encoder.encode(left: picture, right: picture, timestamp: Int64(frame))
    }
    units += try encoder.finish()
    #expect(units.filter(\.isSync).count == 2)
    for unit in units where unit.isSync {
      let bytes = unit.bytes(framing: .lengthPrefixed(lengthSize: 4))
      var types: Set<SEIMessage.PayloadType> = []
      for range in try LengthPrefixed.nalUnits(in: bytes.span.bytes, lengthSize: 4) {
        let nalUnit = bytes.span.bytes.extracting(range)
        guard NALUnitHeader(nalUnit)?.type == .prefixSEI else { continue }
        for message in try SEIMessage.messages(in: nalUnit) { types.insert(message.type) }
      }
      #expect(types == [.masteringDisplayColourVolume, .contentLightLevel])
    }
  }

  @Test("the sizes and the statistics of the eyes are those of the two streams")
  func statistics() throws {
    var test = Case()
    test.options = "psnr"
    var configuration = test.configuration
    configuration.dependentEyeQualityOffset = 6
    let encoder = try StereoEncoder(configuration)
    let units = try encoder.encode(30, of: test.scene)
    let (left, right) = (encoder.statistics(of: .left), encoder.statistics(of: .right))
    #expect(left.frames == 30 && right.frames == 30)
    #expect(units.reduce(0) { $0 + $1.byteCount(of: .left) } == left.bytes)
    #expect(units.reduce(0) { $0 + $1.byteCount(of: .right) } == right.bytes)
    // Thirty pictures are one second.
    #expect(abs(Double(left.bytes) * 8 / 1000 - left.kilobitsPerSecond) < 0.001)
    let difference = try right.averageQP.orThrow() - left.averageQP.orThrow()
    #expect((4...8).contains(difference))
    #expect(right.bytes < left.bytes)
  }

  @Test("a bitrate is for both eyes together", .tags(.long))
  func bitrate() throws {
    let test = Case(
      scene: TestScene(width: 192, height: 108), rate: .bitrate(kilobitsPerSecond: 400))
    let encoder = try StereoEncoder(test.configuration)
    _ = try encoder.encode(150, of: test.scene)
    let rates = Eye.allCases.map { encoder.statistics(of: $0).kilobitsPerSecond }
    #expect((320...460).contains(rates.reduce(0, +)))
    #expect(abs(rates[0] - rates[1]) < 80)
  }

  @Test("without latency, each pair of pictures is returned at once")
  func zeroLatency() throws {
    let test = Case()
    var configuration = test.configuration
    configuration.tune = .zerolatency
    let encoder = try StereoEncoder(configuration)
    for frame in 0..<12 {
      let units = try encoder.encode(
        left: test.scene.picture(frame: frame, eye: .left),
        right: test.scene.picture(frame: frame, eye: .right), timestamp: Int64(frame) * 7)
      #expect(units.map(\.presentation) == [Int64(frame) * 7])
      #expect(units.map(\.decoding) == [Int64(frame) * 7])
    }
  }
}

extension CodedUnits {
  /// The NAL units, each after a start code.
  var byteStream: [UInt8] { nalUnits.flatMap { [0, 0, 0, 1] + bytes[$0] } }
}
