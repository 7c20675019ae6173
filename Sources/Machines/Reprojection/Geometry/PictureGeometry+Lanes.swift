// SPDX-License-Identifier: MPL-2.0

extension PictureGeometry {
  /// Where eight directions lie. Those outside the picture have no bit of `isInside`, and any
  /// finite position.
  package func positions(of rays: Rays) -> Positions {
    var positions =
      switch shape {
      case .rectilinear(let shape): shape.positions(of: rays)
      case .equirectangular(let shape): shape.positions(of: rays)
      case .fisheye(let shape): shape.positions(of: rays)
      case .parametric(let shape): shape.positions(of: rays)
      case .cubemap(let shape): shape.positions(of: rays)
      }
    // Within half a pixel of the outermost ones; all that is no number is outside.
    let (halfWidth, halfHeight) = (Float(width) / 2, Float(height) / 2)
    positions.isInside &= isBelow(halfWidth * 1.000_001, positions.x - (halfWidth - 0.5))
    positions.isInside &= isBelow(halfHeight * 1.000_001, positions.y - (halfHeight - 0.5))
    let isSane = isBelow(0x1p20, positions.x) & isBelow(0x1p20, positions.y)
    positions.x = floats(bits(positions.x) & isSane)
    positions.y = floats(bits(positions.y) & isSane)
    return positions
  }

  /// What eight places in a row show, from left to right.
  package func rays(x: Floats, y: Float) -> Rays {
    let rays: Rays? =
      switch shape {
      case .rectilinear(let shape): shape.rays(x: x, y: y)
      case .equirectangular(let shape): shape.rays(x: x, y: y)
      case .fisheye(let shape): shape.rays(x: x, y: y)
      case .cubemap(let shape): shape.rays(x: x, y: y)
      case .parametric: nil
      }
    return rays ?? raysOneByOne(x: x, y: y)
  }

  private func raysOneByOne(x: Floats, y: Float) -> Rays {
    var rays = Rays(x: .zero, y: .zero, z: Floats(repeating: 1))
    for lane in 0..<8 {
      let position = PicturePosition(x: Double(x[lane]), y: Double(y))
      guard let direction = direction(of: position) else {
        rays.face[lane] = -1
        continue
      }
      rays.x[lane] = Float(direction.x)
      rays.y[lane] = Float(direction.y)
      rays.z[lane] = Float(direction.z)
      if case .cubemap(let shape) = shape {
        rays.face[lane] = Int32(truncatingIfNeeded: shape.cell(of: position))
      }
    }
    return rays
  }
}
