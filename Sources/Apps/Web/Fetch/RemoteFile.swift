// SPDX-License-Identifier: MPL-2.0

internal import CCurl
internal import Glibc

/// A file on a server of HTTP or HTTPS that gives any of its bytes (RFC 9110 14). A URL may have a
/// query, as those that object stores sign.
package struct RemoteFile: Sendable {
  /// The reason that a file cannot be read.
  package struct Problem: Error, Equatable {
    /// In words.
    package let reason: String
    /// Whether trying again may help: the server did not answer, or asked for patience.
    package let isPassing: Bool

    init(_ reason: String, isPassing: Bool = false) {
      (self.reason, self.isPassing) = (reason, isPassing)
    }
  }

  package let url: String
  /// In bytes.
  package let size: Int
  /// A mark that changes with the content: the entity tag, else the time of the last change.
  package let version: String

  /// Asks the server for the size and the version of a file, by its first byte: a URL that is
  /// signed for reading allows nothing else.
  ///
  /// - Throws: a ``Problem`` if there is no such file, or if the server gives no parts of files.
  package init(_ url: String) throws(Problem) {
    self.url = url
    let answer = try Self.request(url, 0..<1)
    guard let size = answer.totalSize, size > 0 else {
      throw Problem("the server does not say how large it is")
    }
    guard size < 1 << 56 else { throw Problem("its \(size) bytes are too large for a movie") }
    guard let version = answer.fields["etag"] ?? answer.fields["last-modified"] else {
      throw Problem(
        "the server gives it no ETag and no Last-Modified, so that changes are not seen")
    }
    (self.size, self.version) = (size, version)
  }

  /// Reads bytes.
  ///
  /// - Parameter range: within the file, at most 256 MiB.
  /// - Throws: a ``Problem``, also if the file has changed.
  package func read(_ range: Range<Int>) throws(Problem) -> [UInt8] {
    guard !range.isEmpty else { return [] }
    guard range.count <= 1 << 28, range.upperBound <= size else {
      throw Problem("\(range.count) bytes at \(range.lowerBound) cannot be read at once")
    }
    let answer = try Self.request(url, range)
    guard answer.totalSize == size,
      answer.fields["etag"] ?? answer.fields["last-modified"] == version
    else { throw Problem("it changed while it was read") }
    guard answer.content.count == range.count else {
      throw Problem("the server gave less than it said", isPassing: true)
    }
    return answer.content
  }

  // MARK: Requests

  /// An answer. No more of it is kept than was asked for.
  private final class Answer {
    let limit: Int
    var content: [UInt8] = []
    /// By their names in lower case.
    var fields: [String: String] = [:]

    init(limit: Int) { self.limit = limit }

    /// The size of the whole file (Content-Range, RFC 9110 14.4).
    var totalSize: Int? {
      fields["content-range"]?.split(separator: "/").last.flatMap { Int($0) }
    }

    func note(_ line: String) {
      // The fields of a redirection are not those of the file.
      if line.hasPrefix("HTTP/") { fields = [:] }
      guard fields.count < 200, let colon = line.firstIndex(of: ":") else { return }
      let value = line[line.index(after: colon)...]
      fields[line[..<colon].lowercased()] =
        value.drop { $0.isWhitespace }.prefix { !$0.isNewline }.description
    }
  }

  private static func request(
    _ url: String, _ range: Range<Int>
  ) throws(Problem) -> Answer {
    guard url.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
      throw Problem("the address has characters that have to be escaped")
    }
    guard !url.split(separator: "/").dropFirst().prefix(1).contains(where: { $0.contains("@") })
    else {
      throw Problem(
        "the address must not have a password, which would be in the plan and in errors")
    }
    guard let curl = CurlLibrary.shared, let handle = curl.create() else {
      throw Problem("libcurl is not installed (on Debian: libcurl4)")
    }
    defer { curl.close(handle) }
    curl.set(CURLOPT_URL, url, of: handle)
    curl.set(CURLOPT_RANGE, "\(range.lowerBound)-\(range.upperBound - 1)", of: handle)
    curl.set(CURLOPT_NOSIGNAL, 1, of: handle)
    curl.set(CURLOPT_PROTOCOLS_STR, "http,https", of: handle)
    curl.set(CURLOPT_REDIR_PROTOCOLS_STR, "http,https", of: handle)
    curl.set(CURLOPT_FOLLOWLOCATION, 1, of: handle)
    curl.set(CURLOPT_MAXREDIRS, 5, of: handle)
    curl.set(CURLOPT_CONNECTTIMEOUT, 10, of: handle)
    curl.set(CURLOPT_LOW_SPEED_LIMIT, 1000, of: handle)
    curl.set(CURLOPT_LOW_SPEED_TIME, 30, of: handle)
    curl.set(CURLOPT_USERAGENT, "gst-spatial", of: handle)
    let answer = Answer(limit: range.count)
    let pointer = Unmanaged.passUnretained(answer).toOpaque()
    curl.set(CURLOPT_WRITEDATA, pointer: pointer, of: handle)
    curl.set(CURLOPT_HEADERDATA, pointer: pointer, of: handle)
    curl.set(CURLOPT_WRITEFUNCTION, writer: takeContent, of: handle)
    curl.set(CURLOPT_HEADERFUNCTION, writer: takeField, of: handle)
    let code = withExtendedLifetime(answer) { curl.perform(handle) }
    let status = curl.status(of: handle)
    // Whatever has no range is not taken: a server without them would send the whole file.
    switch status {
    case 206 where code == CURLE_OK: return answer
    case 0, 206: throw Problem(curl.reason(code), isPassing: true)
    case 200: throw Problem("the server does not give parts of files (it answers no ranges)")
    case 408, 429, 500...599: throw Problem("the server answers \(status)", isPassing: true)
    default: throw Problem("the server answers \(status)")
    }
  }

  private static let takeContent: curl_write_callback = { bytes, size, count, data in
    guard let bytes, let data else { return 0 }
    let answer = Unmanaged<Answer>.fromOpaque(data).takeUnretainedValue()
    let length = size &* count
    guard answer.fields["content-range"] != nil, length <= answer.limit - answer.content.count
    else { return 0 }
    answer.content.append(contentsOf: UnsafeRawBufferPointer(start: bytes, count: length))
    return length
  }

  private static let takeField: curl_write_callback = { bytes, size, count, data in
    guard let bytes, let data else { return 0 }
    let length = size &* count
    let line = String(decoding: UnsafeRawBufferPointer(start: bytes, count: length), as: UTF8.self)
    Unmanaged<Answer>.fromOpaque(data).takeUnretainedValue().note(line)
    return length
  }
}
