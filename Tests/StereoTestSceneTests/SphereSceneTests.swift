// SPDX-License-Identifier: MPL-2.0

import Foundation
import Reprojection
import StereoTestScene
import StereoVideo
import Testing

/// `SphereWorld` and its pictures: what each direction shows, for each projection and both eyes.
struct SphereSceneTests {
  private static let projections: [(Projection, Int, Int)] = [
    (.equirectangular(.full), 320, 160),
    (.equirectangular(.frontHalf), 200, 200),
    (.fisheye(FisheyeLens(fieldOfView: 190)), 201, 199),
    (.fisheye(FisheyeLens(fieldOfView: 360)), 90, 64),
    (.rectilinear(horizontalFieldOfView: 100), 160, 90),
    (.cubemap(.equiAngular, padding: 2), 184, 120),
    (.equirectangular(.full), 17, 16),
    (.equirectangular(.full), 16, 16),
  ]

  private func scene(_ index: Int) throws -> SphereScene {
    let (projection, width, height) = Self.projections[index]
    return try #require(SphereScene(projection, width: width, height: height))
  }

  /// Red, green and blue of each pixel.
  private func picture(_ scene: SphereScene, _ eye: Eye, _ frame: Int) throws -> [UInt8] {
    let (width, height) = (scene.geometry.width, scene.geometry.height)
    var bytes = [UInt8](repeating: 77, count: width * height * 3)
    try bytes.withUnsafeMutableBytes { all in
      try scene.render(
        eye: eye, frame: frame, into: .packed(.init(bytes: all, stride: width * 3), .rgb))
    }
    return bytes
  }

  @Test(
    "each pixel has the colour of its direction, wherever the moving ball is",
    arguments: projections.indices, [0, 37, 60, 201, -5, .max, .min])
  func pixels(index: Int, frame: Int) throws {
    let scene = try scene(index)
    for eye in Eye.allCases {
      let picture = try picture(scene, eye, frame)
      var wrong = 0
      for y in 0..<scene.geometry.height {
        for x in 0..<scene.geometry.width {
          let place = PicturePosition(x: Double(x), y: Double(y))
          let color = scene.geometry.direction(of: place).map {
            scene.world.color(of: $0, eye: eye, frame: frame)
          }
          let (red, green, blue) = color ?? (0, 0, 0)
          let start = (y * scene.geometry.width + x) * 3
          if Array(picture[start..<start + 3]) != [red, green, blue] { wrong += 1 }
        }
      }
      #expect(wrong == 0)
    }
  }

  @Test("the planes of YUV and of ten bits show the same as those of RGB")
  func formats() throws {
    let scene = try scene(2)
    let (width, height) = (scene.geometry.width, scene.geometry.height)
    let (columns, rows) = ((width + 1) / 2, (height + 1) / 2)
    let rgb = try picture(scene, .right, 12)
    var planar = [UInt8](repeating: 0, count: width * height + 2 * columns * rows)
    var deep = [UInt8](repeating: 0, count: planar.count * 2)
    func draw(_ bytes: inout [UInt8], _ size: Int, isDeep: Bool) throws {
      try bytes.withUnsafeMutableBytes { all in
        func plane(_ from: Int, _ count: Int, _ stride: Int) -> StereoTestScene.Plane {
          .init(
            bytes: .init(rebasing: all[from * size..<(from + count) * size]), stride: stride * size)
        }
        let luma = plane(0, width * height, width)
        let cb = plane(width * height, columns * rows, columns)
        let cr = plane(width * height + columns * rows, columns * rows, columns)
        try scene.render(
          eye: .right, frame: 12,
          into: isDeep
            ? .i420TenBit(luma: luma, cb: cb, cr: cr) : .i420(luma: luma, cb: cb, cr: cr))
      }
    }
    try draw(&planar, 1, isDeep: false)
    try draw(&deep, 2, isDeep: true)
    var wrong = 0
    for pixel in 0..<width * height {
      let (r, g, b) = (Int(rgb[3 * pixel]), Int(rgb[3 * pixel + 1]), Int(rgb[3 * pixel + 2]))
      // BT.709, limited range.
      let luma = 16 + (11966 * r + 40254 * g + 4064 * b + 32768) >> 16
      if Int(planar[pixel]) != luma { wrong += 1 }
      let (x, y) = (pixel % width, pixel / width)
      guard x % 2 == 0, y % 2 == 0 else { continue }
      let cb = 128 + (28784 * b - 6596 * r - 22188 * g + 32768) >> 16
      if Int(planar[width * height + y / 2 * columns + x / 2]) != cb { wrong += 1 }
    }
    for (index, value) in planar.enumerated()
    where Int(deep[2 * index]) | Int(deep[2 * index + 1]) << 8 != Int(value) * 4 { wrong += 1 }
    #expect(wrong == 0)
  }

