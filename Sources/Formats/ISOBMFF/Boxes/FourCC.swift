// SPDX-License-Identifier: MPL-2.0

/// A four-character code: the type of a box, a codec, a brand (ISO/IEC 14496-12 4.2).
///
/// ```swift
/// let type: FourCC = "moov"
/// type.rawValue  // 0x6D6F6F76
/// ```
public struct FourCC: RawRepresentable, Hashable, Sendable, ExpressibleByStringLiteral {
  /// The four bytes as a big-endian number.
  public let rawValue: UInt32

  /// Creates a code from its four bytes as a big-endian number.
  public init(rawValue: UInt32) {
    self.rawValue = rawValue
  }

  /// Creates a code from the first four characters, each as its Latin-1 byte (so `©nam` is
  /// 0xA96E616D), padded with spaces.
  public init(stringLiteral value: String) {
    self.init(padding: value)
  }

  /// Creates a code from exactly four Latin-1 characters; nil for any other string.
  public init?(exactly string: String) {
    let scalars = string.unicodeScalars
    guard scalars.count == 4, scalars.allSatisfy({ $0.value < 0x100 }) else { return nil }
    self.init(padding: string)
  }

  private init(padding string: String) {
    var value: UInt32 = 0
    var count = 0
    for scalar in string.unicodeScalars.prefix(4) {
      value = value << 8 | scalar.value & 0xFF
      count += 1
    }
    while count < 4 {
      value = value << 8 | 0x20
      count += 1
    }
    rawValue = value
  }
}

extension FourCC: CustomStringConvertible {
  /// The four characters, or `0x` and eight hexadecimal digits if one is not printable.
  public var description: String {
    let bytes = [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: rawValue >> UInt32($0)) }
    guard bytes.allSatisfy({ (0x20...0x7E).contains($0) || $0 >= 0xA0 }) else {
      let digits = String(rawValue, radix: 16, uppercase: true)
      return "0x" + String(repeating: "0", count: 8 - digits.count) + digits
    }
    var string = ""
    for byte in bytes {
      string.unicodeScalars.append(Unicode.Scalar(byte))
    }
    return string
  }
}
