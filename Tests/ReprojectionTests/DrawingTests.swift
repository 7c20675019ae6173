// SPDX-License-Identifier: MPL-2.0

import Glibc
import Reprojection
import StereoVideo
import TestKit
import Testing

/// Pictures drawn from others, against sampling in double precision and against each other.
struct DrawingTests {
  private static let views: [SphereOrientation] = [
    SphereOrientation(), SphereOrientation(yaw: 30, pitch: 20, roll: 10),
    SphereOrientation(yaw: 180, pitch: -10), SphereOrientation(pitch: 90),
    SphereOrientation(yaw: -77, pitch: -85),
  ]

  private func settings(
    _ interpolation: Interpolation = .linear, antialias: Bool = false, threads: Int = 1
  ) -> Reprojector.Settings {
    var settings = Reprojector.Settings()
    settings.interpolation = interpolation
    settings.antialias = antialias
    settings.threads = threads
    return settings
  }

  private func draw(
    _ source: PictureGeometry, _ picture: TestPicture, _ target: PictureGeometry,
    _ view: SphereOrientation, _ settings: Reprojector.Settings, padding: Int = 0, times: Int = 1
  ) throws -> TestPicture {
    let drawn = TestPicture(
      picture.format, width: target.width, height: target.height, padding: padding)
    let reprojector = try Reprojector(
      source: source, format: picture.format, settings: settings)
    for _ in 0..<times {
      try reprojector.draw(
        target, view, [Reprojector.Picture(source: picture.planes, target: drawn.planes)])
    }
    return drawn
  }

  private func sphere(_ width: Int, _ height: Int) throws -> PictureGeometry {
    try PictureGeometry(.equirectangular(.full), width: width, height: height)
  }

  private func flat(_ width: Int, _ height: Int, _ degrees: Double = 90) throws -> PictureGeometry {
    try PictureGeometry(
      .rectilinear(horizontalFieldOfView: degrees), width: width, height: height)
  }

  struct Way: Sendable, CustomTestStringConvertible {
    let name: String
    let format: PictureFormat
    let interpolation: Interpolation
    let least: Double
    var testDescription: String { "\(name), \(interpolation)" }
  }

  private static let ways: [Way] = [
    Way(name: "8 bits", format: .i420, interpolation: .linear, least: 57),
    Way(name: "8 bits", format: .i420, interpolation: .cubic, least: 57),
    Way(name: "8 bits", format: .i420, interpolation: .lanczos, least: 57),
    Way(name: "8 bits", format: .i420, interpolation: .nearest, least: 60),
    Way(name: "10 bits", format: .i42010, interpolation: .linear, least: 61),
    Way(name: "10 bits", format: .i42010, interpolation: .cubic, least: 61),
    Way(name: "12 bits", format: .planar(depth: 12), interpolation: .linear, least: 61),
    Way(name: "NV12", format: .nv12, interpolation: .linear, least: 54),
    Way(name: "P010", format: .p010, interpolation: .linear, least: 61),
    Way(name: "P010", format: .p010, interpolation: .cubic, least: 61),
    Way(
      name: "4:2:2", format: .planar(horizontalSubsampling: 2, verticalSubsampling: 1),
      interpolation: .linear, least: 57),
    Way(name: "quadruples", format: .quadruples, interpolation: .linear, least: 57),
  ]

