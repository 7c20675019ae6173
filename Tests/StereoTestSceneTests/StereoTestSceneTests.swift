// SPDX-License-Identifier: MPL-2.0

import StereoTestScene
import StereoVideo
import Testing

struct StereoTestSceneTests {
  private func scene(_ width: Int, _ height: Int) throws -> StereoTestScene {
    try #require(StereoTestScene(width: width, height: height))
  }

  @Test(
    "the same scene has the same bytes on each machine",
    arguments: [
      (Eye.left, 0, 5_157_890_031_952_130_479 as UInt64),
      (.right, 0, 5_141_521_879_561_732_410),
      (.left, 7, 4_198_189_878_448_397_800),
      (.right, 7, 6_956_659_298_920_273_807),
    ])
  func isDeterministic(eye: Eye, frame: Int, expected: UInt64) throws {
    let picture = try scene(320, 180).picture(eye, frame)
    #expect(picture.fingerprint == expected)
    #expect(try scene(320, 180).picture(eye, frame) == picture)
  }

  @Test("each object's pixels are its disparity apart in the two eyes", arguments: [0, 7, 95])
  func objectDisparity(frame: Int) throws {
    let scene = try scene(960, 540)
    let (left, right) = try (scene.picture(.left, frame), scene.picture(.right, frame))
    var measured = Set<String>()
    for (index, object) in scene.objects.enumerated() {
      let middle = scene.position(of: object, frame: frame, eye: .left)
      let isHidden = scene.objects[(index + 1)...].contains { nearer in
        let other = scene.position(of: nearer, frame: frame, eye: .left)
        return abs(other.x - middle.x) < nearer.width / 2 + 60
          && abs(other.y - middle.y) < nearer.height / 2 + 20
      }
      guard !isHidden else { continue }
      #expect(
        left.bestMatch(in: right, x: middle.x, y: middle.y, radius: 12, reach: 40)
          == object.disparity, "\(object.name) in frame \(frame)")
      #expect(
        scene.position(of: object, frame: frame, eye: .right).x == middle.x + object.disparity)
      measured.insert(object.name)
    }
    #expect(measured.count >= 4)
  }

  @Test("the landscape's disparity falls from behind the screen to in front of it, as declared")
  func landscapeDisparity() throws {
    let scene = try scene(960, 540)
    let (left, right) = try (scene.picture(.left, 3), scene.picture(.right, 3))
    #expect(scene.backgroundDisparity(row: 150) > 0)
    #expect(scene.backgroundDisparity(row: 535) < 0)
    for row in [150, 520, 535] {
      #expect(
        left.bestMatch(in: right, x: 120, y: row, radius: 40, rows: 1, reach: 40)
          == scene.backgroundDisparity(row: row))
    }
  }

  @Test("objects stand behind, on and in front of the screen, and are drawn farthest first")
  func castOfObjects() throws {
    let disparities = try scene(640, 360).objects.map(\.disparity)
    #expect(disparities == disparities.sorted(by: >))
    #expect(Set(disparities).count == disparities.count)
    #expect(disparities.contains { $0 > 0 })
    #expect(disparities.contains(0))
    #expect(disparities.contains { $0 < 0 })
  }

  @Test("objects move, by small steps")
  func motionIsSmooth() throws {
    let scene = try scene(960, 540)
    for object in scene.objects {
      var moved = false
      for frame in 0..<600 {
        let here = scene.position(of: object, frame: frame, eye: .left)
        let next = scene.position(of: object, frame: frame + 1, eye: .left)
        #expect(abs(next.x - here.x) <= 8 && abs(next.y - here.y) <= 16, "\(object.name)")
        moved = moved || next != here
      }
      #expect(moved, "\(object.name)")
    }
  }

  @Test("the corner shows the eye's letter and the frame's number")
  func label() throws {
    let scene = try scene(320, 180)
    // The bright dots of the label, row by row.
    func dots(_ eye: Eye, _ frame: Int, glyph: Int) throws -> [String] {
      let picture = try scene.picture(eye, frame)
      return (0..<7).map { row in
        (0..<5).map { column in
          picture.luma(x: 1 + glyph * 6 + column, y: 1 + row) > 120 ? "#" : "."
        }.joined()
      }
    }
    #expect(
      try dots(.left, 0, glyph: 0)
        == ["#....", "#....", "#....", "#....", "#....", "#....", "#####"])
    #expect(
      try dots(.right, 0, glyph: 0)
        == ["####.", "#...#", "#...#", "####.", "#.#..", "#..#.", "#...#"])
    #expect(
      try dots(.left, 7, glyph: 6)
        == ["#####", "....#", "...#.", "..#..", ".#...", ".#...", ".#..."])
    #expect(try dots(.left, 7, glyph: 6) == dots(.left, 1_000_007, glyph: 6))
    #expect(try dots(.left, 7, glyph: 5) == dots(.left, 0, glyph: 6))
  }

  @Test("a picture of 16 x 16 still tells the eyes and neighbouring frames apart")
  func smallest() throws {
    let scene = try scene(16, 16)
    let label = { (picture: Picture) in
      (0..<9).flatMap { y in (0..<13).map { x in picture.luma(x: x, y: y) > 120 } }
    }
    let here = try label(scene.picture(.left, 0))
    #expect(try label(scene.picture(.right, 0)) != here)
    #expect(try label(scene.picture(.left, 1)) != here)
  }

  @Test(
    "all formats hold the same picture", arguments: [(320, 180), (333, 187), (16, 16), (17, 4096)])
  func formatsAgree(width: Int, height: Int) throws {
    let scene = try scene(width, height)
    for (eye, frame) in [(Eye.left, 0), (.right, 31)] {
      let planar = try scene.picture(eye, frame)
      #expect(try scene.picture(eye, frame, .nv12) == planar)
      #expect(try scene.picture(eye, frame, .i420TenBit) == planar)
      let rgb = try scene.packed(eye, frame, .rgb)
      for order in StereoTestScene.PackedOrder.allCases {
        #expect(try scene.packed(eye, frame, order) == rgb)
      }
    }
  }

  @Test("RGB and YUV show the same colours")
  func coloursAgree() throws {
    let scene = try scene(320, 180)
    let yuv = try scene.picture(.right, 12)
    let rgb = try scene.packed(.right, 12, .rgb)
    for y in 0..<180 {
      for x in 0..<320 {
        let (r, g, b) = (
          Double(rgb[(y * 320 + x) * 3]), Double(rgb[(y * 320 + x) * 3 + 1]),
          Double(rgb[(y * 320 + x) * 3 + 2])
        )
        let luma = 16 + 219 * (0.2126 * r + 0.7152 * g + 0.0722 * b) / 255
        #expect(abs(luma - Double(yuv.luma(x: x, y: y))) < 2.5)
      }
    }
  }

  @Test("pixels beside the picture in a packed frame stay unchanged")
  func staysInside() throws {
    let scene = try scene(33, 21)
    let stride = 80
    var frame = [UInt8](repeating: 0xA5, count: stride * 21 + 2 * 40 * 11)
    try frame.withUnsafeMutableBytes { bytes in
      func plane(_ offset: Int, _ stride: Int) -> StereoTestScene.Plane {
        .init(bytes: .init(rebasing: bytes[offset...]), stride: stride)
      }
      try scene.render(
        eye: .right, frame: 2,
        into: .i420(
          luma: plane(40, stride), cb: plane(stride * 21 + 20, 40),
          cr: plane(stride * 21 + 40 * 11 + 20, 40)))
    }
    for y in 0..<21 {
      #expect(frame[(y * stride)..<(y * stride + 40)].allSatisfy { $0 == 0xA5 })
      #expect(frame[(y * stride + 73)..<(y * stride + 80)].allSatisfy { $0 == 0xA5 })
    }
    for row in 0..<22 {
      let start = stride * 21 + row * 40
      #expect(frame[start..<(start + 20)].allSatisfy { $0 == 0xA5 })
      #expect(frame[(start + 37)..<(start + 40)].allSatisfy { $0 == 0xA5 })
    }
  }

  @Test("sizes outside 16...16384 have no scene")
  func sizes() {
    for (width, height) in [(15, 16), (16, 15), (16385, 16), (16, 16385), (0, 0), (-1, .max)] {
      #expect(StereoTestScene(width: width, height: height) == nil)
    }
  }

  @Test("a destination that is too small is refused, not overrun")
  func smallDestination() throws {
    let scene = try scene(32, 32)
    var bytes = [UInt8](repeating: 7, count: 32 * 32)
    let error = #expect(throws: StereoTestScene.DestinationError.self) {
      try bytes.withUnsafeMutableBytes { bytes in
        try scene.render(
          eye: .left, frame: 0, into: .packed(.init(bytes: bytes, stride: 128), .bgrx))
      }
    }
    #expect(error?.description == "plane 0: needs 4096 bytes, but has 1024")
    for stride in [95, 0, -96, Int.max] {
      #expect(throws: StereoTestScene.DestinationError.self) {
        try bytes.withUnsafeMutableBytes { bytes in
          try scene.render(
            eye: .left, frame: 0, into: .packed(.init(bytes: bytes, stride: stride), .rgb))
        }
      }
    }
    #expect(bytes.allSatisfy { $0 == 7 })
  }

  @Test("any frame number can be drawn", arguments: [-1, .min, .max])
  func extremeFrames(frame: Int) throws {
    _ = try scene(64, 36).picture(.right, frame)
  }
}
