// SPDX-License-Identifier: MPL-2.0

import ISOBMFF
import StereoVideo

/// A stream of bytes whose boxes are parsed as they arrive.
struct IndexedStream: Sendable {
  var input: StreamInput
  private var parser = MovieParser()
  /// Fragment positions, from the first index found.
  var fragments: FragmentIndex?
  /// Whether no more boxes are to be parsed.
  private(set) var isParsed = false
  /// Whether bytes have arrived since the parser last ran out of them.
  private var isStale = true

  init(_ input: StreamInput) {
    self.input = input
  }

  /// All bytes before this file offset have been parsed.
  var parsedEnd: UInt64 { isParsed ? .max : parser.position }

  mutating func append(_ slice: ByteSlice, time: ClockTime?) {
    input.append(slice, time: time)
    isStale = true
  }

  mutating func endInput() {
    input.hasEnded = true
    isStale = true
  }

  /// Sets the file offset of the next bytes.
  mutating func begin(at offset: UInt64) {
    input.begin(at: offset)
    isStale = true
  }

  /// Parses boxes from this file offset on.
  mutating func readBoxes(from offset: UInt64) {
    parser.seek(to: offset)
    isParsed = false
    isStale = true
  }

  /// Also returns movie boxes that follow the first one.
  mutating func followLaterMovies() { parser.readsLaterMovies = true }

  /// Stops parsing, because no more boxes are needed.
  mutating func stopReading() { isParsed = true }

  /// Returns the next box; nil if more bytes must arrive or no boxes are left.
  mutating func nextBox() throws(ISOBMFFError) -> MovieParser.Event? {
    while isStale, !isParsed {
      switch try parser.next() {
      case .needBytes(let range):
        if let bytes = input.queue.bytes(from: range.lowerBound) {
          bytes.withBytes { parser.supply($0, at: range.lowerBound) }
        } else if input.hasEnded {
          parser.endOfStream(at: input.queue.end)
        } else {
          isStale = false
        }
      case .segmentIndex(let index):
        if fragments == nil, index.references.allSatisfy({ !$0.isIndex }) {
          fragments = .segments(index)
        }
      case .randomAccess(let index):
        if fragments == nil { fragments = .randomAccess(index) }
      case .end: isParsed = true
      case let event: return event
      }
    }
    return nil
  }

  /// Returns the `mfra` index at an offset, if it has arrived and is valid; otherwise nil.
  func randomAccess(at offset: UInt64, fileSize: UInt64) -> FragmentRandomAccess? {
    var parser = MovieParser(fileSize: fileSize)
    parser.seek(to: offset)
    while let event = try? parser.next() {
      switch event {
      case .randomAccess(let index): return index
      case .needBytes(let range):
        guard let bytes = input.queue.bytes(from: range.lowerBound) else { return nil }
        bytes.withBytes { parser.supply($0, at: range.lowerBound) }
      default: return nil
      }
    }
    return nil
  }
}

/// The properties of a source that delivers bytes in order.
public struct StreamSource: Hashable, Sendable {
  /// Whether the source can continue at another byte offset.
  public var isMovable = false
  /// In bytes; nil if unknown.
  public var size: UInt64?
  /// Whether seeking is expensive or may fail, as over a network, so that it must be worthwhile.
  public var isSlow = false

  /// Creates a description of a source, by default one of unknown size that cannot seek.
  public init(isMovable: Bool = false, size: UInt64? = nil, isSlow: Bool = false) {
    (self.isMovable, self.size, self.isSlow) = (isMovable, size, isSlow)
  }
}

/// The bytes received from a stream and the abilities of its source.
struct StreamInput: Sendable {
  var queue = ByteQueue()
  /// Total number of bytes received.
  private(set) var received: UInt64 = 0
  var hasEnded = false
  private var source: StreamSource
  /// Presentation time of the first bytes according to the source; nil if it has not given any.
  private(set) var time: ClockTime?
  /// Whether nothing has arrived since the source was moved last.
  private var isFresh = true
  private var hasMoved = false

  init(_ source: StreamSource) {
    self.source = source
  }

  /// Whether the source can continue at another byte offset.
  var isMovable: Bool {
    get { source.isMovable }
    set { source.isMovable = newValue }
  }

  /// - Parameter time: Presentation time of the first sample that starts in the chunk, according to
  ///   the source.
  mutating func append(_ slice: ByteSlice, time: ClockTime?) {
    received &+= UInt64(slice.count)
    if self.time == nil { self.time = time }
    isFresh = false
    queue.append(slice)
  }

  /// Sets the file offset of the next bytes.
  mutating func begin(at offset: UInt64) {
    queue = ByteQueue(at: offset)
    hasEnded = false
    isFresh = true
    hasMoved = true
    time = nil
  }

  /// The offset at which the source delivered nothing after it was moved there, although the file
  /// is longer; else nil.
  var deadEnd: UInt64? {
    guard hasMoved, isFresh, hasEnded, let size = source.size, queue.end < size else { return nil }
    return queue.end
  }

  /// Whether it is better to ask the source to skip to a range than to read on to its end.
  func shouldSkip(for range: Range<UInt64>) -> Bool {
    // Over a network, 4 MiB arrive sooner than the response to a range request, which may fail too.
    let least: UInt64 = source.isSlow ? 1 << 22 : 1 << 16
    return isMovable && range.upperBound < .max && range.upperBound > queue.end
      && range.upperBound - queue.end > least
  }

  /// The file size, if reading an index from the end of the file is worthwhile; else nil.
  var sizeToSearch: UInt64? {
    guard isMovable, !hasEnded, !source.isSlow, let size = source.size, size > queue.end else {
      return nil
    }
    return size
  }
}
