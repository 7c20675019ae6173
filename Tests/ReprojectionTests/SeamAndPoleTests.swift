// SPDX-License-Identifier: MPL-2.0

import Reprojection
import StereoVideo
import TestKit
import Testing

/// Views over the edge where a picture of the whole sphere closes, and of its poles, while they
/// move and while they stay.
struct SeamAndPoleTests {
  private static let flat = Result {
    try PictureGeometry(.rectilinear(horizontalFieldOfView: 80), width: 320, height: 180)
  }

  /// The last of some drawings of the same view.
  private func draw(
    _ picture: TestPicture, of eye: PictureGeometry, _ planes: [[PlaneView]],
    _ view: SphereOrientation, times: Int
  ) throws -> [TestPicture] {
    var settings = Reprojector.Settings()
    settings.antialias = false
    let reprojector = try Reprojector(source: eye, format: picture.format, settings: settings)
    let drawn = planes.map { _ in TestPicture(picture.format, width: 320, height: 180) }
    for _ in 0..<times {
      try reprojector.draw(
        try Self.flat.get(), view,
        zip(planes, drawn).map { Reprojector.Picture(source: $0, target: $1.planes) })
    }
    return drawn
  }

  struct Source: Sendable, CustomTestStringConvertible {
    let name: String
    let format: PictureFormat
    let width: Int
    var testDescription: String { "\(name), \(width) columns" }
  }

  private static let sources = [
    Source(name: "I420", format: .i420, width: 512),
    Source(name: "NV12", format: .nv12, width: 512),
    Source(name: "I420_10LE", format: .i42010, width: 512),
    Source(name: "I420", format: .i420, width: 92),
    // With half a sample of chroma at the edge.
    Source(name: "GRAY8", format: .gray8, width: 254),
  ]

  @Test(
    "wherever the seam lies, the view equals that of the rolled picture", arguments: sources
  )
  func seam(source: Source) throws {
    let (width, height) = (source.width, 256)
    let sphere = try PictureGeometry(.equirectangular(.full), width: width, height: height)
    let picture = TestPicture(source.format, width: width, height: height)
    picture.fillWithNoise()
    let rolled = TestPicture(source.format, width: width, height: height)
    rolled.fill { plane, x, y, component in
      let columns = picture.columns(plane)
      let value = picture[plane, (x + columns / 2) % columns, y, component]
      return Double(value) / Double(1 << (source.format.planes[plane].depth - 8))
    }
    for yaw in [180.0, 150, -145] {
      for (pitch, roll) in [(0.0, 0.0), (3, 90), (-20, 180), (40, -30)] {
        for times in [1, 3] {
          let view = SphereOrientation(yaw: yaw, pitch: pitch, roll: roll)
          let turned = SphereOrientation(yaw: yaw - 180, pitch: pitch, roll: roll)
          let across = try draw(picture, of: sphere, [picture.planes], view, times: times)
          let plain = try draw(rolled, of: sphere, [rolled.planes], turned, times: times)
          let difference = across[0].largestDifference(plain[0])
          #expect(difference <= 1.5, "\(view), drawn \(times) times")
        }
      }
    }
  }

  @Test("an eye's last column is followed by its own first one, not the other eye's")
  func eyes() throws {
    let frame = TestPicture(.i420, width: 512, height: 128)
    frame.fill { plane, x, _, _ in x < frame.columns(plane) / 2 ? 40 : 220 }
    let eye = try PictureGeometry(.equirectangular(.full), width: 256, height: 128)
    let halves = [0, 1].map { index in
      frame.planes.map { plane in
        plane.part(
          x: index * plane.rowBytes / 2, y: 0, rowBytes: plane.rowBytes / 2, rows: plane.rows)
      }
    }
    for view in [SphereOrientation(yaw: 180), SphereOrientation(yaw: 90, pitch: 85, roll: 20)] {
      for times in [1, 3] {
        let drawn = try draw(frame, of: eye, halves, view, times: times)
        for (eye, value) in zip(drawn, [40, 220]) {
          let isPure = [0, 1, 2].allSatisfy { plane in
            (0..<eye.planes[plane].rows).allSatisfy { y in
              (0..<eye.columns(plane)).allSatisfy { abs(eye[plane, $0, y, 0] - value) <= 1 }
            }
          }
          #expect(isPure, "\(view) \(value)")
        }
      }
    }
  }

  @Test(
    "a view that moves past a pole is as good as any", .tags(.long),
    arguments: [
      SphereOrientation(pitch: 90), SphereOrientation(yaw: 30, pitch: 60),
      SphereOrientation(yaw: 200, pitch: -80, roll: 70),
    ])
  func pole(view: SphereOrientation) throws {
    let (width, height) = (1920, 960)
    let sphere = try PictureGeometry(.equirectangular(.full), width: width, height: height)
    let target = try PictureGeometry(
      .rectilinear(horizontalFieldOfView: 90), width: 960, height: 540)
    for format in [PictureFormat.i420, .i42010] {
      let picture = TestPicture(format, width: width, height: height)
      picture.fillWithNoise()
      let drawn = TestPicture(format, width: 960, height: 540)
      var settings = Reprojector.Settings()
      settings.antialias = false
      let reprojector = try Reprojector(source: sphere, format: format, settings: settings)
      try reprojector.draw(
        target, view, [Reprojector.Picture(source: picture.planes, target: drawn.planes)])
      let reference = Reference(source: sphere, target: target, orientation: view)
      for plane in format.planes.indices {
        let (decibels, _) = reference.quality(of: drawn, from: picture, plane: plane)
        #expect(decibels > 57, "plane \(plane) of \(format.planes[plane].depth) bits")
      }
    }
  }
}
