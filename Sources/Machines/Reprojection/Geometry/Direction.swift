// SPDX-License-Identifier: MPL-2.0

/// Where something is seen from the viewer: x to the right, y down, z ahead, of any length above 0.
public struct Direction: Hashable, Sendable {
  public var x, y, z: Double

  public init(x: Double, y: Double, z: Double) {
    (self.x, self.y, self.z) = (x, y, z)
  }

  /// Of length 1; nil for one that points nowhere.
  public var normalized: Direction? {
    let largest = max(abs(x), abs(y), abs(z))
    guard largest > 0, largest.isFinite else { return nil }
    let (x, y, z) = (x / largest, y / largest, z / largest)
    let length = (x * x + y * y + z * z).squareRoot()
    return Direction(x: x / length, y: y / length, z: z / length)
  }
}

/// A place in a picture, in pixels: the centre of the upper left pixel is (0, 0).
public struct PicturePosition: Hashable, Sendable {
  public var x, y: Double

  public init(x: Double, y: Double) {
    (self.x, self.y) = (x, y)
  }
}
