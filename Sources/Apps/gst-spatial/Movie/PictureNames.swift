// SPDX-License-Identifier: MPL-2.0

internal import Glibc

/// What the pictures of a movie are called.
struct PictureNames {
  let format: PictureFormat
  /// What the names begin with.
  private let stem: String
  /// A name that was given whole.
  private let whole: String?

  init(movie: String, output: String?, format: PictureFormat?) {
    let name = movie.lastIndex(of: "/").map { movie[movie.index(after: $0)...] } ?? movie[...]
    let movieStem = String(name.lastIndex(of: ".").map { name[..<$0] } ?? name)
    let ending = output.flatMap(PictureFormat.init(path:))
    self.format = format ?? ending ?? .png
    guard let output else {
      (stem, whole) = (movieStem, nil)
      return
    }
    var status = stat()
    if output.hasSuffix("/") || stat(output, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR {
      stem = output + (output.hasSuffix("/") ? "" : "/") + movieStem
      whole = nil
    } else if ending != nil, let dot = output.lastIndex(of: ".") {
      (stem, whole) = (String(output[..<dot]), output)
    } else {
      (stem, whole) = (output, nil)
    }
  }

  /// The name of one of several pictures.
  func numbered(_ index: Int) -> String {
    let digits = String(index)
    let zeros = String(repeating: "0", count: max(0, 5 - digits.count))
    return "\(stem)-\(zeros)\(digits).\(format.ending)"
  }

  /// The name of the only picture.
  func single(_ index: Int) -> String { whole ?? numbered(index) }

  var sheet: String { whole ?? "\(stem)-sheet.\(format.ending)" }
}
