internal import Glibc

/// A file with what a run recorded before it failed.
struct KeptFile {
  let path: String
  private let bytes: Int
  /// Nil where the file is no movie, or has no index.
  private let seconds: Double?

  init(_ path: String) {
    self.path = path
    var status = stat()
    bytes = stat(path, &status) == 0 ? Int(status.st_size) : 0
    seconds = (try? MovieReader(path: path))?.movie.seconds
  }

  /// In a line.
  var text: String {
    let size = Quantities.size(bytes)
    let start = "what was recorded is kept in '\(path)': "
    if let seconds { return start + "\(Quantities.decimal(seconds, 1)) s, \(size)" }
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
