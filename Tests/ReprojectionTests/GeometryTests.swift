// SPDX-License-Identifier: MPL-2.0

import Glibc
import Reprojection
import StereoVideo
import Testing

/// Where pixels look, and where directions lie.
struct GeometryTests {
  /// Directions all over the sphere, the axes among them.
  private static let directions: [Direction] =
    (0..<2000).map { index in
      // A spiral of equal areas.
      let y = 1 - (2 * Double(index) + 1) / 2000
      let angle = Double(index) * 2.399_963_229_728_653
      let level = (1 - y * y).squareRoot()
      return Direction(x: level * cos(angle), y: y, z: level * sin(angle))
    } + [
      Direction(x: 1, y: 0, z: 0), Direction(x: -1, y: 0, z: 0), Direction(x: 0, y: 1, z: 0),
      Direction(x: 0, y: -1, z: 0), Direction(x: 0, y: 0, z: 1),
    ]

  private func distance(_ one: Direction, _ two: Direction) -> Double {
    guard let one = one.normalized, let two = two.normalized else { return .infinity }
    return max(abs(one.x - two.x), abs(one.y - two.y), abs(one.z - two.z))
  }

  @Test("a pixel's direction is seen at that pixel", arguments: everyGeometry.indices)
  func roundTrip(index: Int) throws {
    let (projection, width, height) = everyGeometry[index]
    let geometry = try PictureGeometry(projection, width: width, height: height)
    var seen = 0
    for direction in Self.directions {
      guard let position = geometry.position(of: direction) else { continue }
      seen += 1
      let back = try #require(geometry.direction(of: position), "\(projection) \(direction)")
      #expect(distance(back, direction) < 1e-6, "\(projection) \(direction) \(back)")
    }
    #expect(seen > 100)
    for y in stride(from: 0, to: height, by: 7) {
      for x in stride(from: 0, to: width, by: 7) {
        let position = PicturePosition(x: Double(x), y: Double(y))
        guard let direction = geometry.direction(of: position) else { continue }
        guard let back = geometry.position(of: direction) else {
          // Padding shows what lies on another face; a circle's edge may be just missed.
          if case .cubemap = projection { continue }
          #expect(geometry.isAtEdge(position), "\(projection) \(position)")
          continue
        }
        if case .cubemap(_, let padding) = projection, padding > 0 { continue }
        #expect(
          abs(back.x - position.x) < 1e-5 && abs(back.y - position.y) < 1e-5,
          "\(projection) \(position) \(back)")
      }
    }
  }

  @Test("the eight-lane computation gives the exact positions", arguments: everyGeometry.indices)
  func lanes(index: Int) throws {
    let (projection, width, height) = everyGeometry[index]
    let geometry = try PictureGeometry(projection, width: width, height: height)
    var largest = 0.0
    var differing = 0
    for direction in Self.directions {
      let lanes = geometry.positions(
        of: Rays(
          x: Floats(repeating: Float(direction.x)), y: Floats(repeating: Float(direction.y)),
          z: Floats(repeating: Float(direction.z))))
      guard let exact = geometry.position(of: direction) else {
        differing += lanes.isInside[3] != 0 ? 1 : 0
        continue
      }
      guard lanes.isInside[3] != 0 else {
        differing += 1
        continue
      }
      var error = max(abs(Double(lanes.x[3]) - exact.x), abs(Double(lanes.y[3]) - exact.y))
      // Straight back, either edge of the sphere's map is right; at its poles, any column.
      if case .equirectangular = projection, abs(direction.y) > 0.9999 || abs(direction.x) < 1e-6 {
        error = 0
      }
      largest = max(largest, error)
    }
    #expect(largest < 0.002, "\(projection)")
    // Only at the very edge.
    #expect(differing <= 2, "\(projection)")
  }

  @Test(
    "eight positions at once have the directions of each alone", arguments: everyGeometry.indices)
  func rays(index: Int) throws {
    let (projection, width, height) = everyGeometry[index]
    let geometry = try PictureGeometry(projection, width: width, height: height)
    var largest = 0.0
    var differing = 0
    for y in stride(from: 0, to: height, by: 5) {
      // Beyond the right edge, too, where the last places of a row may be.
      for (x, step) in (stride(from: 0, to: width, by: 8)).flatMap({ [($0, 1), ($0, 8)] }) {
        let columns = Floats(0, 1, 2, 3, 4, 5, 6, 7) * Float(step) + Float(x)
        let rays = geometry.rays(x: columns, y: Float(y))
        for lane in 0..<8 {
          let exact = geometry.direction(
            of: PicturePosition(x: Double(columns[lane]), y: Double(y)))?.normalized
          let own = Direction(
            x: Double(rays.x[lane]), y: Double(rays.y[lane]), z: Double(rays.z[lane])
          ).normalized
          guard let exact, rays.isSeen(lane) else {
            differing += (exact == nil) == rays.isSeen(lane) ? 1 : 0
            continue
          }
          let found = try #require(own)
          largest = max(
            largest, abs(found.x - exact.x), abs(found.y - exact.y), abs(found.z - exact.z))
        }
      }
    }
    #expect(largest < 1e-6, "\(projection)")
    // Only at the very edge.
    #expect(differing <= 2, "\(projection)")
  }

  @Test(
    "straight ahead is the middle, right is right, and up is up", arguments: everyGeometry.indices)
  func orientation(index: Int) throws {
    let (projection, width, height) = everyGeometry[index]
    let geometry = try PictureGeometry(projection, width: width, height: height)
    if case .cubemap = projection { return }
    if case .equirectangular(let bounds) = projection, bounds.top != 0 { return }
    if case .parametric(let lens) = projection, lens.skew != 0 { return }
    let front = try #require(geometry.position(of: Direction(x: 0, y: 0, z: 1)))
    #expect(abs(front.x - (Double(width) / 2 - 0.5)) < 1e-9)
    #expect(abs(front.y - (Double(height) / 2 - 0.5)) < 1e-9)
    let right = try #require(geometry.position(of: Direction(x: 0.2, y: 0, z: 1)))
    #expect(right.x > front.x + 1 && abs(right.y - front.y) < 1e-9)
    let up = try #require(geometry.position(of: Direction(x: 0, y: -0.2, z: 1)))
    #expect(up.y < front.y - 1 && abs(up.x - front.x) < 1e-9)
  }

  @Test("yaw turns to the right, pitch up, roll clockwise; a pose's yaw turns to the left")
  func signs() throws {
    func near(_ direction: Direction, _ x: Double, _ y: Double, _ z: Double) -> Bool {
      distance(direction, Direction(x: x, y: y, z: z)) < 1e-12
    }
    let ahead = Direction(x: 0, y: 0, z: 1)
    #expect(near(Rotation(view: SphereOrientation(yaw: 90))(ahead), 1, 0, 0))
    #expect(near(Rotation(view: SphereOrientation(pitch: 90))(ahead), 0, -1, 0))
    // What was at the view's right is now below.
    let right = Direction(x: 1, y: 0, z: 0)
    #expect(near(Rotation(view: SphereOrientation(roll: 90))(right), 0, 1, 0))
    #expect(near(Rotation(toPose: SphereOrientation(yaw: 90))(right), 0, 0, -1))
    let any = SphereOrientation(yaw: 31, pitch: -17, roll: 250)
    let rotation = Rotation(view: any)
    #expect(near((rotation * rotation.inverse)(right), 1, 0, 0))
    #expect(Rotation(view: SphereOrientation(yaw: .nan)) == .identity)
    #expect(near(Rotation(view: SphereOrientation(yaw: 360 * 1e9 + 90))(ahead), 1, 0, 0))
  }

  @Test("non-square pixels show the same as square ones")
  func pixelAspectRatio() throws {
    for projection in [
      Projection.rectilinear(horizontalFieldOfView: 80), .fisheye(FisheyeLens()),
    ] {
      let full = try PictureGeometry(projection, width: 400, height: 400)
      let half = try PictureGeometry(projection, width: 200, height: 400, pixelAspectRatio: 2)
      let direction = Direction(x: 0.3, y: 0.2, z: 1)
      let one = try #require(full.position(of: direction))
      let other = try #require(half.position(of: direction))
      #expect(abs((one.x + 0.5) / 2 - (other.x + 0.5)) < 1e-9 && abs(one.y - other.y) < 1e-9)
    }
  }

  @Test("a fisheye and the lens calibration fitted to it show the same")
  func fittedFisheye() throws {
    let size = 4096
    let fisheye = try PictureGeometry(
      .fisheye(FisheyeLens(fieldOfView: 190)), width: size, height: size)
    let fitted = try PictureGeometry(
      .parametric(Lens.fisheye190(size: Double(size))), width: size, height: size)
    for degrees in stride(from: 0.0, through: 94, by: 1) {
      let angle = degrees * .pi / 180
      let direction = Direction(x: sin(angle) * 0.6, y: sin(angle) * 0.8, z: cos(angle))
      let one = try #require(fisheye.position(of: direction))
      let other = try #require(fitted.position(of: direction))
      #expect(hypot(one.x - other.x, one.y - other.y) < 0.2, "\(degrees)")
    }
  }

  @Test("impossible geometries are refused with a reason")
  func refusals() {
    var endless = Lens.bent
    endless.k1 = .infinity
    var nothing = Lens.bent
    nothing.focalLengthX = 0
    let unusable: [Projection] = [
      .rectilinear(horizontalFieldOfView: 180), .rectilinear(horizontalFieldOfView: .nan),
      .rectilinear(horizontalFieldOfView: 0), .fisheye(FisheyeLens(fieldOfView: 1e9)),
      .fisheye(FisheyeLens(fieldOfView: 190, mapping: .orthographic)),
      .fisheye(
        FisheyeLens(fieldOfView: 300, mapping: .kannalaBrandt(k1: -1, k2: 0, k3: 0, k4: 0))),
      .equirectangular(SphereBounds(left: 1 << 31, right: 1 << 31)),
      .parametric(endless), .parametric(nothing), .cubemap(.turned, padding: 100),
      .cubemap(.turned, padding: .max), .cubemap(.equiAngular, padding: .min),
    ]
    for projection in unusable {
      #expect(throws: GeometryError.self) {
        try PictureGeometry(projection, width: 300, height: 200)
      }
    }
    for size in [0, -1, 65537, Int.max, .min] {
      #expect(throws: GeometryError.self) {
        try PictureGeometry(.equirectangular(.full), width: size, height: 10)
      }
    }
  }
}

extension PictureGeometry {
  /// Whether the surroundings of a place show nothing in part.
  fileprivate func isAtEdge(_ position: PicturePosition) -> Bool {
    for (x, y) in [(1e-3, 0.0), (-1e-3, 0), (0, 1e-3), (0, -1e-3)] {
      let near = PicturePosition(x: position.x + x, y: position.y + y)
      guard let direction = direction(of: near), self.position(of: direction) != nil else {
        return true
      }
    }
    return false
  }
}
