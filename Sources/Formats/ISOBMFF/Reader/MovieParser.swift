// SPDX-License-Identifier: MPL-2.0

/// Parses the top-level boxes of a file without doing any input: it requests bytes, and the caller
/// supplies them.
///
/// The same parser works for files with random access and for streams whose bytes arrive once, in
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
/// In a stream, the bytes before a requested range belong to `mdat` and to boxes that the parser
/// does not read: the caller extracts samples from them or drops them. Any part of a requested
/// range may be supplied; the parser requests the rest.
public struct MovieParser: Sendable {
  /// The next box of the file, or the bytes needed to continue.
  public enum Event: Sendable {
    /// The parsed `ftyp` box.
    case fileType(FileType)
    /// The index of the movie. If there are several, only the first unless `readsLaterMovies` is
    /// set.
    case movie(Movie)
    /// The index of a fragment, whose data usually follow.
    case fragment(MovieFragment)
    /// A parsed `sidx` box.
    case segmentIndex(SegmentIndex)
    /// A parsed `mfra` box.
    case randomAccess(FragmentRandomAccess)
    /// The range of sample data in the file, in bytes; it ends at the end of the file or box, or at
    /// `UInt64.max` if that is unknown.
    case mediaData(Range<UInt64>)
    /// A `uuid` box of at most 4 MiB.
    case userBox(OpaqueBox)
    /// A box that is not parsed: its type and the range of its content.
    case box(FourCC, Range<UInt64>)
    /// Bytes of the file that the parser needs before it can continue.
    case needBytes(Range<UInt64>)
    /// The end of the file.
    case end
  }

  /// In bytes. A larger index, which would be that of a movie of several hundred hours, is
  /// rejected.
  public static let maximumIndexSize: UInt64 = 1 << 30
  /// Maximum number of bytes requested at once, so that a false size does not make the caller
  /// allocate it.
  private static let maximumRequest: UInt64 = 1 << 22
  /// Limit for consecutive empty boxes: no real movie has more, and they only cost time.
  private static let maximumEmptyBoxCount = 1 << 18

  /// Whether later `moov` boxes are reported too: a stream may start again with a new one.
  public var readsLaterMovies = false
  /// Offset of the next box in the file, in bytes.
  public private(set) var position: UInt64 = 0
  private var fileSize: UInt64?
  /// The supplied bytes of the file from `position` on.
  private var buffer: [UInt8] = []
  private var wanted: Range<UInt64> = 0..<0
  private var hasMovie = false
  /// Number of consecutive empty boxes skipped so far.
  private var emptyBoxCount = 0
  private var fragmentDefaults: [TrackID: TrackRun.Defaults] = [:]
  private var decodeTimes: [TrackID: Int64] = [:]

  /// Creates a parser at the start of a file.
  ///
  /// - Parameter fileSize: size of the file in bytes; nil if unknown.
  public init(fileSize: UInt64? = nil) {
    self.fileSize = fileSize
  }

  /// Returns the next event; repeats a request until some of its bytes are supplied.
  ///
  /// - Throws: ``ISOBMFFError``. After an error, the parser can continue only by ``seek(to:)``.
  public mutating func next() throws(ISOBMFFError) -> Event {
    if let fileSize, position >= fileSize || fileSize - position < 8 {
      return try end()
    }
    // After a box that extends to an unknown end there is nothing; `position` is then huge.
    guard position <= UInt64(Int64.max) else { return try end() }
    guard let box = try header() else { return request(upTo: 16) }
    guard reads(box) else {
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

  /// Takes the requested bytes out of `bytes`, which begin at `offset` in the file; ignores the
  /// others.
  public mutating func supply(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) {
    guard offset <= wanted.lowerBound, let skipped = Int(exactly: wanted.lowerBound - offset),
      skipped < bytes.count
    else { return }
    let taken = bytes.dropFirst(skipped).prefix(wanted.count)
    buffer.append(contentsOf: UnsafeRawBufferPointer(rebasing: taken))
    wanted = wanted.lowerBound + UInt64(taken.count)..<wanted.upperBound
  }

  /// Takes the requested bytes out of `bytes`, which begin at `offset` in the file; ignores the
  /// others.
  public mutating func supply(_ bytes: [UInt8], at offset: UInt64) {
    bytes.withUnsafeBytes { supply($0, at: offset) }
  }

  /// Sets the size of a stream of unknown length when it has ended.
  public mutating func endOfStream(at fileSize: UInt64) {
    self.fileSize = fileSize
  }

  /// Continues at another box of the same file, which begins at `offset`.
  public mutating func seek(to offset: UInt64) {
    emptyBoxCount = 0
    move(to: offset)
  }
}

extension MovieParser {
  /// A top-level box.
  private struct Box {
    var type: FourCC
    var headerSize: Int
    /// Size including the header; for a box that extends to an unknown end, `UInt64.max` minus its
    /// position.
    var size: UInt64
  }

  private static let readTypes: Set<FourCC> = ["ftyp", "moof", "sidx", "mfra"]

  /// Returns the format of a file that begins with other bytes than a movie, for a message; empty
  /// if it is unknown.
  private static func otherFormat(_ start: BigEndianTable) -> String {
    switch start.number(0) {
    case 0x1A45_DFA3: ", but Matroska or WebM"
    case 0x5249_4646: ", but RIFF, such as AVI"
    case 0x464C_5601: ", but Flash Video"
    case 0x4F67_6753: ", but Ogg"
    case 0x060E_2B34: ", but MXF"
    case let first where first >> 24 == 0x47: ", but perhaps an MPEG transport stream"
    default: ""
    }
  }

  /// Returns the header at the current position, or nil if more bytes are needed.
  private func header() throws(ISOBMFFError) -> Box? {
    let table = BigEndianTable(bytes: buffer, start: 0, count: buffer.count / 4, stride: 4)
    guard table.count >= 2 else { return nil }
    let type = FourCC(rawValue: table.number(1))
    guard hasMovie || type.isPlausible else {
      throw ISOBMFFError(
        path: "", offset: position,
        reason: "not a QuickTime or MP4 file\(Self.otherFormat(table))")
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

  private func reads(_ box: Box) -> Bool {
    switch box.type {
    case "moov": !hasMovie || readsLaterMovies
    case "uuid":
      box.size <= FileLevelBoxes.maximumSize && fileSize.map { box.size <= $0 - position } ?? true
    default: Self.readTypes.contains(box.type)
    }
  }

  /// Throws if a box that has to be read is incomplete or too large.
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
        reason: "the file ends without a moov box: it is not a movie or is truncated")
    }
    return .end
  }

  /// Requests the bytes from the current position to `count` bytes after it.
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

  /// Parses a box that is completely in the buffer and moves past it.
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
    case "uuid":
      event = .userBox(OpaqueBox("uuid", payload: content))
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
  /// Whether all characters are printable ASCII or QuickTime's ©.
  var isPlausible: Bool {
    [24, 16, 8, 0].allSatisfy {
      let byte = rawValue >> UInt32($0) & 0xFF
      return (0x20...0x7E).contains(byte) || byte == 0xA9
    }
  }
}
