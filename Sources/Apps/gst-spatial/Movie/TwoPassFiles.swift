// SPDX-License-Identifier: MPL-2.0

internal import Glibc

/// What the first of two passes leaves beside the movie until the second is over.
struct TwoPassFiles {
  /// What the encoder found out: `movie.pass1.left` and the like.
  let statistics: String
  /// The movie of the first pass, of constant quality, which nobody wants.
  let movie: String
  /// The same where the first pass was stopped.
  private let incomplete: String

  /// - Parameter output: the movie that the second pass writes.
  init(_ output: String) {
    let name = output.lastIndex(of: "/").map { output.index(after: $0) } ?? output.startIndex
    let dot = output[name...].lastIndex(of: ".") ?? output.endIndex
    statistics = output[..<dot] + ".pass1"
    (movie, incomplete) = (statistics + output[dot...], statistics + ".incomplete" + output[dot...])
  }

  /// Why there cannot be two passes; nil where there can.
  static func refusal(_ pipeline: String, _ values: [String]) -> String? {
    guard pipeline.hasSuffix("to-mvhevc") else {
      return "--two-pass is for what becomes a spatial movie"
    }
    guard values.contains(where: { $0.hasPrefix("bitrate=") && $0 != "bitrate=0" }) else {
      return "--two-pass needs to know the rate: bitrate=…, in kbit/s of both eyes together"
    }
    return nil
  }

  /// One of the names that is taken already, by another run or by somebody's own file; nil for none.
  var taken: String? { all.first { access($0, F_OK) == 0 } }

  /// Only for a run that has found none of the names taken.
  func remove() {
    for file in all { unlink(file) }
  }

  private var all: [String] {
    let files = ["left", "right"].map { "\(statistics).\($0)" }
    return files + files.flatMap { [$0 + ".cutree", $0 + ".keyframes"] } + [movie, incomplete]
  }
}
