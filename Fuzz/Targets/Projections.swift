// SPDX-License-Identifier: MPL-2.0

import Reprojection
import StereoVideo

/// Creates two projections from the bytes, converts positions to directions and back, and draws
/// pictures of one projection from the other.
func drawProjections(_ bytes: [UInt8]) {
  var bytes = ProjectionBytes(bytes)
  let source = bytes.geometry()
  let target = bytes.geometry()
  let view = SphereOrientation(yaw: bytes.number(), pitch: bytes.number(), roll: bytes.number())
  for geometry in [source, target] {
    guard let geometry else { continue }
    for _ in 0..<16 {
      let position = PicturePosition(x: bytes.number(), y: bytes.number())
      if let direction = geometry.direction(of: position) { _ = geometry.position(of: direction) }
      let direction = Direction(x: bytes.number(), y: bytes.number(), z: bytes.number())
      if let position = geometry.position(of: direction) { _ = geometry.direction(of: position) }
    }
  }
  guard let source, let target else { return }
  let formats: [PictureFormat] = [.i420, .nv12, .i42010, .p010, .quadruples, .gray8]
  let format = formats[Int(bytes.byte()) % formats.count]
  let ways = Interpolation.allCases
  var settings = Reprojector.Settings()
  settings.interpolation = ways[Int(bytes.byte()) % ways.count]
  settings.antialias = bytes.byte() & 1 == 0
  let pose = SphereOrientation(yaw: bytes.number(), pitch: bytes.number(), roll: bytes.number())
  guard
    let reprojector = try? Reprojector(
      source: source, pose: pose, format: format, settings: settings)
  else { return }
  let padding = Int(bytes.byte()) % 16
  let from = ProjectionMemory(format, source, padding)
  let into = ProjectionMemory(format, target, padding)
  let pictures = [Reprojector.Picture(source: from.planes, target: into.planes)]
  for _ in 0..<3 { try? reprojector.draw(target, view, pictures) }
  let moved = SphereOrientation(yaw: view.yaw + 1, pitch: view.pitch, roll: view.roll)
  try? reprojector.draw(target, moved, pictures)
}

/// Numbers of every kind, derived from the bytes; zeros after their end.
private struct ProjectionBytes {
  private var rest: ArraySlice<UInt8>

  init(_ bytes: [UInt8]) { rest = bytes[...] }

  mutating func byte() -> UInt8 { rest.popFirst() ?? 0 }

  /// Returns any bit pattern, or a number of a common magnitude.
  mutating func number() -> Double {
    switch byte() {
    case let kind where kind < 200:
      return (Double(kind) - 100) * 1.9 + Double(byte()) / 256
    case let kind where kind < 240:
      return (Double(byte()) - 128) / Double(kind - 190)
    default:
      return Double(bitPattern: (0..<8).reduce(0) { value, _ in value << 8 | UInt64(byte()) })
    }
  }

  private mutating func word() -> UInt32 {
    (0..<4).reduce(0) { value, _ in value << 8 | UInt32(byte()) }
  }

  mutating func geometry() -> PictureGeometry? {
    let projection: Projection
    switch byte() % 6 {
    case 0: projection = .rectilinear(horizontalFieldOfView: number())
    case 1: projection = .equirectangular(.full)
    case 2:
      projection = .equirectangular(
        SphereBounds(top: word(), bottom: word(), left: word(), right: word()))
    case 3:
      let mappings: [FisheyeLens.Mapping] = [
        .equidistant, .equisolid, .stereographic, .orthographic,
        .kannalaBrandt(k1: number(), k2: number(), k3: number(), k4: number()),
      ]
      projection = .fisheye(
        FisheyeLens(fieldOfView: number(), mapping: mappings[Int(byte()) % mappings.count]))
    case 4: projection = .parametric(lens())
    default:
      let layouts = CubemapLayout.allCases
      projection = .cubemap(
        layouts[Int(byte()) % layouts.count], padding: Int(Int8(bitPattern: byte())))
    }
    // Few pixels, so that a run is fast; sizes of 0 and less must be refused.
    let (width, height) = (Int(byte()) - 1, Int(byte()) / 2 - 1)
    let aspect = byte() < 128 ? 1 : number()
    return try? PictureGeometry(
      projection, width: width, height: height, pixelAspectRatio: aspect)
  }

  private mutating func lens() -> LensCalibration {
    var lens = LensCalibration(
      referenceWidth: number(), referenceHeight: number(), focalLengthX: number(),
      focalLengthY: number(), principalPointX: number(), principalPointY: number())
    lens.skew = number()
    lens.projectionOffset = number()
    (lens.k1, lens.k2, lens.p1, lens.p2) = (number(), number(), number(), number())
    if byte() < 128 { lens.radialLimit = number() }
    if byte() < 128 {
      lens.frameAdjustmentX = .init(constant: number(), linear: number(), cubic: number())
      lens.frameAdjustmentY = .init(constant: number(), linear: number(), cubic: number())
    }
    (lens.rotationX, lens.rotationY, lens.rotationZ) = (number(), number(), number())
    return lens
  }
}

/// Planes of exactly the size that a picture needs.
private final class ProjectionMemory {
  let planes: [PlaneView]

  init(_ format: PictureFormat, _ picture: PictureGeometry, _ padding: Int) {
    planes = format.planes.map { plane in
      let columns =
        (picture.width + plane.horizontalSubsampling - 1) / plane.horizontalSubsampling
      let rows = (picture.height + plane.verticalSubsampling - 1) / plane.verticalSubsampling
      let rowBytes = columns * plane.components * plane.bytes
      let stride = rowBytes + padding
      // The last row has no padding.
      let count = stride * (rows - 1) + rowBytes
      let memory = UnsafeMutableRawPointer.allocate(byteCount: count, alignment: 1)
      memory.initializeMemory(as: UInt8.self, repeating: 0x55, count: count)
      return PlaneView(base: memory, stride: stride, rowBytes: rowBytes, rows: rows)
    }
  }

  deinit {
    for plane in planes { plane.base.deallocate() }
  }
}
