// SPDX-License-Identifier: MPL-2.0

internal import GStreamer
internal import Glibc
internal import StereoMedia

/// Reading and writing of image files.
enum PictureFile {
  static func write(_ bytes: [UInt8], to path: String) throws {
    let file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o666)
    guard file >= 0 else { throw PictureError(path) }
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { Glibc.write(file, $0.baseAddress, $0.count) }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else {
        let error = PictureError(path)
        close(file)
        unlink(path)
        throw error
      }
      rest = rest.dropFirst(count)
    }
    guard close(file) == 0 else { throw PictureError(path) }
  }

  /// Returns the size of a PNG image, from its first chunk; nil if the file is no PNG.
  static func pngSize(_ path: String) throws -> (width: Int, height: Int)? {
    let file = open(path, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { throw PictureError(path) }
    defer { close(file) }
    var bytes = [UInt8](repeating: 0, count: 24)
    guard read(file, &bytes, bytes.count) == bytes.count else { return nil }
    func number(_ range: Range<Int>) -> Int { bytes[range].reduce(0) { $0 << 8 | Int($1) } }
    let size = (width: number(16..<20), height: number(20..<24))
    return size.width > 0 && size.height > 0 ? size : nil
  }
}

/// The error of the last system call on an image file.
struct PictureError: Error, CustomStringConvertible {
  let description: String

  init(_ path: String) {
    description = "'\(path)': \(String(cString: strerror(errno)))"
  }
}

/// The formats of image files that `frames` writes.
enum PictureFormat: String, CaseIterable {
  case png, jpeg

  /// Returns the extension of a file name if it is that of another image format; nil otherwise.
  static func unsupportedEnding(of path: String) -> String? {
    let name = path.lastIndex(of: "/").map { path[path.index(after: $0)...] } ?? path[...]
    guard let dot = name.lastIndex(of: ".") else { return nil }
    let ending = name[name.index(after: dot)...].lowercased()
    let others: Set = [
      "avif", "bmp", "exr", "gif", "heic", "heif", "jp2", "jps", "jxl", "mpo", "pdf", "pns", "ppm",
      "svg", "tga", "tif", "tiff", "webp",
    ]
    return others.contains(ending) ? ending : nil
  }

  /// The format for the extension of a file name; nil for other extensions.
  init?(path: String) {
    let name = path.lastIndex(of: "/").map { path[path.index(after: $0)...] } ?? path[...]
    guard let dot = name.lastIndex(of: "."), dot > name.startIndex else { return nil }
    switch name[name.index(after: dot)...].lowercased() {
    case "png": self = .png
    case "jpg", "jpeg": self = .jpeg
    default: return nil
    }
  }

  /// The format for ``StereoImageGenerator``.
  var imageFormat: ImageFormat { self == .png ? .png : .jpeg(95) }
  /// The extension of the file names.
  var ending: String { self == .png ? "png" : "jpg" }
}

/// Several pictures arranged in a grid, as one picture.
struct ContactSheet {
  /// Maximum number of pictures, as each takes several threads.
  static let limit = 400

  private static let cellWidth = 480
  private static let patience = Duration.seconds(60)

  /// Returns the content of the sheet's file.
  ///
  /// - Parameters:
  ///   - pictures: the paths of PNG images of the same size.
  ///   - format: the file format of the sheet.
  static func make(
    of pictures: [String], format: PictureFormat
  ) async throws -> [UInt8] {
    guard let first = pictures.first, let size = try PictureFile.pngSize(first) else { return [] }
    let width = min(size.width, cellWidth)
    let height = max(2, size.height * width / size.width)
    let columns = max(1, Int(Double(pictures.count).squareRoot().rounded(.up)))
    var line = "compositor name=mix background=black"
    for index in pictures.indices {
      line +=
        " sink_\(index)::xpos=\(index % columns * width)"
        + " sink_\(index)::ypos=\(index / columns * height)"
    }
    line += " ! videoconvert ! \(format.imageFormat.encoder) ! fakesink name=sink"
    for index in pictures.indices {
      line +=
        " filesrc name=source\(index) ! pngdec ! videoconvert ! videoscale "
        + "! video/x-raw,width=\(width),height=\(height),pixel-aspect-ratio=1/1 ! mix.sink_\(index)"
    }
    let pipeline = try Pipeline(parsing: line)
    defer { pipeline.end() }
    for (index, picture) in pictures.enumerated() {
      try pipeline.element(named: "source\(index)")?.set("location", parsing: picture)
    }
    pipeline.setState(.paused)
    try await pipeline.preroll(timeout: patience)
    return pipeline.element(named: "sink")?.lastBuffer?.buffer.bytes ?? []
  }
}
