// SPDX-License-Identifier: MPL-2.0

internal import Glibc
internal import ISOBMFF
internal import PipelineFile
internal import StereoMedia

/// A file with what a run recorded before it failed.
struct KeptFile {
  let path: String
  private let bytes: Int
  /// Nil where the file is no movie, or has no index.
  private let seconds: Double?
  /// Its index comes in parts, which can be put together.
  private let isFragmented: Bool

  init(_ path: String) {
    self.path = path
    var status = stat()
    bytes = stat(path, &status) == 0 ? Int(status.st_size) : 0
    let movie = (try? MovieReader(path: path))?.movie
    seconds = movie?.seconds
    isFragmented = movie?.isFragmented ?? false
  }

  /// In a line.
  var text: String {
    let size = Quantities.size(bytes)
    let start = "what was recorded is kept in '\(path)': "
    if let seconds {
      return start + "\(Quantities.decimal(seconds, 1)) s, \(size)"
        + (isFragmented ? "; 'gst-spatial recover' makes an ordinary movie of it" : "")
    }
    guard isNamedAsMovie else { return start + size }
    return start + "\(size), without the index that players need: it could not be finished"
  }

  /// In seconds and bytes.
  var fields: [(String, JSON)] {
    [
      ("event", "kept"), ("path", .string(path)), ("bytes", JSON(bytes)),
      ("seconds", JSON(seconds)),
    ]
  }

  private var isNamedAsMovie: Bool {
    [".mov", ".mp4", ".m4v"].contains { path.lowercased().hasSuffix($0) }
  }
}

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
