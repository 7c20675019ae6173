// SPDX-License-Identifier: MPL-2.0

/// The bytes of a sample: parts of what was read, in order, as few as there can be.
public struct SampleData: Sendable {
  /// The first of the parts.
  public let first: ByteSlice
  /// The other parts; mostly there is none.
  public let others: [ByteSlice]

  init(_ first: ByteSlice, _ others: [ByteSlice] = []) {
    (self.first, self.others) = (first, others)
  }

  /// Nil without parts.
  init?(_ parts: [ByteSlice]) {
    guard let first = parts.first else { return nil }
    self.init(first, Array(parts.dropFirst()))
  }

  /// The size of all parts together.
  public var byteCount: Int { others.reduce(first.count) { $0 + $1.count } }

  /// How many parts there are; 1 or more.
  public var partCount: Int { 1 + others.count }

  /// All parts in order.
  public var parts: [ByteSlice] { [first] + others }

  /// A copy of the bytes.
  public var bytes: [UInt8] {
    [UInt8](unsafeUninitializedCapacity: byteCount) { output, count in
      count = byteCount
      write(into: UnsafeMutableRawBufferPointer(output))
    }
  }

  /// Copies the bytes to the start of a buffer.
  ///
  /// - Precondition: `output` has at least ``byteCount`` bytes.
  public func write(into output: UnsafeMutableRawBufferPointer) {
    var rest = output
    func copy(_ part: ByteSlice) {
      part.withBytes { rest.copyMemory(from: $0) }
      rest = UnsafeMutableRawBufferPointer(rebasing: rest.dropFirst(part.count))
    }
    copy(first)
    for part in others { copy(part) }
  }

  /// The bytes in one part, copied where they are in several.
  func joined() -> ByteSlice {
    guard !others.isEmpty else { return first }
    return ByteSlice(OwnedBytes(count: byteCount) { write(into: $0) })
  }
}
