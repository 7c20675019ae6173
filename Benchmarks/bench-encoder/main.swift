// Encoding both eyes end to end, scene cut detection and weaving included, against two bare x265
// encodes of the same pictures run side by side, at the same preset, quality and keyframe distance.
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

/// Both return the coded bytes.
func bare() async throws -> Int {
  let encode = { @Sendable (eye: Eye) in
    try BareEncoder.encode(
      scene, eye, preset: preset.rawValue, crf: quality, keyframeDistance: keyframeDistance)
  }
  async let left = Task.detached { try encode(.left) }.value
  async let right = Task.detached { try encode(.right) }.value
  return try await left + right
}

func stereo() async throws -> Int {
  try await Task.detached {
    var configuration = StereoEncoderConfiguration(
      width: scene.width, height: scene.height, frameRate: .init(30, 1))
    configuration.preset = preset
    configuration.rateControl = .quality(quality)
    configuration.keyframeDistance = keyframeDistance
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
    return bytes
  }.value
}

func measure(_ work: () async throws -> Int) async throws -> (speed: Double, bytes: Int) {
  let clock = ContinuousClock()
  let start = clock.now
  let bytes = try await work()
  return (Double(scene.pictureCount) / ((clock.now - start) / .seconds(1)), bytes)
}

func rounded(_ value: Double, _ digits: Double) -> Double { (value * digits).rounded() / digits }

print("1080p a side, \(pictureCount) pictures, preset \(preset), quality \(quality)")
var ratios: [Double] = []
for round in 1...rounds {
  // Whoever goes second finds warm memory, so they take turns.
  let isBareFirst = round.isMultiple(of: 2)
  let early = try await measure(isBareFirst ? bare : stereo)
  let late = try await measure(isBareFirst ? stereo : bare)
  let (alone, both) = isBareFirst ? (early, late) : (late, early)
  ratios.append(both.speed / alone.speed)
  print(
    "round \(round): two bare encoders \(rounded(alone.speed, 100)) pictures/s, "
      + "\(alone.bytes) bytes; stereo encoder \(rounded(both.speed, 100)) pictures/s, "
      + "\(both.bytes) bytes")
}
print("speed against two bare encoders: \(rounded(ratios.sorted()[ratios.count / 2], 1000))")
