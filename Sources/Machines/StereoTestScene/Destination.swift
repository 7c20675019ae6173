// SPDX-License-Identifier: MPL-2.0

extension StereoTestScene {
  /// The rows of samples to draw into: a whole picture, or one eye's part of a packed frame.
  public struct Plane {
    /// Memory from the first sample of the picture to at least the last sample of its last row.
    public var bytes: UnsafeMutableRawBufferPointer
    /// Bytes from one row to the next.
    public var stride: Int

    /// Creates a plane; the memory must outlive it.
    public init(bytes: UnsafeMutableRawBufferPointer, stride: Int) {
      self.bytes = bytes
      self.stride = stride
    }
  }

  /// The byte order of a pixel; x is written as 255.
  public enum PackedOrder: Sendable, CaseIterable {
    case rgb, bgr, rgbx, bgrx, xrgb, xbgr

    var bytesPerPixel: Int {
      switch self {
      case .rgb, .bgr: 3
      case .rgbx, .bgrx, .xrgb, .xbgr: 4
      }
    }

    func offset(of channel: Channel) -> Int {
      let (red, blue) =
        switch self {
        case .rgb, .rgbx: (0, 2)
        case .bgr, .bgrx: (2, 0)
        case .xrgb: (1, 3)
        case .xbgr: (3, 1)
        }
      return switch channel {
      case .red: red
      case .blue: blue
      default: (red + blue) / 2
      }
    }
  }

  /// The memory and format of a picture. YUV formats are BT.709, limited range, with chroma planes
  /// of half the width and height, rounded up.
  public enum Destination {
    /// 8 bits, three planes: GStreamer's `I420`.
    case i420(luma: Plane, cb: Plane, cr: Plane)
    /// 8 bits, chroma interleaved, Cb first: GStreamer's `NV12`.
    case nv12(luma: Plane, chroma: Plane)
    /// 10 bits in two bytes, little-endian, three planes: GStreamer's `I420_10LE`. Each sample is
    /// four times that of the 8-bit formats.
    case i420TenBit(luma: Plane, cb: Plane, cr: Plane)
    /// 8 bits, one plane of interleaved RGB.
    case packed(Plane, PackedOrder)
  }

  /// An error: a plane is too small for the picture.
  public struct DestinationError: Error, Equatable, CustomStringConvertible {
    /// Index of the plane in the destination.
    public let plane: Int
    /// Minimum stride for the picture's width, in bytes.
    public let neededStride: Int
    /// Stride of the plane, in bytes.
    public let stride: Int
    /// Number of bytes the picture needs with this stride; nil if the stride is wrong.
    public let neededBytes: Int?
    /// Number of bytes in the plane.
    public let bytes: Int

    /// The plane, what it needs and what it has.
    public var description: String {
      guard let neededBytes else {
        return "plane \(plane): the stride is \(stride) bytes, but a row needs \(neededStride)"
      }
      return "plane \(plane): needs \(neededBytes) bytes, but has \(bytes)"
    }
  }
}

extension StereoTestScene.Destination {
  /// One channel of the destination, ready for drawing.
  enum Component {
    case eightBit(Canvas<UInt8>, Channel)
    case tenBit(Canvas<UInt16>, Channel)
  }

  func check(width: Int, height: Int) throws(StereoTestScene.DestinationError) {
    let (chromaWidth, chromaHeight) = ((width + 1) / 2, (height + 1) / 2)
    switch self {
    case .i420(let luma, let cb, let cr):
      try Self.check(luma, 0, rowBytes: width, rows: height)
      try Self.check(cb, 1, rowBytes: chromaWidth, rows: chromaHeight)
      try Self.check(cr, 2, rowBytes: chromaWidth, rows: chromaHeight)
    case .nv12(let luma, let chroma):
      try Self.check(luma, 0, rowBytes: width, rows: height)
      try Self.check(chroma, 1, rowBytes: 2 * chromaWidth, rows: chromaHeight)
    case .i420TenBit(let luma, let cb, let cr):
      try Self.check(luma, 0, rowBytes: 2 * width, rows: height)
      try Self.check(cb, 1, rowBytes: 2 * chromaWidth, rows: chromaHeight)
      try Self.check(cr, 2, rowBytes: 2 * chromaWidth, rows: chromaHeight)
    case .packed(let plane, let order):
      try Self.check(plane, 0, rowBytes: order.bytesPerPixel * width, rows: height)
    }
  }

  private static func check(
    _ plane: StereoTestScene.Plane, _ index: Int, rowBytes: Int, rows: Int
  ) throws(StereoTestScene.DestinationError) {
    let (body, overflow) = plane.stride.multipliedReportingOverflow(by: rows - 1)
    let (needed, overflow2) = body.addingReportingOverflow(rowBytes)
    let strideFits = plane.stride >= rowBytes && !overflow && !overflow2
    guard strideFits, plane.bytes.count >= needed else {
      throw StereoTestScene.DestinationError(
        plane: index, neededStride: rowBytes, stride: plane.stride,
        neededBytes: strideFits ? needed : nil, bytes: plane.bytes.count)
    }
  }

  /// Calls `body` for each channel. The planes must have passed `check`.
  func forEachComponent(width: Int, height: Int, _ body: (Component) -> Void) {
    func canvas<Sample>(
      _ plane: StereoTestScene.Plane, at offset: Int = 0, step: Int, _ channel: Channel
    ) -> Canvas<Sample>? {
      guard let base = plane.bytes.baseAddress else { return nil }
      return Canvas(
        base: base + offset, stride: plane.stride, step: step,
        width: channel.isSubsampled ? (width + 1) / 2 : width,
        height: channel.isSubsampled ? (height + 1) / 2 : height,
        isSubsampled: channel.isSubsampled)
    }
    func eightBit(
      _ plane: StereoTestScene.Plane, at offset: Int = 0, step: Int = 1, _ channel: Channel
    ) {
      canvas(plane, at: offset, step: step, channel).map { body(.eightBit($0, channel)) }
    }
    func tenBit(_ plane: StereoTestScene.Plane, _ channel: Channel) {
      canvas(plane, step: 2, channel).map { body(.tenBit($0, channel)) }
    }

    switch self {
    case .i420(let luma, let cb, let cr):
      eightBit(luma, .luma)
      eightBit(cb, .cb)
      eightBit(cr, .cr)
    case .nv12(let luma, let chroma):
      eightBit(luma, .luma)
      eightBit(chroma, step: 2, .cb)
      eightBit(chroma, at: 1, step: 2, .cr)
    case .i420TenBit(let luma, let cb, let cr):
      tenBit(luma, .luma)
      tenBit(cb, .cb)
      tenBit(cr, .cr)
    case .packed(let plane, let order):
      let step = order.bytesPerPixel
      if step == 4, let base = plane.bytes.baseAddress {
        for row in 0..<height {
          (base + row * plane.stride).initializeMemory(
            as: UInt8.self, repeating: 255, count: 4 * width)
        }
      }
      for channel in [Channel.red, .green, .blue] {
        eightBit(plane, at: order.offset(of: channel), step: step, channel)
      }
    }
  }
}
