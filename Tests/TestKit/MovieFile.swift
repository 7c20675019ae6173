// SPDX-License-Identifier: MPL-2.0

internal import Foundation
public import ISOBMFF

/// A movie file, read with the project's reader, which finds nothing wrong with it.
public struct MovieFile: Sendable {
  public let bytes: [UInt8]
  public let fileType: FileType?
  public let movie: Movie

  public init(_ path: String) throws {
    try self.init(bytes: [UInt8](Data(contentsOf: URL(filePath: path))), name: path)
  }

  /// - Parameter name: what errors call it.
  public init(bytes: [UInt8], name: String = "the file") throws {
    var parser = MovieParser(fileSize: UInt64(bytes.count))
    var fileType: FileType?
    var found: Movie?
    reading: while true {
      switch try parser.next() {
      case .needBytes(let range):
        parser.supply(
          Array(bytes[Int(range.lowerBound)..<Int(range.upperBound)]), at: range.lowerBound)
      case .fileType(let type): fileType = type
      case .movie(let movie): found = movie
      case .fragment(let fragment): found?.append(fragment)
      case .end: break reading
      default: break
      }
    }
    guard let found else { throw Failure("\(name) has no movie box") }
    guard found.issues.isEmpty else { throw Failure("\(name): \(found.issues)") }
    self.bytes = bytes
    self.fileType = fileType
    movie = found
  }

  public func track(_ handler: FourCC) throws -> Track {
    guard let track = movie.tracks.first(where: { $0.handlerType == handler }) else {
      throw Failure("the movie has no track '\(handler)'")
    }
    return track
  }

  public func videoEntry() throws -> VisualSampleEntry {
    guard case .video(let entry) = try track("vide").sampleEntries.first else {
      throw Failure("the movie has no video sample entry")
    }
    return entry
  }

  /// The bytes of a track's samples, in decoding order.
  public func samples(_ handler: FourCC) throws -> [[UInt8]] {
    let samples = try track(handler).samples
    return try (0..<samples.count).map { index in
      guard let sample = samples.sample(at: index),
        sample.offset + UInt64(sample.size) <= UInt64(bytes.count)
      else { throw Failure("sample \(index) lies outside the file") }
      return Array(bytes[Int(sample.offset)..<Int(sample.offset) + Int(sample.size)])
    }
  }
}
