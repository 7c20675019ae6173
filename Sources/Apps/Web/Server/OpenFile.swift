// SPDX-License-Identifier: MPL-2.0

internal import Glibc

/// A regular file in a folder, open for reading.
public final class OpenFile: Sendable {
  /// Size in bytes when the file was opened.
  public let size: UInt64
  /// A strong validator (RFC 9110 8.8.3), with its quotation marks: it changes if the file is
  /// replaced or written to.
  public let tag: String
  private let descriptor: Int32

  /// Opens a file, unless it lies outside the folder, which a symbolic link may cause.
  ///
  /// - Parameters:
  ///   - path: the path components from the folder to the file.
  ///   - folder: an absolute path without symbolic links.
  /// - Returns: nil if there is no such file or it cannot be read.
  public init?(_ path: [String], in folder: String) {
    let file = open(
      folder + "/" + path.joined(separator: "/"), O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY)
    guard file >= 0 else { return nil }
    var status = stat()
    guard fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG,
      Self.path(of: file)?.hasPrefix(folder == "/" ? "/" : folder + "/") == true
    else {
      close(file)
      return nil
    }
    descriptor = file
    size = UInt64(clamping: status.st_size)
    let changed = [status.st_mtim.tv_sec, status.st_mtim.tv_nsec].map { String($0, radix: 36) }
    tag = "\"\(String(status.st_ino, radix: 36))-\(changed.joined(separator: "."))-\(size)\""
  }

  deinit { close(descriptor) }

  /// Returns the current path of an open file. It is not affected by a later change of the path
  /// that was opened.
  private static func path(of file: Int32) -> String? {
    let capacity = Int(PATH_MAX)
    var bytes = [CChar](repeating: 0, count: capacity)
    bytes.removeLast(capacity - max(0, readlink("/proc/self/fd/\(file)", &bytes, capacity)))
    return bytes.isEmpty
      ? nil : String(validating: bytes.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  /// Reads a range of bytes, fewer at the end of the file. Blocks on disk I/O.
  ///
  /// - Throws: a ``FileError``.
  public func read(_ range: Range<UInt64>) throws(FileError) -> [UInt8] {
    // The array without elements is one for all threads, and would be written to.
    guard !range.isEmpty else { return [] }
    var failure: Int32?
    let bytes = [UInt8](unsafeUninitializedCapacity: range.count) { buffer, count in
      while count < range.count {
        let place = off_t(clamping: range.lowerBound + UInt64(count))
        let rest = UnsafeMutableRawBufferPointer(
          rebasing: UnsafeMutableRawBufferPointer(buffer)[count...])
        let length = pread(descriptor, rest.baseAddress, rest.count, place)
        if length < 0, errno == EINTR { continue }
        if length < 0 { failure = errno }
        guard length > 0 else { return }
        count += length
      }
    }
    if let failure { throw FileError(code: failure) }
    return bytes
  }
}

/// The reason that a file cannot be read.
public struct FileError: Error, CustomStringConvertible {
  /// The value of `errno`.
  public let code: Int32

  /// Creates an error from a value of `errno`.
  public init(code: Int32) { self.code = code }

  /// The system's message for the code.
  public var description: String { String(cString: strerror(code)) }
}

/// Dates in HTTP headers (RFC 9110 5.6.7): `Sun, 06 Nov 1994 08:49:37 GMT`.
enum HTTPDate {
  static var now: String { text(secondsSince1970: time(nil)) }

  static func text(secondsSince1970 seconds: Int) -> String {
    let date = calendar(seconds)
    let days = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
    let day = "\(days[Int(date.tm_wday)]), \(two(date.tm_mday)) \(months[Int(date.tm_mon)])"
    return "\(day) \(date.tm_year + 1900) \(two(date.tm_hour)):\(two(date.tm_min)):"
      + "\(two(date.tm_sec)) GMT"
  }

  /// Returns a date as access logs have it: `06/Nov/1994:08:49:37 +0000`.
  static func logged(secondsSince1970 seconds: Int) -> String {
    let date = calendar(seconds)
    return "\(two(date.tm_mday))/\(months[Int(date.tm_mon)])/\(date.tm_year + 1900):"
      + "\(two(date.tm_hour)):\(two(date.tm_min)):\(two(date.tm_sec)) +0000"
  }

  private static let months = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
  ]

  private static func calendar(_ seconds: Int) -> tm {
    var seconds = time_t(seconds)
    var date = tm()
    gmtime_r(&seconds, &date)
    return date
  }

  private static func two(_ number: Int32) -> String { number < 10 ? "0\(number)" : "\(number)" }
}
