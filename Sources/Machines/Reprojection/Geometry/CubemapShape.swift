// SPDX-License-Identifier: MPL-2.0

internal import StereoVideo

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Darwin)
  internal import Darwin
#endif

/// The six faces of a cube, in a picture of three columns and two rows.
struct CubemapShape: Sendable {
  /// One face: the direction of its middle, and the directions of its rows and columns.
  struct Face: Sendable {
    let middle, along, down: Direction
    /// Middle of the face and half its size, in pixels.
    var centreX = 0.0, centreY = 0.0, halfWidth = 0.0, halfHeight = 0.0
    /// The chart of the picture that samples of the face may be taken from.
    var chart = 0
  }

  /// The faces in cell order, row by row.
  let faces: [Face]
  let charts: [Chart]
  private let isEquiAngular: Bool
  private let cellWidth, cellHeight: Double
  /// Cells of the right, left, down, up, front and back faces.
  private let cells: [Int]

  init(_ layout: CubemapLayout, padding: Int, width: Int, height: Int) throws(GeometryError) {
    let (columns, rows) = (width / 3, height / 2)
    let isEquiAngular = layout == .equiAngular
    // Equi-angular faces have no padding between them within a row.
    let inset = (0...4096).contains(padding) ? padding : -1
    let faceWidth =
      isEquiAngular ? (Double(width) - 2 * Double(inset)) / 3 : Double(columns - 2 * inset)
    let faceHeight = Double(rows - 2 * inset)
    guard inset >= 0, faceWidth >= 1, faceHeight >= 1 else {
      throw GeometryError(
        "a cube map of \(width) by \(height) pixels has no room for \(padding) pixels of padding")
    }
    self.isEquiAngular = isEquiAngular
    cellWidth = isEquiAngular ? faceWidth : Double(columns)
    cellHeight = Double(rows)
    var faces = Self.faces(layout)
    var charts: [Chart] = []
    for cell in faces.indices {
      let (column, row) = (cell % 3, cell / 3)
      faces[cell].halfWidth = faceWidth / 2
      faces[cell].halfHeight = faceHeight / 2
      faces[cell].centreY = (Double(row) + 0.5) * Double(rows) - 0.5
      faces[cell].centreX =
        isEquiAngular
        ? Double(inset) + (Double(column) + 0.5) * faceWidth - 0.5
        : (Double(column) + 0.5) * Double(columns) - 0.5
      faces[cell].chart = isEquiAngular ? row : cell
      if !isEquiAngular {
        charts.append(
          Chart(
            left: column * columns, top: row * rows, right: (column + 1) * columns - 1,
            bottom: (row + 1) * rows - 1))
      } else if column == 0 {
        charts.append(
          Chart(left: 0, top: row * rows, right: width - 1, bottom: (row + 1) * rows - 1))
      }
    }
    self.faces = faces
    self.charts = charts
    cells = Self.axes.map { axis in faces.firstIndex { $0.middle == axis } ?? 0 }
  }

  private static let right = Direction(x: 1, y: 0, z: 0)
  private static let left = Direction(x: -1, y: 0, z: 0)
  private static let down = Direction(x: 0, y: 1, z: 0)
  private static let up = Direction(x: 0, y: -1, z: 0)
  private static let front = Direction(x: 0, y: 0, z: 1)
  private static let back = Direction(x: 0, y: 0, z: -1)
  private static let axes = [right, left, down, up, front, back]

  private static func faces(_ layout: CubemapLayout) -> [Face] {
    switch layout {
    case .turned:
      [
        Face(middle: right, along: back, down: down), Face(middle: left, along: front, down: down),
        Face(middle: up, along: right, down: front), Face(middle: down, along: right, down: back),
        Face(middle: front, along: right, down: down), Face(middle: back, along: left, down: down),
      ]
    case .sphericalVideo:
      [
        Face(middle: right, along: back, down: down), Face(middle: left, along: front, down: down),
        Face(middle: up, along: left, down: back), Face(middle: down, along: left, down: front),
        Face(middle: front, along: right, down: down), Face(middle: back, along: left, down: down),
      ]
    case .equiAngular:
      [
        Face(middle: left, along: front, down: down), Face(middle: front, along: right, down: down),
        Face(middle: right, along: back, down: down), Face(middle: down, along: back, down: left),
        Face(middle: back, along: up, down: left), Face(middle: up, along: front, down: left),
      ]
    }
  }

