// SPDX-License-Identifier: MPL-2.0

import StereoEncoder
import StereoVideo

/// x265 with the settings that the stereo encoder uses.
enum BareEncoder {
  struct Failure: Error {}

  /// Options that fix the frame types, as for two encoders in lockstep, and options of the stream
  /// format; see EyeParameters.
  private static let pattern = [
    ("info", "false"), ("b-adapt", "0"), ("scenecut", "0"), ("open-gop", "false"),
    ("min-keyint", "1"), ("repeat-headers", "true"), ("annexb", "false"), ("aud", "false"),
    ("scenecut-bias", "nan"),
  ]

  /// Encodes one eye of the scene; returns the number of coded bytes, and the PSNR if it is
  /// measured.
  static func encode(
    _ scene: BenchmarkScene, _ eye: Eye, preset: String, crf: Double, keyframeDistance: Int,
    measures: Bool
  ) throws -> (bytes: Int, psnr: Double?) {
    let parameters = try X265Parameters(X265Library(bitDepth: 8), preset: preset, tune: nil)
    let options = [
      ("log-level", "none"), ("input-res", "\(scene.width)x\(scene.height)"), ("fps", "30/1"),
      ("crf", "\(crf)"), ("keyint", "\(keyframeDistance)"),
    ]
    let measuring = measures ? [("psnr", "true"), ("log-level", "info")] : []
    for (name, value) in options + pattern + measuring { try parameters.parse(name, value) }
    guard let encoder = X265Encoder(parameters) else { throw Failure() }
    var bytes = 0
    for frame in 0..<scene.pictureCount {
      let coded = try encoder.encode(scene.picture(frame, eye), pts: Int64(frame), type: .auto)
      bytes += coded?.units.bytes.count ?? 0
    }
    while let coded = try encoder.flush() { bytes += coded.units.bytes.count }
    return (bytes, encoder.psnr)
  }
}
