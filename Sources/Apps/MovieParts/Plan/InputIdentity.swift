// SPDX-License-Identifier: MPL-2.0

internal import Glibc
internal import StereoMedia
internal import Web

/// A movie that is converted.
package struct PlannedInput: Equatable, Sendable {
  /// The absolute path, or the URL.
  package var path: String
  package var identity: InputIdentity

  /// Reads the marks of a movie.
  ///
  /// - Parameter name: the path as the user wrote it.
  /// - Throws: a ``PartError`` if it is not a file or cannot be read.
  package init(path: String, named name: String) throws(PartError) {
    self.init(path: path, identity: try InputIdentity(path: name))
  }

  package init(path: String, identity: InputIdentity) {
    (self.path, self.identity) = (path, identity)
  }

  /// Throws if the movie is not the one that was planned.
  func check() throws(PartError) {
    guard try InputIdentity(path: path) == identity else {
      throw PartError(
        .final, "'\(path)' is not the movie that was planned: its contents have changed",
        help: "plan again, in an empty folder")
    }
  }
}

/// The marks of the movie that was planned, without reading all of it: its size, and the hash of 64
/// blocks of 64 KiB. Not its time of change, which copies do not keep.
///
/// A change of a few bytes between the blocks is not noticed. Of a movie on a server, the version
/// that the server says takes the place of the hash.
package struct InputIdentity: Equatable, Sendable {
  /// In bytes.
  package let size: Int
  /// SHA-256 of the blocks, or the entity tag.
  package let sample: String

  package init(size: Int, sample: String) { (self.size, self.sample) = (size, sample) }

  /// Reads a movie.
  ///
  /// - Throws: a ``PartError`` if it is not a file or cannot be read.
  package init(path: String) throws(PartError) {
    if MovieLocation.isURL(path) {
      do {
        let file = try RemoteFile(path)
        (size, sample) = (file.size, file.version)
        return
      } catch {
        throw RemoteIndex.error(error, path)
      }
    }
    var status = stat()
    guard stat(path, &status) == 0 else {
      throw PartError(.final, "'\(path)' cannot be read: \(String(cString: strerror(errno)))")
    }
    guard status.st_mode & S_IFMT == S_IFREG else {
      throw PartError(.final, "'\(path)' is not a file")
    }
    size = Int(status.st_size)
    sample = try FileHash.sample(ofFile: path, size: size, blocks: 64, blockSize: 65536)
  }
}
