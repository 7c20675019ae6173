// Encoding both eyes end to end, against two bare x265 encodes of the same frames run side by side.
//
// Usage: bench-encoder [preset [frames [rounds [option-string]]]]
import StereoEncoder
import StereoVideo

let arguments = CommandLine.arguments.dropFirst()
let preset =
  arguments.first.flatMap { StereoEncoderConfiguration.Preset(rawValue: $0) } ?? .medium
let frameCount = arguments.dropFirst().first.flatMap { Int($0) } ?? 48
let rounds = arguments.dropFirst(2).first.flatMap { Int($0) } ?? 3
let optionString = arguments.dropFirst(3).first ?? ""
let crf = 24.0
let scene = BenchmarkScene(width: 1920, height: 1080, frameCount: frameCount)

func bare(_ options: [String: String] = [:]) async throws -> Int {
  async let left = Task.detached {
    try BareEncoder.encode(scene, .left, preset: preset.rawValue, crf: crf, options: options)
  }.value
  async let right = Task.detached {
    try BareEncoder.encode(scene, .right, preset: preset.rawValue, crf: crf, options: options)
  }.value
  return try await left + right
}

func stereo() throws -> Int {
  var configuration = StereoEncoderConfiguration(
    width: scene.width, height: scene.height, frameRate: .init(30, 1))
  configuration.preset = preset
  configuration.rateControl = .quality(crf)
  configuration.optionString = optionString
  let encoder = try EncoderPair(configuration)
  var bytes = 0
  for frame in 0..<scene.frameCount {
    let units = try encoder.encode(
      left: scene.picture(frame, .left), right: scene.picture(frame, .right),
      timestamp: Int64(frame), isKeyframe: false)
    bytes += units.reduce(0) { $0 + $1.left.bytes.count + $1.right.bytes.count }
  }
  return try encoder.finish().reduce(bytes) { $0 + $1.left.bytes.count + $1.right.bytes.count }
}

func speed(_ work: () async throws -> Int) async throws -> (framesPerSecond: Double, bytes: Int) {
  let clock = ContinuousClock()
  let start = clock.now
  let bytes = try await work()
  let seconds = (clock.now - start) / .seconds(1)
  return (Double(scene.frameCount) / seconds, bytes)
}

var ratios: [Double] = []
for _ in 0..<rounds {
  let alone = try await speed { try await bare(["keyint": "60", "open-gop": "0"]) }
  let same = try await speed {
    try await bare(["b-adapt": "0", "scenecut": "0", "open-gop": "0", "keyint": "60"])
  }
  let paired = try await speed { try stereo() }
  ratios.append(paired.framesPerSecond / alone.framesPerSecond)
  print("bare \(alone) same \(same) paired \(paired)")
  print(
    "ratio \(paired.framesPerSecond / alone.framesPerSecond) \(paired.framesPerSecond / same.framesPerSecond)"
  )
}
