// SPDX-License-Identifier: MPL-2.0

internal import StereoVideo

/// The background of the scene: sky, mountains and a tiled floor, painted once and wider than the
/// picture by a margin on each side. Drawing an eye's frame copies part of each row, shifted by the
/// row's disparity.
struct Landscape: Sendable {
  private let geometry: SceneGeometry
  /// Number of columns including margins; even.
  private let columns: Int
  /// Indexed by `Channel`. Subsampled channels have two planes, for even and for odd columns, so
  /// that chroma can be shifted by a single pixel too.
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

  /// Returns the column of the landscape at the picture's left edge.
  private func firstColumn(row: Int, frame: Int, eye: Eye) -> Int {
    let shift =
      geometry.sway(row: row, frame: frame)
      + geometry.eyeShift(disparity: geometry.disparity(row: row), eye: eye)
    return min(max(0, geometry.margin - shift), 2 * geometry.margin)
  }
}

/// Paints the rows of the landscape.
struct LandscapePainter {
  private let geometry: SceneGeometry
  private let columns: Int
  /// The top row of each mountain range in each column; the farther range first.
  private let ridges: [[Int]]

  private static let skyStops: [(at: Int, RGB)] = [
    (0, RGB(26, 30, 74)), (380, RGB(82, 66, 134)), (640, RGB(186, 98, 140)),
    (840, RGB(250, 150, 118)), (1024, RGB(255, 214, 150)),
  ]
  private static let haze = RGB(246, 176, 140)
  private static let mountainColors = [RGB(138, 92, 138), RGB(74, 58, 110)]

  init(_ geometry: SceneGeometry, columns: Int) {
    self.geometry = geometry
    self.columns = columns
    let unit = geometry.unit
    ridges = [(11, 3), (6, 7)].map { reach, seed in
      let coarse = Self.noise(0, columns, unit * 2 / 5, 1, UInt32(seed))
      let middle = Self.noise(0, columns, unit / 9, 1, UInt32(seed + 1))
      let fine = Self.noise(0, columns, unit / 30, 1, UInt32(seed + 2))
      return (0..<columns).map { x in
        let height = coarse[x] * 5 + middle[x] * 2 + fine[x] / 2
        return geometry.horizon - geometry.height * reach * height / (100 * 255 * 5)
      }
    }
  }

  private static func noise(
    _ y: Int, _ count: Int, _ cellWidth: Int, _ cellHeight: Int, _ seed: UInt32
  ) -> [Int] {
    IntegerNoise.row(
      y, count: count, cellWidth: max(1, cellWidth), cellHeight: max(1, cellHeight), seed: seed)
  }

  func row(_ y: Int) -> [RGB] {
    var colors = y < geometry.horizon ? sky(y) : floor(y)
    let grain = Self.noise(y, columns, geometry.unit / 270, geometry.unit / 270, 90)
    for x in 0..<columns {
      let speck = Int(IntegerNoise.hash(x, y, seed: 91) & 7)
      colors[x] = colors[x].lightened((grain[x] - 128) / 12 + speck - 4)
    }
    return colors
  }

  private func sky(_ y: Int) -> [RGB] {
    let unit = geometry.unit
    let depth = y * 1024 / geometry.horizon
    let air = Self.skyColor(depth)
    let large = Self.noise(y, columns, unit / 2, unit / 14, 20)
    let small = Self.noise(y, columns, unit / 7, unit / 40, 21)
    let mist = Self.noise(y, columns, unit / 12, unit / 12, 22)
    let starSize = max(1, unit / 400)
    return (0..<columns).map { x in
      if y >= ridges[1][x] {
        let low = (y - ridges[1][x]) * 256 / max(1, geometry.horizon - ridges[1][x])
        return Self.mountainColors[1].mixed(with: Self.haze, low / 3 + mist[x] / 8 - 16)
      }
      if y >= ridges[0][x] {
        let low = (y - ridges[0][x]) * 256 / max(1, geometry.horizon - ridges[0][x])
        return Self.mountainColors[0].mixed(with: Self.haze, low * 3 / 5 + mist[x] / 8 - 16)
      }
      let cloud = max(0, (large[x] * 5 + small[x] * 3) / 8 - 118) * 3
      let lit = RGB(255, 190, 160).mixed(with: air, 256 - depth / 5)
      var color = air.mixed(with: lit, cloud).mixed(with: RGB(255, 178, 158), cloud * depth / 2048)
      let star = IntegerNoise.hash(x / starSize, y / starSize, seed: 23)
      if star % 900 == 0, depth < 620 {
        color = color.mixed(with: RGB(255, 244, 224), Int(star >> 24) * (620 - depth) / 620)
      }
      return color
    }
  }

  private static func skyColor(_ depth: Int) -> RGB {
    var lower = skyStops[0]
    for upper in skyStops.dropFirst() {
      if depth < upper.at {
        return lower.1.mixed(with: upper.1, (depth - lower.at) * 256 / (upper.at - lower.at))
      }
      lower = upper
    }
    return lower.1
  }

  /// A tiled floor in perspective: both the distance of a row and the floor width of its pixels are
  /// inversely proportional to its rows below the horizon.
  private func floor(_ y: Int) -> [RGB] {
    let reach = geometry.height - geometry.horizon
    let below = 2 * (y - geometry.horizon) + 1
    let tile = 1 << 16
    // Seven tiles across the lower edge; the tiles look square where the floor is seen best.
    let pixel = tile * 7 * 2 * reach / (geometry.width * below)
    func distance(_ twiceBelow: Int) -> Int { tile * 7 * reach / max(1, twiceBelow) }
    let along = Self.stripe(from: distance(below + 1), to: distance(below - 1), tile: tile)
    let mottle = Self.noise(y, columns, geometry.unit / 16, max(1, geometry.unit / 60), 40)
    let fog = max(0, 256 - (y - geometry.horizon) * 1000 / reach)
    let light = RGB(214, 186, 196)
    let dark = RGB(88, 66, 118)
    let middle = geometry.margin + geometry.width / 2
    return (0..<columns).map { x in
      let left = (x - middle) * pixel
      let across = Self.stripe(from: left, to: left + pixel, tile: tile)
      let color = dark.mixed(with: light, 128 + (across * along) / 512)
      let worn = color.scaled(226 + mottle[x] / 5)
      return worn.mixed(with: Self.haze, fog * fog / 256)
    }
  }

  /// Returns the mean, from -256 to 256, of stripes that alternate between 1 and -1 and are `tile`
  /// wide, so that tiles smaller than a pixel do not flicker.
  private static func stripe(from: Int, to: Int, tile: Int) -> Int {
    guard to > from else { return 0 }
    func sum(_ position: Int) -> Int {
      let within = ((position % (2 * tile)) + 2 * tile) % (2 * tile)
      return within < tile ? within : 2 * tile - within
    }
    return (sum(to) - sum(from)) * 256 / (to - from)
  }
}
