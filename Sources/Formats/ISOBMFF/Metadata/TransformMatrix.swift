// SPDX-License-Identifier: MPL-2.0

internal import StereoVideo

/// The 3x3 matrix of `tkhd` and `mvhd` that places a picture on the canvas (ISO/IEC 14496-12
/// 8.3.2): rows (a, b, u), (c, d, v), (x, y, w).
///
/// `u`, `v` and `w` are 2.30 fixed-point numbers, the others 16.16.
public struct TransformMatrix: Equatable, Sendable {
  public var a, b, u, c, d, v, x, y, w: Int32

  /// Creates a matrix from fixed-point elements; omitted elements are those of the identity.
  public init(
    a: Int32, b: Int32, u: Int32 = 0, c: Int32, d: Int32, v: Int32 = 0, x: Int32 = 0,
    y: Int32 = 0, w: Int32 = 0x4000_0000
  ) {
    (self.a, self.b, self.u) = (a, b, u)
    (self.c, self.d, self.v) = (c, d, v)
    (self.x, self.y, self.w) = (x, y, w)
  }

  /// The matrix that leaves the picture unchanged.
  public static let identity = TransformMatrix(a: 0x1_0000, b: 0, c: 0, d: 0x1_0000)

  func write(to writer: inout BoxWriter) {
    for element in [a, b, u, c, d, v, x, y, w] {
      writer.write(element)
    }
  }
}

/// Rotation and mirroring to apply to a picture before display: one of the eight combinations that
/// keep its edges straight.
public struct PictureOrientation: Hashable, Sendable {
  /// Rotation in degrees: 0, 90, 180 or 270.
  public let clockwiseRotation: Int
  /// Whether the picture is mirrored left to right before the rotation.
  public let isFlipped: Bool

  /// Nil for other angles.
  public init?(clockwiseRotation: Int, isFlipped: Bool = false) {
    guard [0, 90, 180, 270].contains(clockwiseRotation) else { return nil }
    self.init(rotation: clockwiseRotation, isFlipped: isFlipped)
  }

  private init(rotation: Int, isFlipped: Bool) {
    clockwiseRotation = rotation
    self.isFlipped = isFlipped
  }

  /// No rotation, no mirroring.
  public static let upright = PictureOrientation(rotation: 0, isFlipped: false)

  fileprivate static let all = [0, 90, 180, 270].flatMap { rotation in
    [false, true].map { PictureOrientation(rotation: rotation, isFlipped: $0) }
  }

  /// The matrix without translation.
  fileprivate var linearPart: TransformMatrix {
    let one: Int32 = 0x1_0000
    let (a, b): (Int32, Int32) =
      switch clockwiseRotation {
      case 90: (0, one)
      case 180: (-one, 0)
      case 270: (0, -one)
      default: (one, 0)
      }
    return isFlipped
      ? TransformMatrix(a: -a, b: -b, c: -b, d: a) : TransformMatrix(a: a, b: b, c: -b, d: a)
  }
}

extension TransformMatrix {
  /// Creates a matrix that rotates a picture of the given size and moves its top left corner back
  /// to the origin.
  public init(_ orientation: PictureOrientation, of size: FixedPointSize) {
    self = orientation.linearPart
    let (width, height) = (Int32(clamping: size.width), Int32(clamping: size.height))
    x = a < 0 ? width : c < 0 ? height : 0
    y = b < 0 ? width : d < 0 ? height : 0
  }

  /// The rotation and mirroring of the matrix, whatever its translation and scaling; nil for other
  /// transformations.
  public var orientation: PictureOrientation? {
    PictureOrientation.all.first {
      let matrix = $0.linearPart
      return (a.signum(), b.signum(), c.signum(), d.signum())
        == (matrix.a.signum(), matrix.b.signum(), matrix.c.signum(), matrix.d.signum())
    }
  }

  /// By how much the picture becomes wider and higher, before it is turned, as 16.16 fixed point;
  /// nil if its edges do not stay straight.
  var scale: (width: UInt32, height: UInt32)? {
    guard orientation != nil else { return nil }
    return (max(a.magnitude, b.magnitude), max(c.magnitude, d.magnitude))
  }

  /// Returns the matrix that does what this one does, and then what another one does, without
  /// their translations.
  func followed(by other: TransformMatrix) -> TransformMatrix {
    func sum(_ first: (Int32, Int32), _ second: (Int32, Int32)) -> Int32 {
      Int32(
        clamping: (Int64(first.0) * Int64(first.1)).saturatingAdding(
          Int64(second.0) * Int64(second.1)) >> 16)
    }
    return TransformMatrix(
      a: sum((a, other.a), (b, other.c)), b: sum((a, other.b), (b, other.d)),
      c: sum((c, other.a), (d, other.c)), d: sum((c, other.b), (d, other.d)))
  }
}
