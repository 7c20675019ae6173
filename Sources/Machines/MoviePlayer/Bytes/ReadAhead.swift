// SPDX-License-Identifier: MPL-2.0

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
