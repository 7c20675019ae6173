import GStreamer
import ISOBMFF

/// Reads a file's samples in pieces: neighbours that are small come from one read, as references
/// into it.
struct ReadAhead {
  /// Bytes of the file in memory.
  struct Window {
    let offset: UInt64
    let buffer: Buffer

    /// A reference to a part of the bytes; nil where they are not all here.
    func part(_ offset: UInt64, _ size: Int) -> Buffer? {
      guard offset >= self.offset, let distance = Int(exactly: offset - self.offset) else {
        return nil
      }
      return buffer.memory(offset: distance, size: size)
    }
  }

  /// Bytes that are read at once at the most, but for samples that are larger.
  static let pieceSize = 256 * 1024

  /// Samples of so many bytes, which are key frames mostly, are read into memory that is used
  /// again.
  private static let recycledSize: UInt32 = 1 << 20
  private let recycled = RecycledMemory()

  /// The bytes that have been read.
  private var total: UInt64 = 0
  /// Whoever has read a file so often reads the same again and again.
  private static let maximumRounds: UInt64 = 16

  /// One for each track: where tracks lie far apart, each reads at its own place.
  private var windows: [Window?]

  init(trackCount: Int) {
    windows = Array(repeating: nil, count: trackCount)
  }

  /// A part of what has been read, for whatever track.
  func part(_ offset: UInt64, _ size: Int) -> Buffer? {
    for window in windows {
      if let part = window?.part(offset, size) { return part }
    }
    return nil
  }

  /// Where to read so many bytes to; nil where any new memory will do.
  func target(size: UInt32) -> Buffer? {
    size >= Self.recycledSize ? recycled.buffer(size: Int(size)) : nil
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

extension DemuxTrack {
  /// How many bytes to read at the next sample so that those behind it come along, as long as they
  /// lie about as close as their sizes say.
  func readSize(_ item: Item, _ look: (Int) -> (offset: UInt64, size: UInt32)?) -> UInt64 {
    guard item.size <= UInt64(ReadAhead.pieceSize / 2) else { return item.size }
    let limit = item.record.offset.addingReportingOverflow(UInt64(ReadAhead.pieceSize))
    var size = item.size
    var distance = item.count
    while !limit.overflow, let other = look(next + distance),
      other.offset >= item.record.offset, other.offset < limit.partialValue,
      (other.offset - item.record.offset) / 4 <= max(item.size, 256) * UInt64(clamping: distance)
    {
      let end = other.offset.addingReportingOverflow(UInt64(other.size)).partialValue
      guard end <= limit.partialValue, end > item.record.offset else { break }
      size = max(size, end - item.record.offset)
      distance *= 2
    }
    return size
  }
}
