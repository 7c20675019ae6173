// SPDX-License-Identifier: MPL-2.0

/// Eight numbers, for eight neighbouring pixels.
package typealias Floats = SIMD8<Float>
/// Eight integers, for eight neighbouring pixels.
package typealias Integers = SIMD8<Int32>

// Comparisons use the sign bits: SIMD masks, and conversions between floating point and integers,
// compile to generic code that works lane by lane.

@inline(__always) func bits(_ value: Floats) -> Integers { unsafeBitCast(value, to: Integers.self) }

@inline(__always) func floats(_ bits: Integers) -> Floats { unsafeBitCast(bits, to: Floats.self) }

/// Returns all bits set in the lanes below 0.
@inline(__always) func isNegative(_ value: Floats) -> Integers { bits(value) &>> 31 }

/// Returns `one` in lanes with all mask bits set, `other` in lanes with none set.
@inline(__always) func select(_ mask: Integers, _ one: Floats, _ other: Floats) -> Floats {
  floats((bits(one) & mask) | (bits(other) & ~mask))
}

@inline(__always) func magnitude(_ value: Floats) -> Floats { floats(bits(value) & 0x7FFF_FFFF) }

@inline(__always) func maximum(_ value: Floats, _ least: Float) -> Floats {
  let least = Floats(repeating: least)
  return select(isNegative(value - least), least, value)
}

/// Returns all bits set in lanes whose magnitude is below `limit`; none in lanes that are NaN.
@inline(__always) func isBelow(_ limit: Float, _ value: Floats) -> Integers {
  ((bits(value) & 0x7FFF_FFFF) &- Int32(bitPattern: limit.bitPattern)) &>> 31
}

/// 1.5 · 2²³: adding it to a number below 2²² leaves the nearest integer in the lowest bits.
private let magic: Float = 12_582_912

/// Returns the nearest integers; the numbers must be below 2²².
@inline(__always) func rounded(_ value: Floats) -> Integers {
  bits(value + magic) &- Integers(repeating: 0x4B40_0000)
}

/// Converts integers below 2²².
@inline(__always) func floats(exactly value: Integers) -> Floats {
  floats(value &+ Integers(repeating: 0x4B40_0000)) - magic
}

/// Returns the angle of (x, y) in radians with an error of at most 2e-7: the polynomial of
/// Abramowitz and Stegun 4.4.49.
@inline(__always) func arcTangent(_ y: Floats, _ x: Floats) -> Floats {
  let (across, up) = (magnitude(x), magnitude(y))
  let isSteep = isNegative(across - up)
  let ratio = select(isSteep, across, up) / (select(isSteep, up, across) + 1e-30)
  let square = ratio * ratio
  var sum = Floats(repeating: -0.004_054_058_0)
  sum = sum * square + 0.021_861_228_8
  sum = sum * square + -0.055_909_886_1
  sum = sum * square + 0.096_420_044_1
  sum = sum * square + -0.139_085_335_1
  sum = sum * square + 0.199_465_359_9
  sum = sum * square + -0.333_298_560_5
  sum = sum * square + 0.999_999_332_9
  var angle = sum * ratio
  angle = select(isSteep, .pi / 2 - angle, angle)
  angle = select(isNegative(x), .pi - angle, angle)
  return floats(bits(angle) | (bits(y) & Int32.min))
}

/// Returns sine and cosine of angles of a few turns, in radians, with an error of at most 3e-7:
/// Taylor series within an eighth of a turn.
@inline(__always) func sineAndCosine(_ angle: Floats) -> (sine: Floats, cosine: Floats) {
  let quarter = rounded(angle * Float(2 / Double.pi))
  let turns = floats(exactly: quarter)
  // A quarter turn as the sum of two numbers, the first with few significant bits.
  let rest = (angle - turns * 1.570_312_5) - turns * 4.838_267_95e-4
  let square = rest * rest
  var sine = square * 2.755_731_9e-6 - 1.984_127e-4
  sine = sine * square + 8.333_333e-3
  sine = sine * square - 0.166_666_67
  sine = sine * square * rest + rest
  var cosine = square * 2.480_158_7e-5 - 1.388_888_9e-3
  cosine = cosine * square + 0.041_666_668
  cosine = cosine * square - 0.5
  cosine = cosine * square + 1
  let isOdd = (quarter &<< 31) &>> 31
  let one = select(isOdd, cosine, sine)
  let other = select(isOdd, sine, cosine)
  // The sine is negative in the third and fourth quadrants, the cosine in the second and third.
  return (
    floats(bits(one) ^ ((quarter &<< 30) & Int32.min)),
    floats(bits(other) ^ (((quarter &+ 1) &<< 30) & Int32.min))
  )
}

/// A rotation of eight directions.
struct LaneRotation {
  /// The rotated axes.
  let x, y, z: SIMD3<Float>

  init(_ rotation: Rotation) {
    func axis(_ axis: Direction) -> SIMD3<Float> {
      SIMD3(Float(axis.x), Float(axis.y), Float(axis.z))
    }
    (x, y, z) = (axis(rotation.x), axis(rotation.y), axis(rotation.z))
  }
}

/// Eight directions.
package struct Rays {
  package var x, y, z: Floats
  /// The cube cell the directions were taken from, 0 in all other pictures; -1 if the picture shows
  /// nothing there.
  var face = Integers.zero

  package init(x: Floats, y: Floats, z: Floats) {
    (self.x, self.y, self.z) = (x, y, z)
  }

  /// Whether the picture shows something in this direction.
  package func isSeen(_ lane: Int) -> Bool { face[lane] >= 0 }

  @inline(__always) func turned(by rotation: LaneRotation) -> Rays {
    let (right, down, ahead) = (rotation.x, rotation.y, rotation.z)
    var rays = Rays(
      x: x * right.x + y * down.x + z * ahead.x, y: x * right.y + y * down.y + z * ahead.y,
      z: x * right.z + y * down.z + z * ahead.z)
    rays.face = face
    return rays
  }
}

/// Eight positions in a picture.
package struct Positions {
  package var x, y: Floats
  /// All bits set in lanes whose direction the picture shows, as far as the projection goes.
  package var isInside: Integers
  /// The cell of a cube; 0 in all other pictures.
  var face = Integers.zero

  init(x: Floats, y: Floats, isInside: Integers) {
    (self.x, self.y, self.isInside) = (x, y, isInside)
  }
}
