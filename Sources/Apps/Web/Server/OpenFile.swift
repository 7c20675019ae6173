// SPDX-License-Identifier: MPL-2.0

internal import Glibc

/// An ordinary file below a folder, open for reading.
public final class OpenFile: Sendable {
  /// In bytes, when it was opened.
  public let size: UInt64
  /// Another one whenever the file is another one, or has been written to: a strong validator
  /// (RFC 9110 8.8.3), with its quotation marks.
  public let tag: String
  private let descriptor: Int32

  /// Opens a file, unless it lies outside of the folder, as one behind a symbolic link may.
  ///
  /// - Parameters:
  ///   - path: from the folder to the file.
  ///   - folder: an absolute path without symbolic links.
  /// - Returns: nil where there is no such file, or it may not be read.
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

  /// Where an open file lies now: nothing that is done to names can make another one of it.
  private static func path(of file: Int32) -> String? {
    let capacity = Int(PATH_MAX)
    var bytes = [CChar](repeating: 0, count: capacity)
    bytes.removeLast(capacity - max(0, readlink("/proc/self/fd/\(file)", &bytes, capacity)))
    return bytes.isEmpty
      ? nil : String(validating: bytes.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  /// Reads from a place on, less where the file ends; waits for the disk.
  ///
  /// - Throws: a ``FileError``.
  public func read(_ range: Range<UInt64>) throws(FileError) -> [UInt8] {
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

/// Why a file cannot be read.
public struct FileError: Error, CustomStringConvertible {
  /// As the system numbers them (`errno`).
  public let code: Int32

  public init(code: Int32) { self.code = code }

  public var description: String { String(cString: strerror(code)) }
}

/// A date as headers have it (RFC 9110 5.6.7): `Sun, 06 Nov 1994 08:49:37 GMT`.
enum HTTPDate {
  static var now: String { text(secondsSince1970: time(nil)) }

  static func text(secondsSince1970 seconds: Int) -> String {
    var seconds = time_t(seconds)
    var date = tm()
    gmtime_r(&seconds, &date)
    let days = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
    let months = [
      "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]
    func two(_ number: Int32) -> String { number < 10 ? "0\(number)" : "\(number)" }
    let day = "\(days[Int(date.tm_wday)]), \(two(date.tm_mday)) \(months[Int(date.tm_mon)])"
    return "\(day) \(date.tm_year + 1900) \(two(date.tm_hour)):\(two(date.tm_min)):"
      + "\(two(date.tm_sec)) GMT"
  }
}
