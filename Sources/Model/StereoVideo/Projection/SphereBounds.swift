// SPDX-License-Identifier: MPL-2.0

/// How much of the whole sphere's equirectangular map is cut off at each edge of one eye's picture,
/// as 0.32 fixed-point parts of the map's height (top, bottom) or width (left, right): the
/// `projection_bounds_` fields of Google's Spherical Video V2.
public struct SphereBounds: Hashable, Sendable {
  public var top, bottom, left, right: UInt32

  public init(top: UInt32 = 0, bottom: UInt32 = 0, left: UInt32 = 0, right: UInt32 = 0) {
    (self.top, self.bottom, self.left, self.right) = (top, bottom, left, right)
  }

  /// From parts of the map, 0 to below 1; nil outside, or where nothing of the map would be left.
  public init?(topPart: Double, bottomPart: Double, leftPart: Double, rightPart: Double) {
    func fixed(_ part: Double) -> UInt32? {
      guard part >= 0, part < 1 else { return nil }
      return UInt32(exactly: (part * 0x1p32).rounded(.down))
    }
    guard let top = fixed(topPart), let bottom = fixed(bottomPart), let left = fixed(leftPart),
      let right = fixed(rightPart)
    else { return nil }
    self.init(top: top, bottom: bottom, left: left, right: right)
    guard leavesSomething else { return nil }
  }

  /// The whole sphere.
  public static let full = SphereBounds()
  /// The front half: 180 degrees by 180 degrees.
  public static let frontHalf = SphereBounds(left: 0x4000_0000, right: 0x4000_0000)

  public var topPart: Double { Double(top) * 0x1p-32 }
  public var bottomPart: Double { Double(bottom) * 0x1p-32 }
  public var leftPart: Double { Double(left) * 0x1p-32 }
  public var rightPart: Double { Double(right) * 0x1p-32 }

  /// Whether there is a picture between the edges.
  public var leavesSomething: Bool {
    UInt64(top) + UInt64(bottom) <= 0xFFFF_FFFF && UInt64(left) + UInt64(right) <= 0xFFFF_FFFF
  }

  /// Whether these are `other`'s to within 1/4096 of the map, which is what pixel counts leave.
  public func isNear(_ other: SphereBounds) -> Bool {
    func near(_ one: UInt32, _ two: UInt32) -> Bool { max(one, two) - min(one, two) <= 1 << 20 }
    return near(top, other.top) && near(bottom, other.bottom) && near(left, other.left)
      && near(right, other.right)
  }
}