  @Test("a mark lies straight in each of the six directions, to a tenth of a pixel")
  func marks() throws {
    let scene = try #require(SphereScene(.equirectangular(.full), width: 1440, height: 720))
    let picture = try picture(scene, .left, 0)
    let marks: [(Direction, [Int])] = [
      (Direction(x: 0, y: 0, z: 1), [255, 32, 32]), (Direction(x: 1, y: 0, z: 0), [32, 255, 32]),
      (Direction(x: -1, y: 0, z: 0), [255, 255, 32]),
    ]
    for (direction, color) in marks {
      let expected = try #require(scene.geometry.position(of: direction))
      var (count, sumX, sumY) = (0.0, 0.0, 0.0)
      for y in 340..<380 {
        for x in Int(expected.x) - 20..<Int(expected.x) + 20 {
          let start = (y * 1440 + x) * 3
          guard zip(picture[start...], color).allSatisfy({ abs(Int($0) - $1) < 24 }) else {
            continue
          }
          (count, sumX, sumY) = (count + 1, sumX + Double(x), sumY + Double(y))
        }
      }
      // A circle of 1.4 degrees at 4 pixels for a degree.
      #expect(abs(count - 88) < 12, "\(color): \(count)")
      #expect(abs(sumX / count - expected.x) < 0.1 && abs(sumY / count - expected.y) < 0.1)
    }
    // The others are at the seam and the poles.
    for (direction, color) in [
      (Direction(x: 0, y: 0, z: -1), (48, 80, 255)), (Direction(x: 0, y: -1, z: 0), (32, 255, 255)),
      (Direction(x: 1e-9, y: 1, z: 0), (255, 32, 255)),
    ] as [(Direction, (UInt8, UInt8, UInt8))] {
      for eye in Eye.allCases {
        #expect(scene.world.color(of: direction, eye: eye, frame: 3) == color)
      }
    }
  }

  /// Where the four quarters of a ball meet, to the right and down, in radians: the place around
  /// `middle` about which its colours are most alike when turned by half a turn.
  private func offset(
    of middle: Direction, in world: SphereWorld, _ eye: Eye, _ frame: Int
  ) -> (Double, Double) {
    let view = Rotation(
      view: SphereOrientation(
        yaw: atan2(middle.x, middle.z) * 180 / .pi,
        pitch: atan2(-middle.y, hypot(middle.x, middle.z)) * 180 / .pi))
    func value(_ x: Double, _ y: Double) -> Int {
      let color = world.color(of: view(Direction(x: x, y: y, z: 1)), eye: eye, frame: frame)
      return Int(color.red) + Int(color.blue)
    }
    var best = (Int.max, 0.0, 0.0)
    for row in -8...8 {
      for column in -8...8 {
        let (x, y) = (Double(column) * 0.0005, Double(row) * 0.0005)
        var sum = 0
        for step in 1...10 {
          let reach = Double(step) * 0.002
          for (a, b) in [(reach, reach * 0.3), (reach * 0.3, -reach), (reach, -reach)] {
            sum += abs(value(x + a, y + b) - value(x - a, y - b))
          }
        }
        if sum < best.0 { best = (sum, x, y) }
      }
    }
    return (best.1, best.2)
  }

