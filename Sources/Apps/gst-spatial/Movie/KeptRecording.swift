// SPDX-License-Identifier: MPL-2.0

internal import Glibc
internal import ISOBMFF
internal import MovieParts
internal import PipelineFile
internal import StereoMedia

/// A file with the recording of a run that failed.
struct KeptRecording {
  let path: String
  private let bytes: Int
  /// Duration; nil if the file is not a movie or has no index.
  private let seconds: Double?
  /// Whether the movie is fragmented, so that `gst-spatial recover` can complete it.
  private let isFragmented: Bool

  /// Returns the files that a failed run has left. Movies with audio but without pictures, as after
  /// an encoder that cannot be set up, are removed.
  ///
  /// - Parameter isRepeatable: whether the run failed and reads only files; else nothing is
  ///   removed.
  static func worthwhile(_ paths: [String], isRepeatable: Bool) -> [KeptRecording] {
    paths.map { KeptRecording($0) }.filter { recording in
      guard isRepeatable, recording.lacksPictures else { return true }
      unlink(recording.path)
      return false
    }
  }

  /// Whether the file has a complete index, according to which it has no pictures.
  private let lacksPictures: Bool

  init(_ path: String) {
    self.path = path
    var status = stat()
    bytes = stat(path, &status) == 0 ? Int(status.st_size) : 0
    let movie = (try? MovieReader(path: path))?.movie
    seconds = movie?.seconds
    isFragmented = movie?.isFragmented ?? false
    let video = movie?.tracks.first { $0.handlerType == "vide" }
    lacksPictures = movie != nil && video?.samples.count ?? 0 == 0
  }

  /// A summary in one line.
  var text: String {
    let size = NumberFormat.size(bytes)
    let start = "the recording is kept in '\(path)': "
    if let seconds {
      return start + "\(NumberFormat.decimal(seconds, 1)) s, \(size)"
        + (isFragmented ? "; 'gst-spatial recover' turns it into an ordinary movie" : "")
    }
    guard isNamedAsMovie else { return start + size }
    return start + "\(size), but without the index that players need, as it could not be completed"
  }

  /// The fields of the JSON event, in seconds and bytes.
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

/// The temporary files of a two-pass conversion, which are beside the output.
struct TwoPassFiles {
  /// The prefix of the encoder's statistics files: `movie.pass1.left` and so on.
  let statistics: String
  /// The movie of the first pass, which is not needed.
  let movie: String
  /// The same movie if the first pass was interrupted.
  private let incomplete: String

  /// - Parameter output: the movie that the second pass writes.
  init(_ output: String) {
    let name = output.lastIndex(of: "/").map { output.index(after: $0) } ?? output.startIndex
    let dot = output[name...].lastIndex(of: ".") ?? output.endIndex
    statistics = "\(output[..<dot]).pass1"
    movie = "\(statistics)\(output[dot...])"
    incomplete = "\(statistics).incomplete\(output[dot...])"
  }

  /// Returns the reason that two passes are not possible; nil if they are.
  static func refusal(_ pipeline: String, _ values: [String]) -> String? {
    guard pipeline.hasSuffix("to-mvhevc") else {
      return "--two-pass requires a conversion to a spatial movie"
    }
    guard values.contains(where: { $0.hasPrefix("bitrate=") && $0 != "bitrate=0" }) else {
      return "--two-pass requires bitrate=…, in kbit/s for both eyes together"
    }
    return nil
  }

  /// The first of the names that already exists, from another run or as the user's own file; nil if
  /// none does.
  var taken: String? { all.first { access($0, F_OK) == 0 } }

  /// Removes the files. Only for a run that found none of the names in use.
  func remove() {
    for file in all { unlink(file) }
  }

  private var all: [String] {
    PassFiles.endings.map { statistics + $0 } + [movie, incomplete]
  }
}
