import Foundation
import HEVC

/// The files of other makers in `../shared/media`, which are not part of the project.
enum ForeignMedia: String, CaseIterable {
  case gradients = "gradients-160x120-left-base.mp4"
  case waterRightBase = "water-1934x2160-right-base.mov"
  case waterFragmented = "water-1934x2160-left-base-fragmented.mp4"

  static let folder = URL(filePath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().appending(path: "shared/media")

  static let arePresent = FileManager.default.fileExists(
    atPath: folder.appending(path: "golden.json").path)

  func bytes() throws -> [UInt8] {
    try [UInt8](Data(contentsOf: Self.folder.appending(path: rawValue)))
  }

  /// The content of the first box of this type, found by its four characters: the box reader
  /// belongs to another target.
  func box(_ type: String) throws -> [UInt8] {
    let data = try bytes()
    let code = Array(type.utf8)
    for index in 4..<data.count - 4 where Array(data[index..<index + 4]) == code {
      let size = data[index - 4..<index].reduce(0) { $0 << 8 | Int($1) }
      if size >= 8, index - 4 + size <= data.count {
        return Array(data[index + 4..<index - 4 + size])
      }
    }
    throw CocoaError(.fileReadCorruptFile)
  }
}
