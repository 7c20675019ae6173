// SPDX-License-Identifier: MPL-2.0

/// Goes through the boxes of a file, one by one, without reading it: it says which bytes it needs,
/// and is given them.
///
/// The same parser serves a file that can be read anywhere and a stream whose bytes come once, in
/// order:
///
/// ```swift
/// var parser = MovieParser(fileSize: size)
/// loop: while true {
///   switch try parser.next() {
///   case .needBytes(let range): parser.supply(read(range), at: range.lowerBound)
///   case .movie(let movie): show(movie.tracks)
///   case .end: break loop
///   default: break
///   }
/// }
/// ```
///
/// With a stream, bytes before a needed range are those of `mdat` and of boxes that the parser
/// does not read: the caller takes its samples from them, or drops them. Any part of a needed
/// range may be supplied; the parser asks for the rest.
public struct MovieParser: Sendable {
  /// What the parser came to, or what it needs to go on.
  public enum Event: Sendable {
    case fileType(FileType)
    /// The index of the movie; the first, if there are more, unless later ones are asked for.
    case movie(Movie)
    /// The index of a fragment, whose data usually follow.
    case fragment(MovieFragment)
    case segmentIndex(SegmentIndex)
    case randomAccess(FragmentRandomAccess)
    /// Where samples lie, in bytes from the file's start; up to the end of the file, or to
    /// `UInt64.max` where that is not known.
    case mediaData(Range<UInt64>)
    /// A box that is not read: its type, and where its content lies.
    case box(FourCC, Range<UInt64>)
    /// Bytes of the file that the parser has to have before it can go on.
    case needBytes(Range<UInt64>)
    /// The end of the file.
    case end
  }

  /// In bytes. A larger index is refused; it would be that of a movie of some hundred hours.
  public static let maximumIndexSize: UInt64 = 1 << 30
  /// No more bytes are asked for at once, lest a lying size makes the caller allocate it.
  private static let maximumRequest: UInt64 = 1 << 22
  /// More empty boxes one behind the other are no movie's, and only cost time.
  private static let maximumEmptyBoxCount = 1 << 18

  /// Whether every index is given: a stream may begin anew with another one.
  public var readsLaterMovies = false
  /// Where the next box begins, in bytes from the file's start.
  public private(set) var position: UInt64 = 0
  private var fileSize: UInt64?
  /// The bytes of the file from `position` on that have been supplied.
  private var buffer: [UInt8] = []
  private var wanted: Range<UInt64> = 0..<0
  private var hasMovie = false
  /// How many boxes without content have been passed over since the last one with some.
  private var emptyBoxCount = 0
  private var fragmentDefaults: [TrackID: TrackRun.Defaults] = [:]
  private var decodeTimes: [TrackID: Int64] = [:]

  /// - Parameter fileSize: in bytes, where it is known.
  public init(fileSize: UInt64? = nil) {
    self.fileSize = fileSize
  }

  /// What comes next; the same request again as long as nothing of it has been supplied.
  ///
  /// - Throws: an ``ISOBMFFError``. The parser does not get past it, except by ``seek(to:)``.
  public mutating func next() throws(ISOBMFFError) -> Event {
    if let fileSize, position >= fileSize || fileSize - position < 8 {
      return try end()
    }
    // Behind a box without an end there is nothing; so large an offset stands for that.
    guard position <= UInt64(Int64.max) else { return try end() }
    guard let box = try header() else { return request(upTo: 16) }
    guard Self.readTypes.contains(box.type),
      box.type != "moov" || !hasMovie || readsLaterMovies
    else {
      emptyBoxCount = box.size <= UInt64(box.headerSize) ? emptyBoxCount + 1 : 0
      guard emptyBoxCount <= Self.maximumEmptyBoxCount else {
        throw error(box.type, "more than \(Self.maximumEmptyBoxCount) empty boxes come in a row")
      }
      return skip(box)
    }
    emptyBoxCount = 0
    try check(box)
    guard UInt64(buffer.count) >= box.size else { return request(upTo: box.size) }
    return try read(box)
  }

  /// Takes what it needs of the bytes that begin at `offset` in the file; others are ignored.
  public mutating func supply(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) {
    guard offset <= wanted.lowerBound, let skipped = Int(exactly: wanted.lowerBound - offset),
      skipped < bytes.count
    else { return }
    let taken = bytes.dropFirst(skipped).prefix(wanted.count)
    buffer.append(contentsOf: UnsafeRawBufferPointer(rebasing: taken))
    wanted = wanted.lowerBound + UInt64(taken.count)..<wanted.upperBound
  }

  /// Takes what it needs of the bytes that begin at `offset` in the file; others are ignored.
  public mutating func supply(_ bytes: [UInt8], at offset: UInt64) {
    bytes.withUnsafeBytes { supply($0, at: offset) }
  }

  /// Says where a stream of unknown length has ended.
  public mutating func endOfStream(at fileSize: UInt64) {
    self.fileSize = fileSize
  }

  /// Goes on at another box of the same file, which begins at `offset`.
  public mutating func seek(to offset: UInt64) {
    emptyBoxCount = 0
    move(to: offset)
  }
}

extension MovieParser {
  /// A box of the file's top level.
  private struct Box {
    var type: FourCC
    var headerSize: Int
    /// With the header; `UInt64.max` minus its position for one that goes on to an unknown end.
    var size: UInt64
  }

