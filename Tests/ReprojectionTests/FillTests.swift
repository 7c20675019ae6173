// SPDX-License-Identifier: MPL-2.0

import Reprojection
import StereoVideo
import Testing

/// What is drawn where a picture shows nothing.
struct FillTests {
  @Test("new fill values apply from the next picture on, for all planes")
  func values() throws {
    let source = try PictureGeometry(.fisheye(FisheyeLens()), width: 64, height: 64)
    let target = try PictureGeometry(.equirectangular(.full), width: 64, height: 32)
    let picture = TestPicture(.nv12, width: 64, height: 64)
    picture.fill { _, _, _, _ in 99 }
    let drawn = TestPicture(.nv12, width: 64, height: 32)
    let reprojector = try Reprojector(source: source, format: .nv12)
    for (fill, luma, chroma) in [
      (nil, 16, [128, 128]), ([[1], [2, 3]], 1, [2, 3]), ([[4]], 4, [2, 3]),
      ([[], [5], [6, 7, 8]], 0, [5, 0]), ([[9, 9, 9], [10, 11, 12]], 9, [10, 11]),
      ([], 9, [10, 11]),
    ] as [([[UInt16]]?, Int, [Int])] {
      if let fill { reprojector.fill(with: fill) }
      try reprojector.draw(
        target, .front, [Reprojector.Picture(source: picture.planes, target: drawn.planes)])
      #expect(drawn[0, 1, 16, 0] == luma)
      #expect([drawn[1, 1, 8, 0], drawn[1, 1, 8, 1]] == chroma)
      #expect(drawn[0, 32, 16, 0] == 99 && drawn[1, 16, 8, 1] == 99)
    }
  }
}
