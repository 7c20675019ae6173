// SPDX-License-Identifier: MPL-2.0

/// The response to a client's request.
public struct WebResponse: Sendable {
  /// Status codes (RFC 9110 15).
  public enum Status: Int, Sendable {
    case ok = 200
    case noContent = 204
    case partialContent = 206
    case notModified = 304
    case badRequest = 400
    case forbidden = 403
    case notFound = 404
    case methodNotAllowed = 405
    case contentTooLarge = 413
    case rangeNotSatisfiable = 416
    case misdirectedRequest = 421
    case internalServerError = 500
    case serviceUnavailable = 503
  }

  /// The content of a response.
  public enum Body: Sendable {
    /// Bytes in memory.
    case bytes([UInt8])
    /// A range of a file's bytes.
    case file(OpenFile, Range<UInt64>)
  }

  /// The status code.
  public var status: Status
  /// The header fields, without `Date`, `Content-Length` and `Connection`, which the server adds.
  public var headers: [(name: String, value: String)]
  /// The content; not sent in response to `HEAD`.
  public var body: Body

  /// Creates a response, by default without content.
  public init(
    _ status: Status, headers: [(name: String, value: String)] = [], body: Body = .bytes([])
  ) {
    (self.status, self.headers, self.body) = (status, headers, body)
  }

  /// Size of the content in bytes.
  var length: UInt64 {
    switch body {
    case .bytes(let bytes): UInt64(bytes.count)
    case .file(_, let range): UInt64(range.count)
    }
  }
}

/// Answers the requests of a ``WebServer``.
public protocol WebResponder: Sendable {
  /// Returns the response to a request. It may suspend for any time; if the client disconnects, the
  /// task is cancelled.
  func respond(to request: WebRequest) async -> WebResponse
}

extension WebResponse {
  /// Creates a response with a file, or according to the request with a part of it (RFC 9110 14) or
  /// with the status that it has not changed (RFC 9110 13).
  ///
  /// - Parameters:
  ///   - file: the file to send.
  ///   - request: the client's request.
  ///   - headers: further headers, such as the content type and cache control.
  public init(
    _ file: OpenFile, for request: WebRequest, headers: [(name: String, value: String)]
  ) {
    self.init(
      .ok, headers: headers + [("ETag", file.tag), ("Accept-Ranges", "bytes")],
      body: .file(file, 0..<file.size))
    if let known = request.header("if-none-match"), Self.names(known, file.tag) {
      status = .notModified
      body = .bytes([])
      return
    }
    guard request.method == .get, let range = request.header("range"),
      request.header("if-range") ?? file.tag == file.tag
    else { return }
    switch RequestedRange(range, of: file.size) {
    case .all: break
    case .none:
      self = WebResponse(
        .rangeNotSatisfiable, headers: [("Content-Range", "bytes */\(file.size)")])
    case .bytes(let range):
      status = .partialContent
      self.headers.append(
        ("Content-Range", "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(file.size)"))
      body = .file(file, range)
    }
  }

  private static func names(_ list: String, _ tag: String) -> Bool {
    list.split(separator: ",").contains { item in
      let item = item.drop { $0 == " " }
      let strong = item.hasPrefix("W/") ? item.dropFirst(2) : item
      return item == "*" || strong.prefix { $0 != " " } == tag
    }
  }
}

/// The byte range of a `Range` header. Multiple ranges and other units select the whole file, as
/// RFC 9110 14.2 permits.
enum RequestedRange: Equatable {
  case all
  case none
  case bytes(Range<UInt64>)

  init(_ header: String, of size: UInt64) {
    self = .all
    guard header.hasPrefix("bytes="), !header.contains(",") else { return }
    let ends = header.dropFirst(6).split(separator: "-", omittingEmptySubsequences: false)
    guard ends.count == 2, ends.allSatisfy({ $0.utf8.allSatisfy { 0x30...0x39 ~= $0 } }) else {
      return
    }
    // A number that overflows is beyond the end of any file.
    let numbers = ends.map { $0.isEmpty ? nil : UInt64($0) ?? .max }
    switch (numbers[0], numbers[1]) {
    case (let first?, let last):
      let end = min(last ?? .max, max(size, 1) - 1)
      guard last ?? .max >= first else { return }
      self = first < size ? .bytes(first..<end + 1) : .none
    case (nil, let length?):
      self = length > 0 && size > 0 ? .bytes(size - min(length, size)..<size) : .none
    case (nil, nil): break
    }
  }
}
