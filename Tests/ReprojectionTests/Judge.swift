// SPDX-License-Identifier: MPL-2.0

import Foundation
import TestKit
import Testing

/// FFmpeg's v360, as an independent witness.
enum Judge {
  static let isThere =
    (try? Python.data(["-c", "import av, numpy; av.filter.Filter('v360')"])) != nil

  struct Coordinates {
    var x, y: [Float]
  }

  /// From where v360 takes the pixels of a picture, once for each list of its arguments.
  static func coordinates(
    of size: (width: Int, height: Int), from source: (width: Int, height: Int), _ filters: [String]
  ) throws -> [Coordinates] {
    let tool = Repository.url.appending(path: "Tests/Tools/v360_coordinates.py")
    let sizes = [source.width, source.height, size.width, size.height].map(String.init)
    let data = try Python.data([tool.path] + sizes + filters)
    let count = size.width * size.height
    try #require(data.count == 8 * count * filters.count)
    let values = data.withUnsafeBytes { Array($0.bindMemory(to: Float.self)) }
    return filters.indices.map { index in
      let start = 2 * count * index
      return Coordinates(
        x: Array(values[start..<start + count]),
        y: Array(values[start + count..<start + 2 * count]))
    }
  }
}
