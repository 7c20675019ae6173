// SPDX-License-Identifier: MPL-2.0

import ISOBMFF
import StereoVideo

/// Reads a movie with random access, then in chunks, and queries it as a player would.
func readBoxes(_ bytes: [UInt8]) {
  for fileSize in [UInt64(bytes.count), nil] {
    _ = LayeredMovieProbe.isLayered(fileSize: fileSize) { offset, count in
      guard let start = Int(exactly: offset), count <= bytes.count - min(start, bytes.count) else {
        return nil
      }
      return Array(bytes[start..<start + count])
    }
  }
  if let movie = movie(bytes, chunkSize: nil) { ask(movie) }
  _ = movie(bytes, chunkSize: bytes.count / 7 + 1)
}

/// Reads a movie.
///
/// - Parameter chunkSize: maximum number of bytes supplied at a time; nil to supply all bytes
///   requested.
private func movie(_ bytes: [UInt8], chunkSize: Int?) -> Movie? {
  var parser = MovieParser(fileSize: chunkSize == nil ? UInt64(bytes.count) : nil)
  var movie: Movie?
  while let event = try? parser.next() {
    switch event {
    case .needBytes(let range):
      guard let start = Int(exactly: range.lowerBound), start < bytes.count else {
        // The file ends before the end of the box.
        if chunkSize == nil { return movie }
        parser.endOfStream(at: UInt64(bytes.count))
        if case .needBytes? = try? parser.next() { return movie }
        continue
      }
      let end = min(start + min(Int(clamping: range.count), chunkSize ?? .max), bytes.count)
      parser.supply(Array(bytes[start..<end]), at: range.lowerBound)
    case .movie(let index): movie = index
    case .fragment(let fragment): movie?.append(fragment)
    case .end: return movie
    default: break
    }
  }
  return movie
}

private func ask(_ movie: Movie) {
  for track in movie.tracks {
    let samples = track.samples
    let count = samples.count
    for index in [Int.min, -1, 0, 1, count / 2, count - 1, count, Int.max] {
      _ = samples.sample(at: index)
      _ = samples.run(at: index, maximumCount: .max)
      _ = samples.syncSample(atOrBefore: index)
      _ = samples.syncSample(after: index)
    }
    for time in [Int64.min, -1, 0, 1, samples.endDecodeTime / 2, samples.endDecodeTime, .max] {
      _ = samples.index(atDecodeTime: time)
      _ = samples.index(atPresentationTime: time)
    }
    for case .video(let entry) in track.sampleEntries {
      _ = (entry.packing, entry.spatialMetadata)
    }
  }
}
