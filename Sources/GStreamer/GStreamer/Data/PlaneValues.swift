// SPDX-License-Identifier: MPL-2.0

/// A number for each plane of a picture, of which there are at most four: no memory of its own.
public struct PlaneValues: RandomAccessCollection, MutableCollection, Equatable, Sendable,
  ExpressibleByArrayLiteral
{
  private var values = SIMD4<Int>()
  public let endIndex: Int
  public var startIndex: Int { 0 }

  /// - Parameter count: 0 to 4; what is above 4 is left out.
  init(count: Int, _ value: (Int) -> Int) {
    endIndex = Swift.min(Swift.max(count, 0), 4)
    for plane in 0..<endIndex { values[plane] = value(plane) }
  }

  /// What is behind the fourth is left out.
  public init(arrayLiteral elements: Int...) {
    self.init(count: elements.count) { elements[$0] }
  }

  public subscript(plane: Int) -> Int {
    get { values[plane] }
    set { values[plane] = newValue }
  }

  public static func == (a: PlaneValues, b: PlaneValues) -> Bool {
    a.count == b.count && a.elementsEqual(b)
  }
}
