// SPDX-License-Identifier: MPL-2.0

package import ISOBMFF

#if canImport(Darwin)
  internal import Darwin
#else
  internal import Glibc
#endif

/// The index of a movie file, fragments included.
package struct MovieReader: Sendable {
  package let fileType: FileType?
  package let movie: Movie
  /// In bytes.
  package let size: UInt64

  /// Reads what the parser asks for, and no more. Throws a ``StereoMediaError``.
  package init(path: String) throws {
    // A pipe without a writer would keep it waiting.
    let file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard file >= 0 else {
      throw StereoMediaError.unreadable(path, String(cString: strerror(errno)))
    }
    defer { close(file) }
    var status = stat()
    guard fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
      throw StereoMediaError.unreadable(path, "it is not a file")
    }
    size = UInt64(clamping: status.st_size)
    var parser = MovieParser(fileSize: size)
    var fileType: FileType?
    var movie: Movie?
    do {
      reading: while true {
        switch try parser.next() {
        case .needBytes(let range):
          parser.supply(try Self.read(file, range, path), at: range.lowerBound)
        case .fileType(let type): fileType = type
        case .movie(let index): movie = index
        case .fragment(let fragment): movie?.append(fragment)
        case .end: break reading
        case .segmentIndex, .randomAccess, .mediaData, .box: break
        }
      }
    } catch let error as ISOBMFFError where movie == nil {
      throw StereoMediaError.unreadable(path, "\(error)")
    } catch is ISOBMFFError {
      // What the index says still holds where what is behind it is broken.
    }
    guard let movie else {
      throw StereoMediaError.unreadable(
        path, "it is no QuickTime or MP4 movie: it has no 'moov' box")
    }
    (self.fileType, self.movie) = (fileType, movie)
  }

  private static func read(_ file: Int32, _ range: Range<UInt64>, _ path: String) throws -> [UInt8]
  {
    var bytes = [UInt8](repeating: 0, count: Int(clamping: range.upperBound - range.lowerBound))
    let count = pread(file, &bytes, bytes.count, off_t(clamping: range.lowerBound))
    guard count > 0 else { throw StereoMediaError.unreadable(path, "it ends within its index") }
    return Array(bytes.prefix(count))
  }
}
