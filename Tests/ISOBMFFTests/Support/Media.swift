// SPDX-License-Identifier: MPL-2.0

import Foundation

/// The foreign files beside the project; see their README.
enum Media {
  static let folder = URL(filePath: #filePath).deletingLastPathComponent()
    .appending(path: "../../../../shared/media").standardizedFileURL

  static var isPresent: Bool {
    FileManager.default.fileExists(atPath: folder.appending(path: "golden.json").path)
  }

  static let rightBase = "water-1934x2160-right-base.mov"
  static let leftBase = "gradients-160x120-left-base.mp4"
  static let fragmented = "water-1934x2160-left-base-fragmented.mp4"
  static let all = [leftBase, rightBase, fragmented]

  static func bytes(_ name: String) throws -> [UInt8] {
    [UInt8](try Data(contentsOf: folder.appending(path: name)))
  }
}