  @Test(
    "a view of a sphere is as good as rounding allows, moving or not", .tags(.long),
    arguments: ways.sampled(4)
  )
  func quality(way: Way) throws {
    let source = try sphere(1024, 512)
    let target = try flat(400, 224, 70)
    let picture = TestPicture(way.format, width: 1024, height: 512)
    picture.fillWithNoise()
    for view in Self.views {
      // The third time, the coordinates are kept.
      for times in [1, 3] {
        let drawn = try draw(
          source, picture, target, view, settings(way.interpolation), times: times)
        let reference = Reference(
          source: source, target: target, orientation: view, interpolation: way.interpolation)
        for plane in way.format.planes.indices {
          let (decibels, count) = reference.quality(of: drawn, from: picture, plane: plane)
          // Of a picture as small as this, the tiles of a moving view are wide.
          #expect(
            decibels >= way.least - (times == 1 ? 5 : 0),
            "\(view) plane \(plane), drawn \(times) times")
          #expect(count > 10_000)
        }
      }
    }
  }

  @Test("every projection is drawn from and drawn", .tags(.long), arguments: everyGeometry.indices)
  func everyProjection(index: Int) throws {
    let (projection, width, height) = everyGeometry[index]
    // The reference knows no padding.
    if case .cubemap(_, let padding) = projection, padding > 0 { return }
    let geometry = try PictureGeometry(projection, width: width, height: height)
    let view = SphereOrientation(yaw: 12, pitch: -7, roll: 3)
    let picture = TestPicture(.gray8, width: width, height: height)
    picture.fillWithNoise()
    let target = try flat(320, 240, 60)
    let drawn = try draw(geometry, picture, target, view, settings(), times: 3)
    let (decibels, count) = Reference(source: geometry, target: target, orientation: view)
      .quality(of: drawn, from: picture, plane: 0)
    #expect(decibels > 55 && count > 50_000, "from \(projection)")

    let world = try sphere(1024, 512)
    let map = TestPicture(.gray8, width: 1024, height: 512)
    map.fillWithNoise()
    let made = try draw(world, map, geometry, view, settings(), times: 3)
    let (quality, samples) = Reference(source: world, target: geometry, orientation: view)
      .quality(of: made, from: map, plane: 0)
    #expect(quality > 55 && samples > 50_000, "to \(projection)")
  }

  @Test("directions outside a picture are black")
  func outside() throws {
    let source = try PictureGeometry(.fisheye(FisheyeLens()), width: 200, height: 200)
    let picture = TestPicture(.i420, width: 200, height: 200)
    picture.fill { _, _, _, _ in 200 }
    let target = try sphere(400, 200)
    let drawn = try draw(source, picture, target, .front, settings())
    #expect(drawn[0, 5, 100, 0] == 16 && drawn[1, 2, 50, 0] == 128 && drawn[2, 2, 50, 0] == 128)
    #expect(drawn[0, 200, 100, 0] == 200 && drawn[1, 100, 50, 0] == 200)
  }

  @Test("the seam is not seen: turned by half, the view is that of the picture rolled by half")
  func seam() throws {
    let source = try sphere(512, 256)
    let target = try flat(240, 136)
    let picture = TestPicture(.i420, width: 512, height: 256)
    picture.fillWithNoise()
    let rolled = TestPicture(.i420, width: 512, height: 256)
    rolled.fill { plane, x, y, component in
      let columns = picture.columns(plane)
      return Double(picture[plane, (x + columns / 2) % columns, y, component])
    }
    for interpolation in [Interpolation.linear, .cubic, .lanczos] {
      let across = try draw(
        source, picture, target, SphereOrientation(yaw: 180), settings(interpolation),
        times: 3)
      let plain = try draw(source, rolled, target, .front, settings(interpolation), times: 3)
      #expect(across.largestDifference(plain) <= 1)
    }
  }

  @Test("an eye takes no pixels of the other one beside or below it")
  func eyes() throws {
    let frame = TestPicture(.i420, width: 256, height: 256)
    for isBeside in [true, false] {
      frame.fill { plane, x, y, _ in
        let isFirst =
          isBeside
          ? x < frame.columns(plane) / 2 : y < frame.planes[plane].rows / 2
        return isFirst ? 255 : 0
      }
      for antialias in [false, true] {
        let eye = try PictureGeometry(
          .equirectangular(.full), width: isBeside ? 128 : 256, height: isBeside ? 256 : 128)
        let target = try flat(64, 48, 100)
        let reprojector = try Reprojector(
          source: eye, format: .i420, settings: settings(.lanczos, antialias: antialias))
        let drawn = [0, 1].map { _ in TestPicture(.i420, width: 64, height: 48) }
        for view in Self.views {
          let pictures = [0, 1].map { index in
            Reprojector.Picture(
              source: frame.planes.map { plane in
                isBeside
                  ? plane.part(
                    x: index * plane.rowBytes / 2, y: 0, rowBytes: plane.rowBytes / 2,
                    rows: plane.rows)
                  : plane.part(
                    x: 0, y: index * plane.rows / 2, rowBytes: plane.rowBytes,
                    rows: plane.rows / 2)
              }, target: drawn[index].planes)
          }
          try reprojector.draw(target, view, pictures)
          for plane in 0..<3 {
            for y in 0..<drawn[0].planes[plane].rows {
              for x in 0..<drawn[0].columns(plane) {
                #expect(drawn[0][plane, x, y, 0] == 255 && drawn[1][plane, x, y, 0] == 0)
              }
            }
          }
        }
      }
    }
  }

  @Test("the same picture in different formats gives the same result")
  func formats() throws {
    let source = try sphere(512, 256)
    let target = try flat(200, 120)
    func drawn(_ format: PictureFormat) throws -> TestPicture {
      let picture = TestPicture(format, width: 512, height: 256)
      picture.fillWithNoise()
      return try draw(
        source, picture, target, SphereOrientation(yaw: 160, pitch: 30), settings())
    }
    let planar = try drawn(.i420)
    let pairs = try drawn(.nv12)
    let tenBits = try drawn(.i42010)
    let high = try drawn(.p010)
    for y in 0..<60 {
      for x in 0..<100 {
        for component in 0..<2 {
          #expect(abs(planar[1 + component, x, y, 0] - pairs[1, x, y, component]) <= 1)
          #expect(abs(tenBits[1 + component, x, y, 0] - high[1, x, y, component]) <= 2)
          #expect(abs(planar[1 + component, x, y, 0] * 4 - tenBits[1 + component, x, y, 0]) <= 5)
        }
        #expect(tenBits[0, x, y, 0] == high[0, x, y, 0])
      }
    }
  }

  @Test("padded rows, odd sizes and many threads change nothing")
  func layouts() throws {
    for (width, height) in [(512, 256), (333, 171), (2, 2), (1, 1), (7, 9), (600, 1)] {
      let source = try sphere(width, height)
      let target = try flat(123, 77)
      for format in [PictureFormat.i420, .nv12, .i42010, .quadruples] {
        let picture = TestPicture(format, width: width, height: height)
        picture.fillWithNoise()
        let padded = TestPicture(format, width: width, height: height, padding: 12)
        padded.fillWithNoise()
        let odd = TestPicture(format, width: width, height: height, padding: 3)
        odd.fillWithNoise()
        for interpolation in Interpolation.allCases {
          let view = SphereOrientation(yaw: 170, pitch: 40)
          let plain = try draw(source, picture, target, view, settings(interpolation))
          let other = try draw(
            source, padded, target, view, settings(interpolation, threads: 3), padding: 5)
          #expect(plain.largestDifference(other) == 0, "\(width) \(interpolation)")
          // Rows that begin at any byte go the slow way. The nearest sample may be another one
          // where two are as near.
          guard interpolation != .nearest else { continue }
          let slow = try draw(source, odd, target, view, settings(interpolation))
          #expect(
            plain.largestDifference(slow) <= 2,
            "\(width) by \(height) \(interpolation)")
        }
      }
    }
  }

  @Test(
    "in any view, each sample equals sampling in double precision",
    .tags(.long))
  func everywhere() throws {
    let sources: [PictureGeometry] = [
      try sphere(512, 256),
      try PictureGeometry(.equirectangular(.frontHalf), width: 301, height: 301),
      try PictureGeometry(.fisheye(FisheyeLens()), width: 256, height: 256),
    ]
    var random = SystemRandomNumberGenerator()
    func within(_ range: ClosedRange<Double>) -> Double { .random(in: range, using: &random) }
    for (index, source) in sources.enumerated() {
      let picture = TestPicture(.i420, width: source.width, height: source.height)
      // As smooth across the seam and the poles as elsewhere.
      picture.fill { plane, x, y, _ in
        let turn = 2 * Double.pi * Double(x) / Double(picture.columns(plane))
        let height = Double.pi * (Double(y) + 0.5) / Double(picture.planes[plane].rows)
        return 128 + 100 * sin(3 * turn + Double(plane)) * sin(height)
      }
      for _ in 0..<20 {
        let target = try flat(333, 187, within(30...150))
        let view = SphereOrientation(
          yaw: within(-180...180), pitch: within(-90...90), roll: within(-180...180))
        let drawn = try draw(source, picture, target, view, settings(threads: 2), times: 3)
        let reference = Reference(source: source, target: target, orientation: view)
        for plane in 0..<3 {
          // Where a picture ends, either its last sample or what is around it is right.
          let isGood =
            index == 0
            ? reference.largestError(of: drawn, from: picture, plane: plane) <= 2
            : reference.quality(of: drawn, from: picture, plane: plane).decibels > 45
          #expect(isGood, "plane \(plane) \(source.projection) \(view) \(target)")
        }
      }
    }
  }

  @Test("pictures wider than 16-bit integers count are drawn")
  func wide() throws {
    let source = try PictureGeometry(.equirectangular(.full), width: 40000, height: 16)
    let picture = TestPicture(.gray8, width: 40000, height: 16)
    picture.fill { _, x, _, _ in Double(x) * 200 / 40000 + 20 }
    let target = try flat(200, 100)
    let drawn = try draw(source, picture, target, .front, settings())
    let (decibels, _) = Reference(source: source, target: target, orientation: .front)
      .quality(of: drawn, from: picture, plane: 0)
    #expect(decibels > 57)
  }

  @Test("chroma lies at its declared site", arguments: [ChromaSite.left, .centre, .topLeft])
  func chromaSite(site: ChromaSite) throws {
    let source = try sphere(400, 200)
    let picture = TestPicture(.i420, width: 400, height: 200)
    // Steep enough that half a luma sample is seen.
    picture.fill { _, x, y, _ in Double((x % 50) * 3 + (y % 25) * 4) }
    let target = try flat(120, 90, 40)
    var settings = settings()
    settings.chromaSite = site
    let view = SphereOrientation(yaw: 5, pitch: 4)
    let drawn = try draw(source, picture, target, view, settings)
    for other in [ChromaSite.left, .centre, .topLeft] {
      var reference = Reference(source: source, target: target, orientation: view)
      reference.site = other
      let (decibels, _) = reference.quality(of: drawn, from: picture, plane: 1)
      #expect((decibels > 50) == (other == site), "\(decibels)")
    }
  }

  @Test("detail finer than the view's pixels is averaged")
  func antialias() throws {
    let source = try sphere(2048, 1024)
    let picture = TestPicture(.i420, width: 2048, height: 1024)
    picture.fill { _, x, y, _ in (x + y) % 2 == 0 ? 20 : 220 }
    let target = try flat(128, 96)
    for threads in [1, 2] {
      let drawn = try draw(
        source, picture, target, SphereOrientation(yaw: 170, pitch: 10),
        settings(antialias: true, threads: threads), times: 2)
      let plain = try draw(
        source, picture, target, SphereOrientation(yaw: 170, pitch: 10), settings())
      var (spread, plainSpread) = (0, 0)
      for y in 0..<96 {
        for x in 0..<128 {
          spread = max(spread, abs(drawn[0, x, y, 0] - 120))
          plainSpread = max(plainSpread, abs(plain[0, x, y, 0] - 120))
        }
      }
      #expect(spread <= 2 && plainSpread > 60, "\(spread) \(plainSpread)")
    }
  }

  @Test("planes that are too small are refused")
  func refusals() throws {
    let source = try sphere(64, 32)
    let target = try flat(32, 16)
    let reprojector = try Reprojector(source: source, format: .i420)
    let good = TestPicture(.i420, width: 64, height: 32)
    let small = TestPicture(.i420, width: 62, height: 32)
    let drawn = TestPicture(.i420, width: 32, height: 16)
    #expect(throws: ReprojectionError.self) {
      try reprojector.draw(
        target, .front, [Reprojector.Picture(source: small.planes, target: drawn.planes)])
    }
    #expect(throws: ReprojectionError.self) {
      try reprojector.draw(
        target, .front, [Reprojector.Picture(source: good.planes, target: [drawn.planes[0]])])
    }
    try reprojector.draw(
      target, SphereOrientation(yaw: .nan, pitch: .infinity),
      [Reprojector.Picture(source: good.planes, target: drawn.planes)])
  }
}
