// SPDX-License-Identifier: MPL-2.0

/// The layout of a picture's samples in its planes.
public struct PictureFormat: Hashable, Sendable {
  /// The layout of one plane.
  public struct Plane: Hashable, Sendable {
    /// Luma samples per sample of this plane: 1 or 2.
    public var horizontalSubsampling = 1, verticalSubsampling = 1
    /// Interleaved values per sample: 1, 2 (both chroma components) or 4.
    public var components = 1
    /// Bytes per value: 1 or 2, in native byte order.
    public var bytes = 1
    /// Number of bits of a value, and of unused bits below it.
    public var depth = 8, shift = 0
    /// Value for pixels outside the source picture, one per component.
    public var fill: [UInt16] = []

    /// Bytes from one sample to the next.
    var unit: Int { components * bytes }
  }

  /// The planes, luma first.
  public var planes: [Plane]

  /// Creates a format.
  public init(planes: [Plane]) { self.planes = planes }

  /// Returns a format with a luma plane and two chroma planes: I420, Y42B, Y444, I420_10LE and
  /// similar. Pixels outside the source picture are limited-range black.
  public static func planar(
    depth: Int = 8, horizontalSubsampling: Int = 2, verticalSubsampling: Int = 2
  ) -> PictureFormat {
    let bytes = depth > 8 ? 2 : 1
    let luma = Plane(bytes: bytes, depth: depth, fill: [16 << (depth - 8)])
    let chroma = Plane(
      horizontalSubsampling: horizontalSubsampling, verticalSubsampling: verticalSubsampling,
      bytes: bytes, depth: depth, fill: [128 << (depth - 8)])
    return PictureFormat(planes: [luma, chroma, chroma])
  }

  /// GStreamer's `I420`.
  public static let i420 = planar()
  /// GStreamer's `I420_10LE`.
  public static let i42010 = planar(depth: 10)
  /// GStreamer's `GRAY8`.
  public static let gray8 = PictureFormat(planes: [Plane(fill: [16])])
  /// Luma, and interleaved chroma.
  public static let nv12 = PictureFormat(planes: [
    Plane(fill: [16]),
    Plane(horizontalSubsampling: 2, verticalSubsampling: 2, components: 2, fill: [128, 128]),
  ])
  /// Like ``nv12``, with 10 bits in the high bits of 16.
  public static let p010 = PictureFormat(planes: [
    Plane(bytes: 2, depth: 10, shift: 6, fill: [64]),
    Plane(
      horizontalSubsampling: 2, verticalSubsampling: 2, components: 2, bytes: 2, depth: 10,
      shift: 6, fill: [512, 512]),
  ])
  /// Four bytes per pixel, in any order.
  public static let quadruples = PictureFormat(planes: [Plane(components: 4, fill: [0, 0, 0, 0])])

  /// Whether all fields have supported values.
  var isUsable: Bool {
    !planes.isEmpty
      && planes.allSatisfy { plane in
        (1...2).contains(plane.horizontalSubsampling) && (1...2).contains(plane.verticalSubsampling)
          && [1, 2, 4].contains(plane.components) && (1...2).contains(plane.bytes)
          && plane.depth >= 1 && plane.shift >= 0 && plane.depth + plane.shift <= plane.bytes * 8
      }
  }
}

/// The position of the chroma samples relative to the luma samples of a subsampled picture.
public struct ChromaSite: Hashable, Sendable {
  /// Whether chroma is cosited with the left (upper) luma sample of a pair, instead of midway
  /// between both.
  public var isOnLeft, isOnTop: Bool

  /// Creates a chroma site.
  public init(isOnLeft: Bool, isOnTop: Bool) {
    (self.isOnLeft, self.isOnTop) = (isOnLeft, isOnTop)
  }

  /// The default of MPEG-2 and H.26x.
  public static let left = ChromaSite(isOnLeft: true, isOnTop: false)
  /// The chroma site of JPEG.
  public static let centre = ChromaSite(isOnLeft: false, isOnTop: false)
  /// Cosited with the upper left luma sample.
  public static let topLeft = ChromaSite(isOnLeft: true, isOnTop: true)
}
