// SPDX-License-Identifier: MPL-2.0

internal import StereoMedia

/// The kinds of picture files that `frames` writes.
enum PictureFormat: String, CaseIterable {
  case png, jpeg

  /// By the ending of a file's name; nil where it is that of no picture.
  init?(path: String) {
    let name = path.lastIndex(of: "/").map { path[path.index(after: $0)...] } ?? path[...]
    guard let dot = name.lastIndex(of: "."), dot > name.startIndex else { return nil }
    switch name[name.index(after: dot)...].lowercased() {
    case "png": self = .png
    case "jpg", "jpeg": self = .jpeg
    default: return nil
    }
  }

  /// What such pictures are made as.
  var imageFormat: ImageFormat { self == .png ? .png : .jpeg(95) }
  /// The element that makes such pictures.
  var encoder: String { self == .png ? "pngenc" : "jpegenc quality=95" }
  /// What names of such files end with.
  var ending: String { self == .png ? "png" : "jpg" }
}
