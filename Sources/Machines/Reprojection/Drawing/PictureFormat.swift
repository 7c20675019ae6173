// SPDX-License-Identifier: MPL-2.0

/// How the samples of a picture lie in its planes.
public struct PictureFormat: Hashable, Sendable {
  public struct Plane: Hashable, Sendable {
    /// Luma samples for one of this plane: 1 or 2.
    public var horizontalSubsampling = 1, verticalSubsampling = 1
    /// Values that stand beside each other for one place: 1, 2 (both chroma components) or 4.
    public var components = 1
    /// Of a value: 1 or 2, in the machine's order.
    public var bytes = 1
    /// The bits of a value, and the empty ones below them.
    public var depth = 8, shift = 0
    /// What is drawn where there is no picture, one for each component.
    public var fill: [UInt16] = []

    /// From one place to the next, in bytes.
    var unit: Int { components * bytes }
  }

  public var planes: [Plane]

  public init(planes: [Plane]) { self.planes = planes }

  /// Luma and two planes of chroma: I420, Y42B, Y444, I420_10LE and their like. Black of the
  /// limited range is drawn where there is no picture.
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

  public static let i420 = planar()
  public static let i42010 = planar(depth: 10)
  public static let gray8 = PictureFormat(planes: [Plane(fill: [16])])
  /// Luma, and chroma in pairs.
  public static let nv12 = PictureFormat(planes: [
    Plane(fill: [16]),
    Plane(horizontalSubsampling: 2, verticalSubsampling: 2, components: 2, fill: [128, 128]),
  ])
  /// As ``nv12``, with 10 bits at the upper end of 16.
  public static let p010 = PictureFormat(planes: [
    Plane(bytes: 2, depth: 10, shift: 6, fill: [64]),
    Plane(
      horizontalSubsampling: 2, verticalSubsampling: 2, components: 2, bytes: 2, depth: 10,
      shift: 6, fill: [512, 512]),
  ])
  /// Four bytes a pixel, in any order.
  public static let quadruples = PictureFormat(planes: [Plane(components: 4, fill: [0, 0, 0, 0])])

  /// Whether every field is one that pictures can be drawn with.
  var isUsable: Bool {
    !planes.isEmpty
      && planes.allSatisfy { plane in
        (1...2).contains(plane.horizontalSubsampling) && (1...2).contains(plane.verticalSubsampling)
          && [1, 2, 4].contains(plane.components) && (1...2).contains(plane.bytes)
          && plane.depth >= 1 && plane.shift >= 0 && plane.depth + plane.shift <= plane.bytes * 8
      }
  }
}

/// Where the chroma samples of a subsampled picture stand between those of luma.
public struct ChromaSite: Hashable, Sendable {
  /// On the left (upper) luma sample of the pair, instead of midway between both.
  public var isOnLeft, isOnTop: Bool

  public init(isOnLeft: Bool, isOnTop: Bool) {
    (self.isOnLeft, self.isOnTop) = (isOnLeft, isOnTop)
  }

  /// MPEG-2's and H.26x's usual one.
  public static let left = ChromaSite(isOnLeft: true, isOnTop: false)
  /// JPEG's.
  public static let centre = ChromaSite(isOnLeft: false, isOnTop: false)
  public static let topLeft = ChromaSite(isOnLeft: true, isOnTop: true)
}