  @Test("each eye sees a ball at its position, ahead and all around")
  func balls() {
    for world in [SphereWorld(.ahead), SphereWorld(.omnidirectional)] {
      for ball in world.balls(frame: 20)
      where world.eyes == .omnidirectional || abs(ball.longitude) < 80 {
        let half = SphereWorld.baseline / 2
        for eye in Eye.allCases {
          let seen = world.direction(of: ball, eye: eye)
          let azimuth = atan2(seen.x, seen.z) * 180 / .pi
          let away = ball.distance * cos(ball.latitude * .pi / 180)
          // Seen from the right eye, things are farther to the left.
          let sign = eye == .right ? -1.0 : 1.0
          let expected =
            world.eyes == .omnidirectional
            ? ball.longitude + sign * asin(half / away) * 180 / .pi
            : atan2(
              away * sin(ball.longitude * .pi / 180) + sign * half,
              away * cos(ball.longitude * .pi / 180)) * 180 / .pi
          #expect(abs((azimuth - expected).remainder(dividingBy: 360)) < 1e-9, "\(ball.name)")
          // The light falls from one side, so that halves are not quite alike.
          let found = offset(of: seen, in: world, eye, 20)
          #expect(abs(found.0) <= 0.0025 && abs(found.1) <= 0.0025, "\(ball.name) \(eye) \(found)")
        }
      }
    }
  }

  @Test("the disparity of a ball in pictures is the one computed, to a quarter of a pixel")
  func disparity() throws {
    let scene = try #require(SphereScene(.equirectangular(.frontHalf), width: 1200, height: 1200))
    let (left, right) = try (picture(scene, .left, 120), picture(scene, .right, 120))
    for ball in scene.world.balls(frame: 120) where abs(ball.longitude) < 75 {
      let (a, b) = try (
        #require(scene.geometry.position(of: scene.world.direction(of: ball, eye: .left))),
        #require(scene.geometry.position(of: scene.world.direction(of: ball, eye: .right)))
      )
      func difference(_ shift: Int) -> Int {
        var sum = 0
        for y in Int(a.y) - 12...Int(a.y) + 12 {
          for x in Int(a.x) - 12...Int(a.x) + 12 {
            let (l, r) = ((y * 1200 + x) * 3, (y * 1200 + x + shift) * 3)
            for part in 0..<3 {
              let difference = Int(left[l + part]) - Int(right[r + part])
              sum += difference * difference
            }
          }
        }
        return sum
      }
      let best = (-40...10).min { difference($0) < difference($1) } ?? 0
      let (before, at, after) = (
        Double(difference(best - 1)), Double(difference(best)), Double(difference(best + 1))
      )
      let found = Double(best) + (before - after) / (2 * (before - 2 * at + after))
      #expect(abs(found - (b.x - a.x)) < 0.25, "\(ball.name): \(found), \(b.x - a.x)")
      // A metre and a half away, eyes 63.5 mm apart: 2.4 degrees.
      if ball.name == "moving ball" { #expect(b.x - a.x < -14) }
    }
  }

  @Test("invalid directions give black, and invalid sizes give no scene")
  func hostile() {
    let world = SphereWorld(.omnidirectional)
    for bad in [Direction(x: .nan, y: 0, z: 0), Direction(x: 0, y: 0, z: 0)] {
      #expect(world.color(of: bad, eye: .left, frame: .max) == (0, 0, 0))
    }
    _ = world.color(
      of: Direction(x: .leastNonzeroMagnitude, y: 1e300, z: 0), eye: .left, frame: .min)
    for (width, height) in [(15, 16), (16, 15), (0, 0), (-4, 100), (16385, 16), (.max, .max)] {
      #expect(SphereScene(.equirectangular(.full), width: width, height: height) == nil)
    }
    for degrees in [0, -1, 361, .nan, .infinity] {
      let lens = FisheyeLens(fieldOfView: degrees)
      #expect(SphereScene(.fisheye(lens), width: 64, height: 64) == nil)
    }
  }

  @Test("a plane that is too small is refused, and untouched")
  func tooSmall() throws {
    let scene = try scene(1)
    var bytes = [UInt8](repeating: 9, count: 200 * 200 * 3 - 1)
    _ = bytes.withUnsafeMutableBytes { all in
      #expect(throws: StereoTestScene.DestinationError.self) {
        try scene.render(
          eye: .left, frame: 0, into: .packed(.init(bytes: all, stride: 600), .rgb))
      }
    }
    #expect(bytes.allSatisfy { $0 == 9 })
  }
}
