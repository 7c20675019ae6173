// SPDX-License-Identifier: MPL-2.0

import StereoTestScene
import StereoVideo

/// A picture rendered to memory of its own, brought to 8-bit planar whatever it was rendered as.
struct Picture: Equatable {
  enum Format { case i420, nv12, i420TenBit }

  let width: Int
  let height: Int
  var bytes: [UInt8]

  func luma(x: Int, y: Int) -> Int { Int(bytes[y * width + x]) }

  /// FNV-1a of all bytes.
  var fingerprint: UInt64 {
    bytes.reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
  }

  /// How far to the right the block around (x, y) is found in the other picture.
  func bestMatch(
    in other: Picture, x: Int, y: Int, radius: Int, rows: Int? = nil, reach: Int
  ) -> Int? {
    let rowRadius = rows.map { $0 / 2 } ?? radius
    func difference(_ shift: Int) -> Int {
      var sum = 0
      for row in (y - rowRadius)...(y + rowRadius) {
        for column in (x - radius)...(x + radius) {
          sum += abs(luma(x: column, y: row) - other.luma(x: column + shift, y: row))
        }
      }
      return sum
    }
    return (-reach...reach).min { difference($0) < difference($1) }
  }
}

extension StereoTestScene {
  func picture(_ eye: Eye, _ frame: Int, _ format: Picture.Format = .i420) throws -> Picture {
    let (chromaWidth, chromaHeight) = ((width + 1) / 2, (height + 1) / 2)
    let (luma, chroma) = (width * height, chromaWidth * chromaHeight)
    let size = format == .i420TenBit ? 2 : 1
    var bytes = [UInt8](repeating: 0, count: (luma + 2 * chroma) * size)
    try bytes.withUnsafeMutableBytes { all in
      func plane(_ offset: Int, _ count: Int, _ stride: Int) -> Plane {
        let start = offset * size
        return Plane(
          bytes: .init(rebasing: all[start..<(start + count * size)]), stride: stride * size)
      }
      let y = plane(0, luma, width)
      let cb = plane(luma, chroma, chromaWidth)
      let cr = plane(luma + chroma, chroma, chromaWidth)
      switch format {
      case .i420: try render(eye: eye, frame: frame, into: .i420(luma: y, cb: cb, cr: cr))
      case .i420TenBit:
        try render(eye: eye, frame: frame, into: .i420TenBit(luma: y, cb: cb, cr: cr))
      case .nv12:
        try render(
          eye: eye, frame: frame,
          into: .nv12(luma: y, chroma: plane(luma, 2 * chroma, 2 * chromaWidth)))
      }
    }
    switch format {
    case .i420: break
    case .nv12:
      let pairs = bytes[luma...]
      let cb = stride(from: pairs.startIndex, to: pairs.endIndex, by: 2).map { pairs[$0] }
      let cr = stride(from: pairs.startIndex + 1, to: pairs.endIndex, by: 2).map { pairs[$0] }
      bytes = bytes[..<luma] + cb + cr
    case .i420TenBit:
      bytes = stride(from: 0, to: bytes.count, by: 2).map { index in
        let sample = UInt16(bytes[index]) | UInt16(bytes[index + 1]) << 8
        return UInt8(clamping: sample / 4 + (sample % 4) * 1000)
      }
    }
    return Picture(width: width, height: height, bytes: bytes)
  }

  /// Rendered in this order of bytes, then brought to RGB.
  func packed(_ eye: Eye, _ frame: Int, _ order: PackedOrder) throws -> [UInt8] {
    let offsets =
      switch order {
      case .rgb, .rgbx: [0, 1, 2]
      case .bgr, .bgrx: [2, 1, 0]
      case .xrgb: [1, 2, 3]
      case .xbgr: [3, 2, 1]
      }
    let size = [.rgb, .bgr].contains(order) ? 3 : 4
    var bytes = [UInt8](repeating: 0, count: width * height * size)
    try bytes.withUnsafeMutableBytes { all in
      try render(
        eye: eye, frame: frame, into: .packed(Plane(bytes: all, stride: width * size), order))
    }
    return stride(from: 0, to: bytes.count, by: size).flatMap { pixel in
      offsets.map { bytes[pixel + $0] }
    }
  }
}
