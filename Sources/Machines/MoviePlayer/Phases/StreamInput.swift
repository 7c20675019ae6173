// SPDX-License-Identifier: MPL-2.0

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
