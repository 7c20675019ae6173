// SPDX-License-Identifier: MPL-2.0

public import StereoVideo

/// The direction of each pixel of a picture, and the position in the picture of each direction.
public struct PictureGeometry: Sendable {
  /// How the picture maps onto the surroundings.
  public let projection: Projection
  /// Size in pixels, 1 to 65,536.
  public let width, height: Int
  /// The width of a pixel divided by its height.
  public let pixelAspectRatio: Double
  let shape: Shape
  /// The parts of the picture in which neighbouring pixels show neighbouring directions.
  let charts: [Chart]
  /// The chart of each cube cell; a single entry for all other pictures.
  let chartOfCell: [Int]

  /// Creates the geometry of one eye's picture.
  ///
  /// - Throws: `GeometryError` if the projection cannot be computed: for parameters that are not
  ///   finite or out of range, or a lens that shows nothing.
  public init(
    _ projection: Projection, width: Int, height: Int, pixelAspectRatio: Double = 1
  ) throws(GeometryError) {
    guard (1...65536).contains(width), (1...65536).contains(height) else {
      throw GeometryError("a picture of \(width) by \(height) pixels; each must be from 1 to 65536")
    }
    guard pixelAspectRatio.isFinite, pixelAspectRatio > 0.001, pixelAspectRatio < 1000 else {
      throw GeometryError(
        "a pixel aspect ratio of \(pixelAspectRatio); must be above 0.001 and below 1000")
    }
    (self.projection, self.width, self.height) = (projection, width, height)
    self.pixelAspectRatio = pixelAspectRatio
    let size = PictureSize(Double(width), Double(height), pixelAspectRatio)
    var charts = [Chart(left: 0, top: 0, right: width - 1, bottom: height - 1)]
    switch projection {
    case .rectilinear(let fieldOfView):
      shape = .rectilinear(try RectilinearShape(horizontalFieldOfView: fieldOfView, size))
    case .equirectangular(let bounds):
      let map = try EquirectangularShape(bounds, size)
      shape = .equirectangular(map)
      charts[0].wraps = map.coversFullTurn
      charts[0].crossesPoles = map.coversFullTurn && bounds.top == 0 && bounds.bottom == 0
    case .fisheye(let lens):
      shape = .fisheye(try FisheyeShape(lens, size))
    case .parametric(let lens):
      shape = .parametric(try ParametricShape(lens, size))
    case .cubemap(let layout, let padding):
      let cube = try CubemapShape(layout, padding: padding, width: width, height: height)
      shape = .cubemap(cube)
      charts = cube.charts
    }
    self.charts = charts
    if case .cubemap(let cube) = shape {
      chartOfCell = cube.faces.map(\.chart)
    } else {
      chartOfCell = [0]
    }
  }

  /// Returns the direction at a position, which may lie outside the picture; nil if nothing is
  /// shown there.
  public func direction(of position: PicturePosition) -> Direction? {
    guard position.x.isFinite, position.y.isFinite else { return nil }
    switch shape {
    case .rectilinear(let shape): return shape.direction(of: position)
    case .equirectangular(let shape): return shape.direction(of: position)
    case .fisheye(let shape): return shape.direction(of: position)
    case .parametric(let shape): return shape.direction(of: position)
    case .cubemap(let shape): return shape.direction(of: position)
    }
  }

  /// Returns the position at which a direction is seen; nil if it is not in the picture.
  public func position(of direction: Direction) -> PicturePosition? {
    guard let direction = direction.normalized else { return nil }
    let position =
      switch shape {
      case .rectilinear(let shape): shape.position(of: direction)
      case .equirectangular(let shape): shape.position(of: direction)
      case .fisheye(let shape): shape.position(of: direction)
      case .parametric(let shape): shape.position(of: direction)
      case .cubemap(let shape): shape.position(of: direction)?.position
      }
    guard let position, position.x >= -0.5, position.x <= Double(width) - 0.5,
      position.y >= -0.5, position.y <= Double(height) - 0.5
    else { return nil }
    return position
  }

  enum Shape: Sendable {
    case rectilinear(RectilinearShape)
    case equirectangular(EquirectangularShape)
    case fisheye(FisheyeShape)
    case parametric(ParametricShape)
    case cubemap(CubemapShape)
  }
}

/// A rectangle of pixels; the edges are inclusive.
struct Chart: Hashable, Sendable {
  var left, top, right, bottom: Int
  /// Whether the left edge follows the right one.
  var wraps = false
  /// Whether the row above the first one is the first one, half a turn further; likewise at the
  /// bottom.
  var crossesPoles = false
}

struct PictureSize {
  let width, height, pixelAspectRatio: Double

  init(_ width: Double, _ height: Double, _ pixelAspectRatio: Double) {
    (self.width, self.height, self.pixelAspectRatio) = (width, height, pixelAspectRatio)
  }
}

extension PictureGeometry {
  /// Returns the positions of eight directions. Those outside the picture have no bits of
  /// `isInside` set and any finite position.
  package func positions(of rays: Rays) -> Positions {
    var positions =
      switch shape {
      case .rectilinear(let shape): shape.positions(of: rays)
      case .equirectangular(let shape): shape.positions(of: rays)
      case .fisheye(let shape): shape.positions(of: rays)
      case .parametric(let shape): shape.positions(of: rays)
      case .cubemap(let shape): shape.positions(of: rays)
      }
    // Within half a pixel of the outermost pixel centres; NaN is outside.
    let (halfWidth, halfHeight) = (Float(width) / 2, Float(height) / 2)
    positions.isInside &= isBelow(halfWidth * 1.000_001, positions.x - (halfWidth - 0.5))
    positions.isInside &= isBelow(halfHeight * 1.000_001, positions.y - (halfHeight - 0.5))
    let isInRange = isBelow(0x1p20, positions.x) & isBelow(0x1p20, positions.y)
    positions.x = floats(bits(positions.x) & isInRange)
    positions.y = floats(bits(positions.y) & isInRange)
    return positions
  }

  /// Returns the directions of eight positions in a row, from left to right.
  package func rays(x: Floats, y: Float) -> Rays {
    let rays: Rays? =
      switch shape {
      case .rectilinear(let shape): shape.rays(x: x, y: y)
      case .equirectangular(let shape): shape.rays(x: x, y: y)
      case .fisheye(let shape): shape.rays(x: x, y: y)
      case .cubemap(let shape): shape.rays(x: x, y: y)
      case .parametric: nil
      }
    return rays ?? raysIndividually(x: x, y: y)
  }

  private func raysIndividually(x: Floats, y: Float) -> Rays {
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

/// Why no picture can have a projection and size.
public struct GeometryError: Error, Hashable, CustomStringConvertible {
  /// The invalid parameter and, if it has a range, the range.
  public let description: String

  init(_ description: String) { self.description = description }
}
