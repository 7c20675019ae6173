// SPDX-License-Identifier: MPL-2.0

import ISOBMFF

/// A stream of bytes whose boxes are read as they come.
struct IndexedStream: Sendable {
  var input: StreamInput
  private var parser = MovieParser()
  /// Where the fragments lie, by the first index that says so.
  var fragments: FragmentIndex?
  /// Nothing more is to be said of the boxes.
  private(set) var isParsed = false
  /// Bytes have come since boxes were looked for.
  private var isStale = true

  init(_ input: StreamInput) {
    self.input = input
  }

  /// Bytes before this place have been read as boxes.
  var parsedEnd: UInt64 { isParsed ? .max : parser.position }

  mutating func append(_ slice: ByteSlice, time: Nanoseconds?) {
    input.append(slice, time: time)
    isStale = true
  }

  mutating func endInput() {
    input.hasEnded = true
    isStale = true
  }

  /// What comes next in the stream belongs to this place of the file.
  mutating func begin(at offset: UInt64) {
    input.begin(at: offset)
    isStale = true
  }

  /// Reads boxes from this place on.
  mutating func readBoxes(from offset: UInt64) {
    parser.seek(to: offset)
    isParsed = false
    isStale = true
  }

  /// Gives further indexes of the movie too, which come in mid-stream.
  mutating func followLaterMovies() { parser.readsLaterMovies = true }

  /// Reads no more boxes, as none have to come.
  mutating func stopReading() { isParsed = true }

  /// What the next box is; nil where more bytes have to come, or nothing is left.
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

  /// The index that lies here, of what has come; nil where there is none.
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

/// What a source is that gives a stream of bytes, one behind the other.
public struct StreamSource: Hashable, Sendable {
  /// It goes on at another byte where it is asked to.
  public var isMovable = false
  /// In bytes; nil where that is not known.
  public var size: UInt64?
  /// Going elsewhere costs it much, or may fail, as over a network: it is done only where much is
  /// saved by it.
  public var isSlow = false

  public init(isMovable: Bool = false, size: UInt64? = nil, isSlow: Bool = false) {
    (self.isMovable, self.size, self.isSlow) = (isMovable, size, isSlow)
  }
}

/// What has come of a stream of bytes, and what its source can do.
struct StreamInput: Sendable {
  var queue = ByteQueue()
  /// How many bytes have come in all.
  private(set) var received: UInt64 = 0
  var hasEnded = false
  private var source: StreamSource
  /// When what came first is shown, as the source says; nil where it has not said anything yet.
  private(set) var time: Nanoseconds?
  /// Nothing has come since the source was moved last.
  private var isFresh = true
  private var hasMoved = false

  init(_ source: StreamSource) {
    self.source = source
  }

  /// The source goes where it is asked to.
  var isMovable: Bool {
    get { source.isMovable }
    set { source.isMovable = newValue }
  }

  /// - Parameter time: when what begins there is shown, as the source says.
  mutating func append(_ slice: ByteSlice, time: Nanoseconds?) {
    received &+= UInt64(slice.count)
    if self.time == nil { self.time = time }
    isFresh = false
    queue.append(slice)
  }

  /// What comes next belongs to this place of the file.
  mutating func begin(at offset: UInt64) {
    queue = ByteQueue(at: offset)
    hasEnded = false
    isFresh = true
    hasMoved = true
    time = nil
  }

  /// Where the source went when it was asked to, and gave nothing although the file goes on there.
  var deadEnd: UInt64? {
    guard hasMoved, isFresh, hasEnded, let size = source.size, queue.end < size else { return nil }
    return queue.end
  }

  /// Whether so much of a range of bytes has not come yet that it is better to ask the source for
  /// what is behind it.
  func isWorthLeaving(for range: Range<UInt64>) -> Bool {
    // Over a network, 4 MiB come sooner than the answer to a request, if there is one at all.
    let least: UInt64 = source.isSlow ? 1 << 22 : 1 << 16
    return isMovable && range.upperBound < .max && range.upperBound > queue.end
      && range.upperBound - queue.end > least
  }

  /// The size of the file, where it is worth while to look what its end says.
  var sizeToSearch: UInt64? {
    guard isMovable, !hasEnded, !source.isSlow, let size = source.size, size > queue.end else {
      return nil
    }
    return size
  }
}
