// SPDX-License-Identifier: MPL-2.0

internal import GStreamer
package import StereoVideo

/// Detects from a movie's pictures whether each holds two eyes: two halves that show the same scene
/// apart from disparity.
package enum PackingProbe {
  package enum Finding: Equatable, Sendable {
    case packed(PackingLayout.Arrangement)
    /// Each picture shows a single scene.
    case onePicture
    /// The pictures have too little detail to decide.
    case unclear
  }

  private static let size = 256
  private static let block = 16
  private static let patience = Duration.seconds(20)
  /// Positions that are examined, as fractions of the movie's duration.
  private static let places = [0.5, 0.25, 0.75, 0.1]

  /// Examines pictures of a movie. Throws if the movie cannot be decoded.
  package static func look(at path: String) async throws -> Finding {
    let pipeline = try Pipeline(
      parsing: "filesrc name=source ! decodebin caps=video/x-raw ! videoconvert "
        + "! videoscale add-borders=false "
        + "! video/x-raw,format=GRAY8,width=\(size),height=\(size) ! fakesink name=sink")
    defer { pipeline.end() }
    try pipeline.element(named: "source")?.set("location", parsing: path)
    pipeline.setState(.paused)
    try await pipeline.preroll(timeout: patience)
    guard let sink = pipeline.element(named: "sink") else { return .unclear }
    var scores: [(sideBySide: Double, topBottom: Double)] = []
    for place in places {
      if let duration = pipeline.duration {
        let time = ClockTime(Double(duration) * place)
        if pipeline.seek(to: time, flags: .keyUnit) {
          try await pipeline.preroll(timeout: patience)
        }
      }
      guard let picture = sink.lastBuffer?.buffer.bytes, picture.count == size * size,
        let sideBySide = similarity(picture, .sideBySide),
        let topBottom = similarity(picture, .topBottom)
      else { continue }
      scores.append((sideBySide, topBottom))
    }
    return finding(scores)
  }

  private static func finding(_ scores: [(sideBySide: Double, topBottom: Double)]) -> Finding {
    guard !scores.isEmpty else { return .unclear }
    let sideBySide = scores.map(\.sideBySide).reduce(0, +) / Double(scores.count)
    let topBottom = scores.map(\.topBottom).reduce(0, +) / Double(scores.count)
    let (best, other) = (max(sideBySide, topBottom), min(sideBySide, topBottom))
    // Measured: the halves of stereo pairs score at least 0.8, those of single pictures at most
    // 0.6.
    if best < 0.65 { return .onePicture }
    guard best >= 0.75, best > other + 0.1 else { return .unclear }
    return .packed(sideBySide > topBottom ? .sideBySide : .topBottom)
  }

  /// Returns how well the blocks of one half match the other half near the same position, from 0 to
  /// 1; nil if too few blocks have detail.
  private static func similarity(
    _ picture: [UInt8], _ arrangement: PackingLayout.Arrangement
  ) -> Double? {
    let isBeside = arrangement == .sideBySide
    let (width, height) = isBeside ? (size / 2, size) : (size, size / 2)
    let other = isBeside ? size / 2 : size * size / 2
    let reach = width / 12
    var sum = 0.0
    var weights = 0.0
    var blocks = 0
    for y in stride(from: 0, through: height - block, by: block) {
      for x in stride(from: reach, through: width - block - reach, by: block) {
        let start = y * size + x
        let spread = statistics(picture, start).variance
        guard spread > 30 else { continue }
        let best = (-reach...reach).map { correlation(picture, start, start + other + $0) }.max()
        sum += max(0, best ?? 0) * spread.squareRoot()
        weights += spread.squareRoot()
        blocks += 1
      }
    }
    return blocks >= 12 ? sum / weights : nil
  }

  private static func statistics(_ picture: [UInt8], _ start: Int) -> (
    mean: Double, variance: Double
  ) {
    var (sum, squares) = (0, 0)
    for y in 0..<block {
      for x in 0..<block {
        let value = Int(picture[start + y * size + x])
        sum += value
        squares += value * value
      }
    }
    let count = Double(block * block)
    let mean = Double(sum) / count
    return (mean, Double(squares) / count - mean * mean)
  }

  private static func correlation(_ picture: [UInt8], _ one: Int, _ other: Int) -> Double {
    let (first, second) = (statistics(picture, one), statistics(picture, other))
    guard first.variance > 1, second.variance > 1 else { return 0 }
    var products = 0
    for y in 0..<block {
      for x in 0..<block {
        products += Int(picture[one + y * size + x]) * Int(picture[other + y * size + x])
      }
    }
    let covariance = Double(products) / Double(block * block) - first.mean * second.mean
    return covariance / (first.variance * second.variance).squareRoot()
  }
}
