// SPDX-License-Identifier: MPL-2.0

/// What a peer gets.
public struct WebResponse: Sendable {
  /// RFC 9110 15.
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

  public enum Body: Sendable {
    case bytes([UInt8])
    /// Some bytes of a file.
    case file(OpenFile, Range<UInt64>)
  }

  public var status: Status
  public var headers: [(name: String, value: String)]
  /// Left out where the request is `HEAD`.
  public var body: Body

  public init(
    _ status: Status, headers: [(name: String, value: String)] = [], body: Body = .bytes([])
  ) {
    (self.status, self.headers, self.body) = (status, headers, body)
  }

  /// In bytes.
  var length: UInt64 {
    switch body {
    case .bytes(let bytes): UInt64(bytes.count)
    case .file(_, let range): UInt64(range.count)
    }
  }
}

/// Says what peers get.
public protocol WebResponder: Sendable {
  /// The answer to a request. It may take its time; when the peer leaves meanwhile, the task is
  /// cancelled.
  func respond(to request: WebRequest) async -> WebResponse
}