  private static let readTypes: Set<FourCC> = ["ftyp", "moov", "moof", "sidx", "mfra"]

  /// The header at the position, or nil where more bytes are needed for it.
  private func header() throws(ISOBMFFError) -> Box? {
    let table = BigEndianTable(bytes: buffer, start: 0, count: buffer.count / 4, stride: 4)
    guard table.count >= 2 else { return nil }
    let type = FourCC(rawValue: table.number(1))
    guard hasMovie || type.isPlausible else {
      throw ISOBMFFError(
        path: "", offset: position,
        reason: "this is no ISO base media or QuickTime file: instead of a box there is \(type)")
    }
    let rest = (fileSize ?? .max) - position
    switch table.number(0) {
    case 0:
      return Box(type: type, headerSize: 8, size: rest)
    case 1:
      guard table.count >= 4 else {
        guard rest >= 16 else { throw error(type, "the file ends within its header") }
        return nil
      }
      let size = UInt64(table.number(2)) << 32 | UInt64(table.number(3))
      guard size >= 16 else {
        throw error(type, "its size \(size) is smaller than its own header of 16 bytes")
      }
      return Box(type: type, headerSize: 16, size: size)
    case let size:
      guard size >= 8 else {
        throw error(type, "its size \(size) is smaller than its own header of 8 bytes")
      }
      return Box(type: type, headerSize: 8, size: UInt64(size))
    }
  }

  /// Throws where a box that has to be read is not all there, or too large.
  private func check(_ box: Box) throws(ISOBMFFError) {
    if let fileSize, box.size > fileSize - position {
      throw error(
        box.type,
        "it is \(box.size) bytes long, but the file ends after \(fileSize - position) of them")
    }
    guard box.size <= Self.maximumIndexSize else {
      throw error(
        box.type, "it is \(box.size) bytes long; at most \(Self.maximumIndexSize) can be read")
    }
  }

  private func error(_ type: FourCC, _ reason: String) -> ISOBMFFError {
    ISOBMFFError(path: type.description, offset: position, reason: reason)
  }

  private func end() throws(ISOBMFFError) -> Event {
    guard hasMovie else {
      throw ISOBMFFError(
        path: "", offset: fileSize ?? position,
        reason: "the file ends without a moov box: it is no movie, or was cut off")
    }
    return .end
  }

  /// Asks for the bytes up to `count` from the position on.
  private mutating func request(upTo count: UInt64) -> Event {
    let start = position + UInt64(buffer.count)
    var end = position.addingReportingOverflow(count)
    if let fileSize, end.overflow || end.partialValue > fileSize {
      end.partialValue = fileSize
    }
    wanted = start..<max(start, min(end.partialValue, start + Self.maximumRequest))
    return .needBytes(wanted)
  }

  private mutating func skip(_ box: Box) -> Event {
    let end = position.addingReportingOverflow(box.size)
    let limit = min(end.overflow ? .max : end.partialValue, fileSize ?? .max)
    let content = min(position + UInt64(box.headerSize), limit)..<limit
    move(to: limit)
    return box.type == "mdat" ? .mediaData(content) : .box(box.type, content)
  }

  private mutating func move(to offset: UInt64) {
    position = offset
    buffer = []
    wanted = offset..<offset
  }

  /// Reads a box that is in the buffer and goes on behind it.
  private mutating func read(_ box: Box) throws(ISOBMFFError) -> Event {
    let content = Array(buffer[box.headerSize..<Int(box.size)])
    let contentOffset = position + UInt64(box.headerSize)
    let end = position + box.size
    let event: Event
    switch box.type {
    case "ftyp":
      event = .fileType(try FileType(content: content, at: contentOffset))
    case "moov":
      let movie = try Movie(content: content, at: contentOffset)
      hasMovie = true
      fragmentDefaults = movie.fragmentDefaults
      for track in movie.tracks {
        decodeTimes[track.id] = track.samples.endDecodeTime
      }
      event = .movie(movie)
    case "moof":
      event = .fragment(try fragment(content, headerSize: box.headerSize))
    case "sidx":
      event = .segmentIndex(try SegmentIndex(content: content, at: contentOffset, end: end))
    default:
      event = .randomAccess(try FragmentRandomAccess(content: content, at: contentOffset))
    }
    move(to: end)
    return event
  }

  private mutating func fragment(
    _ content: [UInt8], headerSize: Int
  ) throws(ISOBMFFError) -> MovieFragment {
    guard hasMovie else { throw error("moof", "it comes before the moov box it belongs to") }
    let fragment = try MovieFragment(
      content: content, at: position, headerSize: headerSize, defaults: fragmentDefaults,
      decodeTimes: decodeTimes)
    for trackFragment in fragment.trackFragments {
      if let end = trackFragment.runs.last?.end {
        decodeTimes[trackFragment.trackID] = end
      }
    }
    return fragment
  }
}

extension FourCC {
  /// All characters are letters, digits, punctuation or the © of QuickTime.
  fileprivate var isPlausible: Bool {
    [24, 16, 8, 0].allSatisfy {
      let byte = rawValue >> UInt32($0) & 0xFF
      return (0x20...0x7E).contains(byte) || byte == 0xA9
    }
  }
}
