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
