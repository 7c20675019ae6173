// SPDX-License-Identifier: MPL-2.0

/// The bytes of a sample as references to what was read, in order and in as few parts as possible.
public struct SampleData: Sendable {
  /// The first part.
  public let first: ByteSlice
  /// The remaining parts; usually none.
  public let others: [ByteSlice]

  init(_ first: ByteSlice, _ others: [ByteSlice] = []) {
    (self.first, self.others) = (first, others)
  }

  /// Nil if there are no parts.
  init?(_ parts: [ByteSlice]) {
    guard let first = parts.first else { return nil }
    self.init(first, Array(parts.dropFirst()))
  }

  /// The total number of bytes.
  public var byteCount: Int { others.reduce(first.count) { $0 + $1.count } }

  /// The number of parts; 1 or more.
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

  /// Returns the bytes as one part, copied if there are several.
  func joined() -> ByteSlice {
    guard !others.isEmpty else { return first }
    return ByteSlice(OwnedBytes(count: byteCount) { write(into: $0) })
  }
}

/// Read-ahead for a random-access source: small neighbouring samples are served from one read, as
/// references to it.
struct ReadAhead {
  /// A range of the file that is in memory.
  struct Window {
    let offset: UInt64
    let slice: ByteSlice

    /// Returns a reference to a part of the bytes; nil if they are not all here.
    func part(_ offset: UInt64, _ size: Int) -> ByteSlice? {
      guard offset >= self.offset, let distance = Int(exactly: offset - self.offset),
        distance <= slice.count, size <= slice.count - distance
      else { return nil }
      return slice.part(distance..<distance + size)
    }
  }

  /// Maximum size of a read, in bytes, except for larger samples.
  static let windowSize = 256 * 1024
  /// If the file has been read this many times over, read-ahead only reads the same bytes again.
  private static let maximumReadPasses: UInt64 = 16

  /// Number of bytes read so far.
  private var total: UInt64 = 0
  /// One window per track, since tracks far apart in the file read at their own positions.
  private var windows: [Window?]

  init(trackCount: Int) {
    windows = Array(repeating: nil, count: trackCount)
  }

  /// Returns bytes from any track's window; nil if they are in none.
  func part(_ offset: UInt64, _ size: Int) -> ByteSlice? {
    for window in windows {
      if let part = window?.part(offset, size) { return part }
    }
    return nil
  }

  mutating func count(_ size: Int) { total &+= UInt64(clamping: size) }

  /// Whether read-ahead still pays off.
  func isWorthwhile(fileSize: UInt64) -> Bool { total / Self.maximumReadPasses <= fileSize }

  /// Replaces a track's window. It is cleared before the next read so that no track ever has two
  /// windows in memory.
  mutating func keep(_ window: Window?, for track: Int) {
    guard windows.indices.contains(track) else { return }
    windows[track] = window
  }
}
