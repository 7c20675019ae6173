/// Bit fields of a byte array, the most significant bit first.
struct BitField {
  private let bytes: [UInt8]
  private var position = 0

  init(_ bytes: [UInt8]) {
    self.bytes = bytes
  }

  /// The next `count` bits, up to 32; nil at the end.
  mutating func read(_ count: Int) -> Int? {
    guard bytes.count * 8 - position >= count else { return nil }
    var value = 0
    for bit in position..<position + count {
      value = value << 1 | Int(bytes[bit >> 3] >> UInt8(7 - bit & 7) & 1)
    }
    position += count
    return value
  }
}

/// Bit fields written one behind the other.
struct BitFieldWriter {
  private(set) var bytes: [UInt8] = []
  private var position = 0

  mutating func write(_ value: Int, _ count: Int) {
    for bit in (0..<count).reversed() {
      if position & 7 == 0 { bytes.append(0) }
      bytes[bytes.count - 1] |= UInt8(value >> bit & 1) << UInt8(7 - position & 7)
      position += 1
    }
  }
}
