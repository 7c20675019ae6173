// SPDX-License-Identifier: MPL-2.0

import Glibc
import Reprojection
import StereoVideo
import TestKit
import Testing

/// The geometry against FFmpeg's v360, by what it makes of ramps.
@Suite(.enabled(if: Judge.isThere, "no Python with PyAV and NumPy; see GST_SPATIAL_PYTHON"))
struct V360Tests {
  private static let views: [SphereOrientation] = [
    SphereOrientation(), SphereOrientation(yaw: 90), SphereOrientation(yaw: 180),
    SphereOrientation(yaw: -90), SphereOrientation(pitch: 90), SphereOrientation(pitch: -90),
    SphereOrientation(yaw: 30, pitch: 20, roll: 25),
  ]

  /// What v360 calls a projection, in a picture of some size.
  struct Case: Sendable, CustomTestStringConvertible {
    let name: String
    let projection: Projection
    let width, height: Int
    var testDescription: String { name }
  }

  private static let cases = [
    Case(name: "equirect", projection: .equirectangular(.full), width: 480, height: 240),
    Case(name: "hequirect", projection: .equirectangular(.frontHalf), width: 240, height: 240),
    Case(
      name: "fisheye:FOV=180", projection: .fisheye(FisheyeLens(fieldOfView: 180)), width: 240,
      height: 240),
    Case(
      name: "fisheye:FOV=220", projection: .fisheye(FisheyeLens(fieldOfView: 220)), width: 240,
      height: 240),
    Case(name: "c3x2", projection: .cubemap(.turned, padding: 0), width: 360, height: 240),
    Case(name: "eac", projection: .cubemap(.equiAngular, padding: 2), width: 364, height: 248),
    Case(
      name: "flat:h_fov=100:v_fov=100", projection: .rectilinear(horizontalFieldOfView: 100),
      width: 240, height: 240),
  ]

  /// How v360 says that the input, or the output, is `name`.
  private func argument(_ name: String, isInput: Bool) -> String {
    let parts = name.split(separator: ":", maxSplits: 1).map(String.init)
    let fields = parts.dropFirst().map { fields in
      let prefix = isInput ? "i" : ""
      return fields.split(separator: ":").map { field in
        field.hasPrefix("FOV=")
          ? "\(prefix)h_fov=\(field.dropFirst(4)):\(prefix)v_fov=\(field.dropFirst(4))"
          : prefix + field
      }.joined(separator: ":")
    }
    return ([(isInput ? "input=" : "output=") + parts[0]] + fields).joined(separator: ":")
  }

  @Test(
    "a view into a picture takes its pixels from where v360 does", .tags(.judge), arguments: cases)
  func inputs(source: Case) throws {
    let (width, height) = (160, 120)
    let vertical = 2 * atan(tan(Double.pi / 6) * 0.75) * 180 / .pi
    let filters = Self.views.map { view in
      argument(source.name, isInput: true)
        + ":output=flat:h_fov=60:v_fov=\(vertical)"
        + ":yaw=\(view.yaw):pitch=\(view.pitch):roll=\(view.roll)"
    }
    let target = try PictureGeometry(
      .rectilinear(horizontalFieldOfView: 60), width: width, height: height)
    let geometry = try PictureGeometry(
      source.projection, width: source.width, height: source.height)
    let judged = try Judge.coordinates(
      of: (width, height), from: (source.width, source.height), filters)
    for (view, judgement) in zip(Self.views, judged) {
      compare(source: geometry, target: target, view: view, judgement, source.name)
    }
  }

  @Test(
    "a picture made of a sphere's map takes its pixels from where v360 does", .tags(.judge),
    arguments: cases)
  func outputs(target: Case) throws {
    let (width, height) = (480, 240)
    let filters = Self.views.map { view in
      "input=equirect:" + argument(target.name, isInput: false)
        + ":yaw=\(view.yaw):pitch=\(view.pitch):roll=\(view.roll)"
    }
    let source = try PictureGeometry(.equirectangular(.full), width: width, height: height)
    let geometry = try PictureGeometry(
      target.projection, width: target.width, height: target.height)
    let judged = try Judge.coordinates(
      of: (target.width, target.height), from: (width, height), filters)
    for (view, judgement) in zip(Self.views, judged) {
      compare(source: source, target: geometry, view: view, judgement, target.name)
    }
  }

  private func compare(
    source: PictureGeometry, target: PictureGeometry, view: SphereOrientation,
    _ judgement: Judge.Coordinates, _ name: String
  ) {
    let rotation = Rotation(view: view)
    var compared = 0
    var (largest, sum) = (0.0, 0.0)
    for y in 0..<target.height {
      for x in 0..<target.width {
        let pixel = PicturePosition(x: Double(x), y: Double(y))
        guard !target.isPadding(pixel), let ray = target.direction(of: pixel),
          let position = source.position(of: rotation(ray)),
          let expected = source.likeV360(position)
        else { continue }
        let index = y * target.width + x
        compared += 1
        let errorX = abs(Double(judgement.x[index]) - expected.x)
        let errorY = abs(Double(judgement.y[index]) - expected.y)
        largest = max(largest, errorX, errorY)
        sum += errorX + errorY
      }
    }
    // What v360's own rounding leaves.
    #expect(largest < 0.06, "\(name) \(view)")
    #expect(compared == 0 || sum / Double(2 * compared) < 0.02, "\(name) \(view)")
    if view.pitch == 0 && view.yaw == 0 { #expect(compared > 5000, "\(name)") }
  }
}

extension PictureGeometry {
  /// The position in v360's convention, which takes the outermost pixels' centres for the edges
  /// where there are no faces; nil within two pixels of an edge, where v360 mixes in what lies
  /// beyond it.
  fileprivate func likeV360(_ position: PicturePosition) -> PicturePosition? {
    if case .cubemap = projection {
      return isInFace(position, margin: 2) ? position : nil
    }
    func scaled(_ x: Double, _ size: Int) -> Double? {
      guard x > 1.5, x < Double(size) - 2.5 else { return nil }
      return (x + 0.5) / Double(size) * Double(size - 1)
    }
    guard let x = scaled(position.x, width), let y = scaled(position.y, height) else { return nil }
    return PicturePosition(x: x, y: y)
  }

  /// Whether a position is in the padding around the faces of a cube, which v360 fills differently.
  fileprivate func isPadding(_ position: PicturePosition) -> Bool {
    guard case .cubemap = projection else { return false }
    return !isInFace(position, margin: 0)
  }

  /// Whether a position is in a face of a cube, at least `margin` pixels from its edges.
  private func isInFace(_ position: PicturePosition, margin: Double) -> Bool {
    guard case .cubemap(_, let padding) = projection else { return false }
    // Equi-angular faces touch within a row; the other layout is tested without padding.
    let inset = Double(padding)
    let faceWidth = (Double(width) - 2 * inset) / 3
    let x = (position.x + 0.5 - inset).truncatingRemainder(dividingBy: faceWidth)
    let y = (position.y + 0.5).truncatingRemainder(dividingBy: Double(height / 2)) - inset
    guard position.x + 0.5 < Double(width) - inset else { return false }
    return x > margin && x < faceWidth - margin && y > margin
      && y < Double(height / 2) - 2 * inset - margin
  }
}
