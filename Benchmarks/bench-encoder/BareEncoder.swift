import StereoEncoder
import StereoVideo

/// x265 with a preset's own settings.
enum BareEncoder {
  struct Failure: Error {}

  /// Encodes one eye of the scene; returns the coded bytes.
  static func encode(
    _ scene: BenchmarkScene, _ eye: Eye, preset: String, crf: Double, keyframeDistance: Int
  ) throws -> Int {
    let parameters = try X265Parameters(X265Library(bitDepth: 8), preset: preset, tune: nil)
    let options = [
      ("log-level", "none"), ("input-res", "\(scene.width)x\(scene.height)"), ("fps", "30/1"),
      ("crf", "\(crf)"), ("keyint", "\(keyframeDistance)"),
    ]
    for (name, value) in options { try parameters.parse(name, value) }
    guard let encoder = X265Encoder(parameters) else { throw Failure() }
    var bytes = 0
    for frame in 0..<scene.pictureCount {
      let coded = try encoder.encode(scene.picture(frame, eye), pts: Int64(frame), type: .auto)
      bytes += coded?.units.bytes.count ?? 0
    }
    while let coded = try encoder.flush() { bytes += coded.units.bytes.count }
    return bytes
  }
}
