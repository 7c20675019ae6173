// SPDX-License-Identifier: MPL-2.0

// Measures encoding both eyes, including scene cut detection and weaving, against two parallel x265
// encodes of the same pictures with the same options; then the same with inter-view keyframes.
//
// Usage: bench-encoder [preset [pictures [rounds]]]
import HEVC
import StereoEncoder
import StereoVideo

typealias Preset = StereoEncoderConfiguration.Preset

let arguments = Array(CommandLine.arguments.dropFirst())
let preset = arguments.first.flatMap { Preset(rawValue: $0) } ?? .medium
let pictureCount = arguments.dropFirst().first.flatMap { Int($0) } ?? 120
let rounds = max(1, arguments.dropFirst(2).first.flatMap { Int($0) } ?? 3)
let quality = 24.0
let keyframeDistance = 60
let scene = BenchmarkScene(width: 1920, height: 1080, pictureCount: pictureCount)

/// Number of coded bytes, and the mean PSNR of the eyes if it is measured.
typealias Coded = (bytes: Int, psnr: Double?)

func mean(_ one: Double?, _ other: Double?) -> Double? {
  guard let one, let other else { return nil }
  return (one + other) / 2
}

func bare(measures: Bool) async throws -> Coded {
  let encode = { @Sendable (eye: Eye) in
    try BareEncoder.encode(
      scene, eye, preset: preset.rawValue, crf: quality, keyframeDistance: keyframeDistance,
      measures: measures)
  }
  async let left = Task.detached { try encode(.left) }.value
  async let right = Task.detached { try encode(.right) }.value
  let (one, other) = try await (left, right)
  return (one.bytes + other.bytes, mean(one.psnr, other.psnr))
}

func stereo(measures: Bool) async throws -> Coded { try await stereo(.none, measures: measures) }

func interView(measures: Bool) async throws -> Coded {
  try await stereo(.keyframes, measures: measures)
}

func stereo(
  _ prediction: StereoEncoderConfiguration.InterViewPrediction, measures: Bool
) async throws -> Coded {
  try await Task.detached {
    var configuration = StereoEncoderConfiguration(
      width: scene.width, height: scene.height, frameRate: .init(30, 1))
    configuration.preset = preset
    configuration.rateControl = .quality(quality)
    configuration.keyframeDistance = keyframeDistance
    configuration.interViewPrediction = prediction
    if measures { configuration.optionString = "psnr:log-level=info" }
    let encoder = try StereoEncoder(configuration)
    var bytes = 0
    for index in 0..<scene.pictureCount {
      let units = try encoder.encode(
        left: scene.picture(index, .left), right: scene.picture(index, .right),
        timestamp: Int64(index))
      for unit in units { bytes += unit.bytes(framing: .lengthPrefixed(lengthSize: 4)).count }
    }
    for unit in try encoder.finish() {
      bytes += unit.bytes(framing: .lengthPrefixed(lengthSize: 4)).count
    }
    let psnr = mean(encoder.statistics(of: .left).psnr, encoder.statistics(of: .right).psnr)
    return (bytes, psnr)
  }.value
}

func measure(_ work: (Bool) async throws -> Coded) async throws -> (speed: Double, bytes: Int) {
  let clock = ContinuousClock()
  let start = clock.now
  let bytes = try await work(false).bytes
  return (Double(scene.pictureCount) / ((clock.now - start) / .seconds(1)), bytes)
}

func rounded(_ value: Double, _ digits: Double) -> Double { (value * digits).rounded() / digits }

print("1080p a side, \(pictureCount) pictures, preset \(preset), quality \(quality)")
// Not in the timed rounds: measuring PSNR takes time, and x265 prints the result.
let (alone, both) = (try await bare(measures: true), try await stereo(measures: true))
print(
  "two bare encoders with the same options: \(alone.bytes) bytes, "
    + "\(rounded(alone.psnr ?? 0, 100)) dB; stereo encoder: \(both.bytes) bytes, "
    + "\(rounded(both.psnr ?? 0, 100)) dB")
var ratios: [Double] = []
var interViewRatios: [Double] = []
for round in 1...rounds {
  // The second run finds warm memory, so the order alternates.
  let isBareFirst = round.isMultiple(of: 2)
  let early = try await measure(isBareFirst ? bare : stereo)
  let late = try await measure(isBareFirst ? stereo : bare)
  let (alone, both) = isBareFirst ? (early, late) : (late, early)
  let predicted = try await measure(interView)
  ratios.append(both.speed / alone.speed)
  interViewRatios.append(predicted.speed / both.speed)
  print(
    "round \(round): two bare encoders \(rounded(alone.speed, 100)) pictures/s, "
      + "\(alone.bytes) bytes; stereo encoder \(rounded(both.speed, 100)) pictures/s, "
      + "\(both.bytes) bytes; with inter-view keyframes \(rounded(predicted.speed, 100)) "
      + "pictures/s, \(predicted.bytes) bytes")
}
func median(_ values: [Double]) -> Double { rounded(values.sorted()[values.count / 2], 1000) }
print("speed against two bare encoders: \(median(ratios))")
print("speed with inter-view keyframes against that without: \(median(interViewRatios))")
