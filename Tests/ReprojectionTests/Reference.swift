// SPDX-License-Identifier: MPL-2.0

import Glibc
import Reprojection
import StereoVideo

/// Sampling in double precision, position by position.
struct Reference {
  let source: PictureGeometry
  let target: PictureGeometry
  let orientation: SphereOrientation
  var interpolation = Interpolation.linear
  var site = ChromaSite.left

  /// The peak signal-to-noise ratio of a drawn plane, in dB, and how many samples were compared.
  func quality(
    of drawn: TestPicture, from picture: TestPicture, plane: Int
  ) -> (decibels: Double, count: Int) {
    var (sum, count) = (0.0, 0)
    forEachError(of: drawn, from: picture, plane: plane) { error in
      sum += error * error
      count += 1
    }
    let peak = Double((1 << drawn.format.planes[plane].depth) - 1)
    return (10 * log10(peak * peak * Double(count) / max(sum, 1e-9)), count)
  }

  /// How far the worst sample of a drawn plane is off.
  func largestError(of drawn: TestPicture, from picture: TestPicture, plane: Int) -> Double {
    var largest = 0.0
    forEachError(of: drawn, from: picture, plane: plane) { largest = max(largest, abs($0)) }
    return largest
  }

  private func forEachError(
    of drawn: TestPicture, from picture: TestPicture, plane: Int, _ body: (Double) -> Void
  ) {
    let layout = drawn.format.planes[plane]
    let rotation = Rotation(view: orientation)
    for y in 0..<drawn.planes[plane].rows {
      for x in 0..<drawn.columns(plane) {
        let place = PicturePosition(
          x: Double(x * layout.horizontalSubsampling) + offset(layout).x,
          y: Double(y * layout.verticalSubsampling) + offset(layout).y)
        guard let ray = target.direction(of: place) else { continue }
        let position = source.position(of: rotation(ray))
        for component in 0..<layout.components {
          let expected: Double
          if let position {
            guard let value = value(picture, plane, component, at: position) else { continue }
            expected = value
          } else {
            // At the very edge either is right.
            guard !isNearEdge(place, rotation) else { continue }
            expected = Double(layout.fill[component])
          }
          body(expected - Double(drawn[plane, x, y, component]))
        }
      }
    }
  }

  private func isNearEdge(_ place: PicturePosition, _ rotation: Rotation) -> Bool {
    for (x, y) in [(-0.02, 0.0), (0.02, 0), (0, -0.02), (0, 0.02)] {
      let near = PicturePosition(x: place.x + x, y: place.y + y)
      guard let ray = target.direction(of: near) else { return true }
      if source.position(of: rotation(ray)) != nil { return true }
    }
    return false
  }

  private func offset(_ layout: PictureFormat.Plane) -> (x: Double, y: Double) {
    (
      layout.horizontalSubsampling == 1 || site.isOnLeft ? 0 : 0.5,
      layout.verticalSubsampling == 1 || site.isOnTop ? 0 : 0.5
    )
  }

  /// Nil near the edges of a cube's faces, where what counts as a neighbour is a matter of taste.
  private func value(
    _ picture: TestPicture, _ plane: Int, _ component: Int, at position: PicturePosition
  ) -> Double? {
    let layout = picture.format.planes[plane]
    let x = (position.x - offset(layout).x) / Double(layout.horizontalSubsampling)
    let y = (position.y - offset(layout).y) / Double(layout.verticalSubsampling)
    let (columns, rows) = (picture.columns(plane), picture.planes[plane].rows)
    var isSphere = false
    switch source.projection {
    case .equirectangular(.full): isSphere = true
    case .cubemap:
      let face = Double(columns) / 3
      let (s, t) = (
        (x + 0.5).truncatingRemainder(dividingBy: face),
        (y + 0.5).truncatingRemainder(dividingBy: Double(rows) / 2)
      )
      guard s > 4, s < face - 4, t > 4, t < Double(rows) / 2 - 4 else { return nil }
    default: break
    }
    if interpolation == .nearest {
      // Halfway between two samples either is right.
      let parts = [x - x.rounded(.down), y - y.rounded(.down)]
      guard parts.allSatisfy({ abs($0 - 0.5) > 0.05 }) else { return nil }
    }
    let (column, line) = (x.rounded(.down), y.rounded(.down))
    let across = interpolation.weights(x - column)
    let down = interpolation.weights(y - line)
    let before = interpolation.reach.before
    var sum = 0.0
    for (row, weightY) in down.enumerated() {
      for (tap, weightX) in across.enumerated() {
        var (h, v) = (Int(column) + tap - before, Int(line) + row - before)
        if isSphere {
          if v < 0 || v >= rows {
            v = v < 0 ? -1 - v : 2 * rows - 1 - v
            h += columns / 2
          }
          h = ((h % columns) + columns) % columns
        }
        h = min(max(h, 0), columns - 1)
        v = min(max(v, 0), rows - 1)
        sum += Double(picture[plane, h, v, component]) * weightX * weightY
      }
    }
    return min(max(sum, 0), Double((1 << layout.depth) - 1))
  }
}
