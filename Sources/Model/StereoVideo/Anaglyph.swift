// SPDX-License-Identifier: MPL-2.0

/// Combines both eyes in one picture for two-colour glasses.
public struct Anaglyph: Sendable {
  /// The common colour matrices.
  public enum Method: String, Sendable, CaseIterable {
    /// Least squares in CIE XYZ for common glasses (E. Dubois, "A projection method to generate
    /// anaglyph stereo images", 2001): best colours with the least ghosting.
    case redCyanDubois = "red-cyan-dubois"
    /// The same method for green and magenta glasses.
    case greenMagentaDubois = "green-magenta-dubois"
    /// The same method for amber and blue glasses.
    case amberBlueDubois = "amber-blue-dubois"
    /// Red from the left eye, green and blue from the right eye.
    case redCyanColor = "red-cyan-color"
    /// Red from the left eye's luma, green and blue from the right eye: less retinal rivalry.
    case redCyanHalfColor = "red-cyan-half-color"
    /// Luma of both eyes.
    case redCyanGray = "red-cyan-gray"
  }

  /// For each channel (red, green, blue) of an eye, its contribution to each byte of an output
  /// pixel, in 1024ths.
  private let left: [SIMD4<Int32>]
  private let right: [SIMD4<Int32>]
  private let places: (red: Int, green: Int, blue: Int)

  /// Creates a mixer for pixels of four bytes.
  ///
  /// - Parameters:
  ///   - method: the colour matrices.
  ///   - places: byte positions of red, green and blue in a pixel, 0 to 3.
  public init(_ method: Method, places: (red: Int, green: Int, blue: Int)) {
    let (left, right) = method.matrices
    self.places = (places.red & 3, places.green & 3, places.blue & 3)
    func columns(_ rows: [[Double]]) -> [SIMD4<Int32>] {
      (0..<3).map { column in
        var result = SIMD4<Int32>()
        for (row, place) in zip(rows, [places.red, places.green, places.blue]) {
          result[place & 3] = Int32((row[column] * 1024).rounded())
        }
        return result
      }
    }
    self.left = columns(left)
    self.right = columns(right)
  }

  /// Mixes both eyes into `target`. All planes have four bytes per pixel; the byte that is not a
  /// colour is set to 255.
  public func mix(_ leftPlane: PlaneView, _ rightPlane: PlaneView, into target: PlaneView) {
    let count = min(target.rowBytes, leftPlane.rowBytes, rightPlane.rowBytes) / 4
    let (l0, l1, l2) = (left[0], left[1], left[2])
    let (r0, r1, r2) = (right[0], right[1], right[2])
    let (red, green, blue) = places
    var opaque = SIMD4<Int32>(repeating: 512)
    opaque[(6 - red - green - blue) & 3] = 255 << 10
    for row in 0..<min(target.rows, leftPlane.rows, rightPlane.rows) {
      let (one, other) = (leftPlane.row(row), rightPlane.row(row))
      let output = target.row(row)
      for index in 0..<count {
        let a = one.loadUnaligned(fromByteOffset: 4 &* index, as: SIMD4<UInt8>.self)
          .lanes(as: Int32.self)
        let b = other.loadUnaligned(fromByteOffset: 4 &* index, as: SIMD4<UInt8>.self)
          .lanes(as: Int32.self)
        var sum = opaque &+ l0 &* a[red] &+ l1 &* a[green] &+ l2 &* a[blue]
        sum = sum &+ r0 &* b[red] &+ r1 &* b[green] &+ r2 &* b[blue]
        let clamped = (sum &>> 10).clamped(lowerBound: .zero, upperBound: SIMD4(repeating: 255))
        output.storeBytes(
          of: clamped.lanes(as: UInt8.self), toByteOffset: 4 &* index, as: SIMD4<UInt8>.self)
      }
    }
  }
}

extension Anaglyph.Method {
  /// Matrices for each eye; their rows produce red, green and blue.
  package var matrices: (left: [[Double]], right: [[Double]]) {
    let none = [0.0, 0, 0]
    let grey = [0.299, 0.587, 0.114]
    let (red, green, blue) = ([1.0, 0, 0], [0.0, 1, 0], [0.0, 0, 1])
    return switch self {
    case .redCyanDubois:
      (
        [[0.437, 0.449, 0.164], [-0.062, -0.062, -0.024], [-0.048, -0.050, -0.017]],
        [[-0.011, -0.032, -0.007], [0.377, 0.761, 0.009], [-0.026, -0.093, 1.234]]
      )
    case .greenMagentaDubois:
      (
        [[-0.062, -0.158, -0.039], [0.284, 0.668, 0.143], [-0.015, -0.027, 0.021]],
        [[0.529, 0.705, 0.024], [-0.016, -0.015, -0.065], [0.009, 0.075, 0.937]]
      )
    case .amberBlueDubois:
      (
        [[1.062, -0.205, 0.299], [-0.026, 0.908, 0.068], [-0.038, -0.173, 0.022]],
        [[-0.016, -0.123, -0.017], [0.006, 0.062, -0.017], [0.094, 0.185, 0.911]]
      )
    case .redCyanColor: ([red, none, none], [none, green, blue])
    case .redCyanHalfColor: ([grey, none, none], [none, green, blue])
    case .redCyanGray: ([grey, none, none], [none, grey, grey])
    }
  }
}
