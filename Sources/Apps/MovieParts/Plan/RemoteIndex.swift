// SPDX-License-Identifier: MPL-2.0

internal import Glibc
internal import Web

/// The index of a QuickTime or MP4 movie on a server, as a file on the disk for what reads nothing
/// else. It has the size of the movie, and holes in place of the pictures. It goes with the object.
package final class RemoteIndex {
  /// The path of the file.
  package let path: String
  private let url: String

  /// No index is larger, in bytes.
  private static let maximumSize = 1 << 28
  /// A movie of more boxes has fragments, whose index is spread over all of it.
  private static let maximumCount = 64
  /// Boxes without an index.
  private static let skipped: Set<String> = ["mdat", "free", "skip", "wide"]
  /// Boxes with which such movies begin.
  private static let beginnings: Set<String> = [
    "ftyp", "moov", "mdat", "wide", "free", "skip", "pnot",
  ]

  /// Reads the index.
  ///
  /// - Parameters:
  ///   - url: of the movie.
  ///   - folder: in which the file is made.
  /// - Throws: a ``PartError`` if the movie cannot be read, or has no such index.
  package init(_ url: String, in folder: String) throws(PartError) {
    self.url = url
    // Others may write to the folder: the name must not be known before.
    var name = Array("\(folder)/gst-spatial-XXXXXX.mp4".utf8CString)
    let copy = mkstemps(&name, Int32(".mp4".utf8.count))
    path = String(decoding: name.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    guard copy >= 0 else {
      throw PartError(
        .final, "'\(path)' cannot be written: \(String(cString: strerror(errno)))")
    }
    defer { close(copy) }
    do {
      let file = try RemoteFile(url)
      guard ftruncate(copy, off_t(file.size)) == 0 else {
        throw errno == EFBIG
          ? PartError(.final, "'\(url)' is \(file.size) bytes long, which is too large")
          : Self.failure(path)
      }
      for box in try Self.boxes(of: file) {
        let bytes = try file.read(box)
        let count = bytes.withUnsafeBytes {
          pwrite(copy, $0.baseAddress, $0.count, off_t(box.lowerBound))
        }
        guard count == bytes.count else { throw Self.failure(path) }
      }
    } catch {
      unlink(path)
      throw (error as? RemoteFile.Problem).map { Self.error($0, url) } ?? error as? PartError
        ?? PartError(.repeatable, "\(error)")
    }
  }

  deinit { unlink(path) }

  /// Returns a message about the file as one about the movie.
  package func renamed(_ text: String) -> String { text.replacing(path, with: url) }

  /// Returns the bytes that make up the index: whole boxes, and the headers of the others.
  private static func boxes(of file: RemoteFile) throws -> [Range<Int>] {
    var ranges: [Range<Int>] = []
    var (offset, total) = (0, 0)
    while offset < file.size {
      guard ranges.count < maximumCount else {
        throw PartError(
          .final, "'\(file.url)' has fragments, whose index is spread over all of it",
          help: "download it first")
      }
      let header = try file.read(offset..<min(offset + 16, file.size))
      func number(_ place: Range<Int>) -> UInt64 {
        header[place].reduce(0) { $0 << 8 | UInt64($1) }
      }
      guard header.count >= 8 else { break }
      let type = String(decoding: header[4..<8], as: UTF8.self)
      guard offset > 0 || beginnings.contains(type) else {
        throw PartError(
          .final, "'\(file.url)' is not QuickTime or MP4, whose index tells where pictures are",
          help: "download it first")
      }
      let rest = UInt64(file.size - offset)
      let size =
        switch number(0..<4) {
        case 0: rest
        case 1 where header.count == 16: number(8..<16)
        case let size: size
        }
      guard size >= 8, size <= rest else {
        throw PartError(.final, "'\(file.url)' is damaged, or cut off, at byte \(offset)")
      }
      let isIndex = !skipped.contains(type)
      if isIndex { total += Int(size) }
      guard total <= maximumSize else {
        throw PartError(.final, "'\(file.url)' has an index of \(total) bytes, which is too large")
      }
      ranges.append(offset..<offset + (isIndex ? Int(size) : min(16, Int(size))))
      offset += Int(size)
    }
    return ranges
  }

  private static func failure(_ path: String) -> PartError {
    PartError(.repeatable, "'\(path)' cannot be written: \(String(cString: strerror(errno)))")
  }

  static func error(_ problem: RemoteFile.Problem, _ url: String) -> PartError {
    PartError(
      problem.isPassing ? .repeatable : .final, "'\(url)' cannot be read: \(problem.reason)")
  }
}
