// SPDX-License-Identifier: MPL-2.0

/// One connection to a server that takes the files of a stream. Calls block; one at a time.
public protocol PushServer: Sendable {
  /// Writes a file, and replaces the one before.
  ///
  /// - Parameter path: The file's path components below the address of the stream.
  func put(_ bytes: [UInt8], to path: [String]) -> PushAnswer

  /// Removes a file; one that is not there is removed.
  func delete(_ path: [String]) -> PushAnswer
}

/// The outcome of a request to a ``PushServer``.
public enum PushAnswer: Equatable, Sendable {
  /// The server has done it.
  case done
  /// It fails at present, and may not later.
  ///
  /// - isAnswered: Whether the server answered, so that it is this request that it cannot serve.
  case failed(reason: String, isAnswered: Bool)
  /// It would fail again whenever it is tried.
  case refused(reason: String)

  /// The outcome for a status of HTTP (RFC 9110 15). The lack of permission counts as a failure at
  /// present, since it may have expired and be renewed.
  package init(status: Int, of method: String) {
    switch (status, method) {
    case (200..<300, _), (404, "DELETE"), (410, "DELETE"): self = .done
    case (401, _), (403, _), (408, _), (425, _), (429, _), (500..<600, _):
      self = .failed(reason: "\(method) is answered with \(status)", isAnswered: true)
    default: self = .refused(reason: "\(method) is answered with \(status)")
    }
  }
}