  /// Returns the cell that contains a position, or the nearest one.
  func cell(of position: PicturePosition) -> Int {
    let left = isEquiAngular ? faces[0].centreX - faces[0].halfWidth : -0.5
    let column = max(0, min(2, ((position.x - left) / cellWidth).rounded(.down)))
    let row = max(0, min(1, ((position.y + 0.5) / cellHeight).rounded(.down)))
    return Int(row) * 3 + Int(column)
  }

  func direction(of position: PicturePosition) -> Direction? {
    let face = faces[cell(of: position)]
    var s = (position.x - face.centreX) / face.halfWidth
    var t = (position.y - face.centreY) / face.halfHeight
    if isEquiAngular {
      // Padding ends before 90 degrees from the middle.
      guard abs(s) < 1.9, abs(t) < 1.9 else { return nil }
      (s, t) = (tan(s * .pi / 4), tan(t * .pi / 4))
    }
    return Direction(
      x: face.middle.x + s * face.along.x + t * face.down.x,
      y: face.middle.y + s * face.along.y + t * face.down.y,
      z: face.middle.z + s * face.along.z + t * face.down.z)
  }

  func position(of direction: Direction) -> (position: PicturePosition, cell: Int)? {
    let (x, y, z) = (abs(direction.x), abs(direction.y), abs(direction.z))
    let axis: Int
    let depth: Double
    if z >= x, z >= y {
      (axis, depth) = (direction.z < 0 ? 5 : 4, z)
    } else if x >= y {
      (axis, depth) = (direction.x < 0 ? 1 : 0, x)
    } else {
      (axis, depth) = (direction.y < 0 ? 3 : 2, y)
    }
    guard depth > 0, depth.isFinite else { return nil }
    let face = faces[cells[axis]]
    var s =
      (direction.x * face.along.x + direction.y * face.along.y + direction.z * face.along.z) / depth
    var t =
      (direction.x * face.down.x + direction.y * face.down.y + direction.z * face.down.z) / depth
    if isEquiAngular { (s, t) = (atan(s) * 4 / .pi, atan(t) * 4 / .pi) }
    return (
      PicturePosition(
        x: face.centreX + s * face.halfWidth, y: face.centreY + t * face.halfHeight), cells[axis]
    )
  }

  func positions(of ray: Rays) -> Positions {
    var positions = Positions(x: .zero, y: .zero, isInside: .zero)
    for lane in 0..<8 {
      let direction = Direction(
        x: Double(ray.x[lane]), y: Double(ray.y[lane]), z: Double(ray.z[lane]))
      guard let (position, cell) = position(of: direction) else { continue }
      positions.x[lane] = Float(position.x)
      positions.y[lane] = Float(position.y)
      positions.isInside[lane] = -1
      positions.face[lane] = Int32(truncatingIfNeeded: cell)
    }
    return positions
  }

  /// Returns the directions of eight positions in a row; nil unless all are well within one cell.
  func rays(x: Floats, y: Float) -> Rays? {
    let cell = cell(of: PicturePosition(x: Double(x[0]), y: Double(y)))
    guard cell == self.cell(of: PicturePosition(x: Double(x[7]), y: Double(y))) else { return nil }
    let face = faces[cell]
    var s = (x - Float(face.centreX)) * Float(1 / face.halfWidth)
    var t = (Double(y) - face.centreY) / face.halfHeight
    if isEquiAngular {
      guard abs(s[0]) < 1.5, abs(s[7]) < 1.5, abs(t) < 1.5 else { return nil }
      let (sine, cosine) = sineAndCosine(s * (.pi / 4))
      (s, t) = (sine / cosine, tan(t * .pi / 4))
    }
    let (middle, along, down) = (face.middle, face.along, face.down)
    var rays = Rays(
      x: s * Float(along.x) + Float(middle.x + t * down.x),
      y: s * Float(along.y) + Float(middle.y + t * down.y),
      z: s * Float(along.z) + Float(middle.z + t * down.z))
    rays.face = Integers(repeating: Int32(truncatingIfNeeded: cell))
    return rays
  }
}
