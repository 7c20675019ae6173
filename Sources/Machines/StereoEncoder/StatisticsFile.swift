// SPDX-License-Identifier: MPL-2.0

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// Files in which the first of two passes writes down what it measures, and that the second reads.
enum StatisticsFile {
  /// Opens a regular file: a pipe or a device could keep whoever opens it waiting for ever.
  ///
  /// - Parameters:
  ///   - mode: as of `fopen`.
  ///   - failure: what cannot be done with it where it does not open.
  static func open(
    _ path: String, _ mode: String, _ failure: String
  ) throws(StereoEncoderError) -> UnsafeMutablePointer<FILE> {
    var status = stat()
    guard stat(path, &status) != 0 || status.st_mode & S_IFMT == S_IFREG else {
      throw .setting(name: "pass", reason: "'\(path)' \(failure) (it is no regular file)")
    }
    guard let file = fopen(path, mode) else {
      throw .setting(
        name: "pass", reason: "'\(path)' \(failure) (\(String(cString: strerror(errno))))")
    }
    return file
  }
}
