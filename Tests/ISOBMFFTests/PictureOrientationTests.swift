// SPDX-License-Identifier: MPL-2.0

import ISOBMFF
import Testing

struct PictureOrientationTests {
  private static let all = [0, 90, 180, 270].flatMap { rotation in
    [false, true].compactMap {
      PictureOrientation(clockwiseRotation: rotation, isFlipped: $0)
    }
  }

  @Test("a turned picture lies where the upright one lay, at its new size", arguments: all)
  func place(orientation: PictureOrientation) {
    let matrix = TransformMatrix(orientation, of: FixedPointSize(width: 4 << 16, height: 3 << 16))
    #expect(matrix.orientation == orientation)
    var corners: [[Int32]] = []
    for (x, y) in [(0, 0), (4, 0), (0, 3), (4, 3)] as [(Int32, Int32)] {
      corners.append([
        matrix.a * x + matrix.c * y + matrix.x, matrix.b * x + matrix.d * y + matrix.y,
      ])
    }
    let isOnItsSide = orientation.clockwiseRotation % 180 != 0
    #expect(corners.map { $0[0] }.min() == 0)
    #expect(corners.map { $0[1] }.min() == 0)
    #expect(corners.map { $0[0] }.max() == (isOnItsSide ? 3 : 4) << 16)
    #expect(corners.map { $0[1] }.max() == (isOnItsSide ? 4 : 3) << 16)
  }

  @Test("a phone held upright: the top of the picture is on the right")
  func portrait() throws {
    let portrait = try #require(PictureOrientation(clockwiseRotation: 90))
    #expect(
      TransformMatrix(portrait, of: FixedPointSize(width: 1920 << 16, height: 1080 << 16))
        == TransformMatrix(a: 0, b: 0x1_0000, c: -0x1_0000, d: 0, x: 1080 << 16))
    let mirrored = try #require(PictureOrientation(clockwiseRotation: 0, isFlipped: true))
    #expect(
      TransformMatrix(mirrored, of: FixedPointSize(width: 1920 << 16, height: 1080 << 16))
        == TransformMatrix(a: -0x1_0000, b: 0, c: 0, d: 0x1_0000, x: 1920 << 16))
  }

  @Test("other angles are no orientation; stretching does not change it")
  func others() {
    #expect(PictureOrientation(clockwiseRotation: 45) == nil)
    #expect(TransformMatrix(a: 0x1_0000, b: 0x1_0000, c: 0, d: 0x1_0000).orientation == nil)
    #expect(TransformMatrix(a: 0, b: 0, c: 0, d: 0).orientation == nil)
    #expect(TransformMatrix(a: 0x2_0000, b: 0, c: 0, d: 0x1_0000).orientation == .upright)
  }
}
