// SPDX-License-Identifier: MPL-2.0

import ISOBMFF

/// What a parser finds in a file.
struct ParsedFile {
  var fileType: FileType?
  var movie: Movie?
  var fragments: [MovieFragment] = []
  var segmentIndexes: [SegmentIndex] = []
  var randomAccess: FragmentRandomAccess?
  var mediaData: [Range<UInt64>] = []
  var otherBoxes: [FourCC] = []

  private mutating func add(_ event: MovieParser.Event) {
    switch event {
    case .fileType(let type): fileType = type
    case .movie(let found): movie = found
    case .fragment(let fragment):
      fragments.append(fragment)
      movie?.append(fragment)
    case .segmentIndex(let index): segmentIndexes.append(index)
    case .randomAccess(let access): randomAccess = access
    case .mediaData(let range): mediaData.append(range)
    case .userBox(let box): otherBoxes.append(box.type)
    case .box(let type, _): otherBoxes.append(type)
    case .needBytes, .end: break
    }
  }

  /// Reads a file that is there as a whole.
  init(pulling bytes: [UInt8]) throws {
    var parser = MovieParser(fileSize: UInt64(bytes.count))
    while true {
      let event = try parser.next()
      add(event)
      if case .end = event { return }
      guard case .needBytes(let range) = event else { continue }
      parser.supply(
        Array(bytes[Int(range.lowerBound)..<Int(range.upperBound)]), at: range.lowerBound)
    }
  }

  /// Reads a stream that comes in chunks, whose length is not known before its end.
  init(pushing bytes: [UInt8], chunkSizes: () -> Int) throws {
    var parser = MovieParser()
    var start = 0
    var chunk: [UInt8] = []
    while true {
      let event = try parser.next()
      add(event)
      if case .end = event { return }
      guard case .needBytes(let range) = event else { continue }
      while range.lowerBound >= UInt64(start + chunk.count), start + chunk.count < bytes.count {
        start += chunk.count
        chunk = Array(bytes[start..<min(bytes.count, start + chunkSizes())])
      }
      if range.lowerBound >= UInt64(start + chunk.count) {
        parser.endOfStream(at: UInt64(bytes.count))
      } else {
        parser.supply(chunk, at: UInt64(start))
      }
    }
  }
}

extension TrackSamples {
  var all: [SampleRecord] { (0..<count).compactMap { sample(at: $0) } }
}
