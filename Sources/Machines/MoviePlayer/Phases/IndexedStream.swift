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
