// SPDX-License-Identifier: MPL-2.0

import StereoMedia
import Testing

/// ``SphereView``: windows into drawn surroundings whose every part says where it is.
struct SphereViewTests {
  private static let width = 720
  private static let height = 360

  /// Each 30 degrees of longitude have a red of their own, and each 30 of latitude a green.
  private func scene(_ format: PixelFormat, degrees: Int) throws -> Picture {
    let pool = try PicturePool(format: format, width: Self.width, height: Self.height)
    var picture = try pool.take()
    try picture.withPlane(0) { bytes, layout in
      for row in 0..<layout.rows {
        for column in 0..<Self.width {
          let longitude = column * degrees / Self.width - degrees / 2
          let latitude = 90 - row * 180 / Self.height
          let place = row * layout.stride + column * 4
          let colour = Self.colour(
            longitude: Double(longitude) + 0.1, latitude: Double(latitude) - 0.1)
          for (offset, value) in colour.enumerated() {
            bytes.storeBytes(of: value, toByteOffset: place + offset, as: UInt8.self)
          }
        }
      }
    }
    return Picture(picture)
  }

  private static func colour(longitude: Double, latitude: Double) -> [UInt8] {
    [
      UInt8((longitude / 30).rounded(.down) * 20 + 120),
      UInt8((latitude / 30).rounded(.down) * 40 + 120), 77, 255,
    ]
  }

  private func pixel(_ picture: Picture, _ x: Int, _ y: Int) throws -> [UInt8] {
    try picture.withPlane(0) { bytes, layout in
      (0..<4).map {
        bytes.unsafeLoad(fromByteOffset: y * layout.stride + x * 4 + $0, as: UInt8.self)
      }
    }
  }

  @Test(
    "points straight ahead, to the right and above are in the right places",
    arguments: [(0.0, 0.0), (90, 0), (-90, 0), (180, 0), (0, 45), (90, -45), (450, 0)])
  func sphere(yaw: Double, pitch: Double) async throws {
    let view = SphereView(yaw: yaw, pitch: pitch, fieldOfView: 50)
    let window = try view.render(
      try scene(.rgba, degrees: 360), .equirectangular, width: 200, height: 200)
    #expect((window.width, window.height) == (200, 200) && window.format == .rgba)
    let ahead = yaw.remainder(dividingBy: 360)
    // Straight ahead is where four parts meet, or two.
    for (side, x) in [(-10.0, 70), (10, 130)] {
      for (rise, y) in [(10.0, 62), (-10, 138)] {
        let wanted = Self.colour(
          longitude: (ahead + side).remainder(dividingBy: 360), latitude: pitch + rise)
        let found = try pixel(window, x, y)
        #expect(pitch == 0 ? found == wanted : found[0] == wanted[0] && found[2...] == wanted[2...])
        if pitch != 0 { #expect(found[1] == (pitch > 0 ? 160 : 40), "\(found)") }
      }
    }
  }

  @Test("half a sphere has its edges a quarter turn to each side")
  func halfSphere() throws {
    let scene = try scene(.rgba, degrees: 180)
    let ahead = try SphereView(fieldOfView: 50).render(
      scene, .halfEquirectangular, width: 200, height: 200)
    #expect(try pixel(ahead, 70, 62) == Self.colour(longitude: -10, latitude: 10))
    #expect(try pixel(ahead, 130, 62) == Self.colour(longitude: 10, latitude: 10))
    let edge = try SphereView(yaw: 90, fieldOfView: 50).render(
      scene, .halfEquirectangular, width: 200, height: 200)
    #expect(try pixel(edge, 70, 62) == Self.colour(longitude: 80, latitude: 10))
    #expect(try pixel(edge, 130, 62) == [0, 0, 0, 0])
  }

  @Test("views, sizes, formats and projections that cannot be drawn are refused")
  func refused() throws {
    let scene = try scene(.rgba, degrees: 360)
    for view in [
      SphereView(yaw: .nan), SphereView(pitch: .infinity), SphereView(fieldOfView: 0),
      SphereView(fieldOfView: 180), SphereView(fieldOfView: .nan), SphereView(fieldOfView: -1),
    ] {
      #expect(throws: StereoMediaError.self) {
        try view.render(scene, .equirectangular, width: 64, height: 64)
      }
    }
    for (width, height) in [(0, 5), (5, 0), (-1, 5), (.max, 5), (40_000, 2)] {
      #expect(throws: StereoMediaError.self) {
        try SphereView().render(scene, .equirectangular, width: width, height: height)
      }
    }
    #expect(throws: StereoMediaError.self) {
      try SphereView().render(scene, .parametric, width: 64, height: 64)
    }
    let rgb = try scene.converted(to: .rgb)
    #expect(throws: StereoMediaError.self) {
      try SphereView().render(rgb, .equirectangular, width: 64, height: 64)
    }
  }

  @Test(
    "each format of decoders is drawn, of odd sizes, too", arguments: ["I420", "NV12", "I420_10LE"])
  func formats(name: String) throws {
    let scene = try scene(.rgba, degrees: 360)
    let wanted = try SphereView(yaw: 90, fieldOfView: 50).render(
      scene, .equirectangular, width: 201, height: 201)
    let drawn = try SphereView(yaw: 90, fieldOfView: 50).render(
      try scene.converted(to: PixelFormat(rawValue: name)), .equirectangular, width: 201,
      height: 201)
    #expect(drawn.format.rawValue == name && (drawn.width, drawn.height) == (201, 201))
    let back = try drawn.converted(to: .rgba)
    for (x, y) in [(70, 62), (130, 62), (70, 138), (130, 138)] {
      let (one, other) = (try pixel(back, x, y), try pixel(wanted, x, y))
      #expect(zip(one, other).allSatisfy { abs(Int($0) - Int($1)) < 5 }, "\(one) \(other)")
    }
  }

  @Test("a picture becomes a file")
  func encoded() async throws {
    let scene = try scene(.rgba, degrees: 360)
    #expect(try await scene.encoded().starts(with: [0x89, 0x50, 0x4E, 0x47]))
    #expect(try await scene.encoded(as: .jpeg(80)).starts(with: [0xFF, 0xD8]))
  }
}
