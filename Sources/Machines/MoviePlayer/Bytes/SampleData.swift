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

/// Bytes of a file that can be read anywhere: neighbours that are small come from one read, as
/// references into it.
struct ReadAhead {
  /// Bytes of the file in memory.
  struct Window {
    let offset: UInt64
    let slice: ByteSlice

    /// A reference to a part of the bytes; nil where they are not all here.
    func part(_ offset: UInt64, _ size: Int) -> ByteSlice? {
      guard offset >= self.offset, let distance = Int(exactly: offset - self.offset),
        distance <= slice.count, size <= slice.count - distance
      else { return nil }
      return slice.part(distance..<distance + size)
    }
  }

  /// Bytes that are read at once at the most, but for samples that are larger.
  static let windowSize = 256 * 1024
  /// Whoever has read a file so often reads the same again and again.
  private static let maximumRounds: UInt64 = 16

  /// The bytes that have been read.
  private var total: UInt64 = 0
  /// One for each track: where tracks lie far apart, each reads at its own place.
  private var windows: [Window?]

  init(trackCount: Int) {
    windows = Array(repeating: nil, count: trackCount)
  }

  /// A part of what has been read, for whatever track.
  func part(_ offset: UInt64, _ size: Int) -> ByteSlice? {
    for window in windows {
      if let part = window?.part(offset, size) { return part }
    }
    return nil
  }

  mutating func count(_ size: Int) { total &+= UInt64(clamping: size) }

  /// Whether reading more than what is needed has been of use.
  func isWorthwhile(fileSize: UInt64) -> Bool { total / Self.maximumRounds <= fileSize }

  /// Keeps what was read for a track, in place of what was read for it before; nothing, before the
  /// next read, so that there are never two of its windows in memory.
  mutating func keep(_ window: Window?, for track: Int) {
    guard windows.indices.contains(track) else { return }
    windows[track] = window
  }
}
