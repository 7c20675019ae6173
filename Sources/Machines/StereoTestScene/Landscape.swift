// SPDX-License-Identifier: MPL-2.0

internal import StereoVideo

/// What stands behind the objects: sky, mountains and a tiled floor, painted once, a margin wider
/// than the picture. A frame of an eye copies from each row, shifted by the row's depth.
struct Landscape: Sendable {
  private let geometry: SceneGeometry
  /// Columns, margins included; even.
  private let columns: Int
  /// By `Channel`. The subsampled ones hold two planes, of the even columns and of the odd ones,
  /// so that a shift by one pixel moves the chroma by one pixel too.
  private var planes: [[UInt8]]

  init(_ geometry: SceneGeometry) {
    self.geometry = geometry
    columns = (geometry.width + 2 * geometry.margin + 3) & ~1
    let (columns, height) = (columns, geometry.height)
    let painter = LandscapePainter(geometry, columns: columns)
    var planes = Channel.allCases.map { channel in
      let rows = channel.isSubsampled ? (height + 1) / 2 : height
      return [UInt8](repeating: 0, count: rows * columns)
    }
    for y in 0..<height {
      let colors = painter.row(y)
      for channel in Channel.allCases where !channel.isSubsampled {
        let start = y * columns
        for x in 0..<columns { planes[channel.rawValue][start + x] = colors[x].byte(channel) }
      }
      guard y.isMultiple(of: 2) else { continue }
      for channel in [Channel.cb, .cr] {
        let even = y / 2 * (columns / 2)
        let odd = planes[channel.rawValue].count / 2 + even
        for x in 0..<(columns / 2) {
          planes[channel.rawValue][even + x] = colors[2 * x].byte(channel)
          planes[channel.rawValue][odd + x] = colors[2 * x + 1].byte(channel)
        }
      }
    }
    self.planes = planes
  }

  func draw<Sample>(
    on canvas: Canvas<Sample>, channel: Channel, frame: Int, eye: Eye
  ) {
    planes[channel.rawValue].withUnsafeBufferPointer { plane in
      guard let base = plane.baseAddress else { return }
      for row in 0..<canvas.height {
        let first = firstColumn(row: row * canvas.spacing, frame: frame, eye: eye)
        if canvas.isSubsampled {
          let phase = first & 1 == 0 ? 0 : plane.count / 2
          canvas.copyRow(row, from: base + phase + row * (columns / 2) + first / 2)
        } else {
          canvas.copyRow(row, from: base + row * columns + first)
        }
      }
    }
  }

  /// The column of the landscape at the picture's left edge.
  private func firstColumn(row: Int, frame: Int, eye: Eye) -> Int {
    let shift =
      geometry.sway(row: row, frame: frame)
      + geometry.eyeShift(disparity: geometry.disparity(row: row), eye: eye)
    return min(max(0, geometry.margin - shift), 2 * geometry.margin)
  }
}
