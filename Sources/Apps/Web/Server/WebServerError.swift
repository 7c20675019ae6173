// SPDX-License-Identifier: MPL-2.0

/// Why a server cannot listen.
public struct WebServerError: Error, CustomStringConvertible {
  public let host: String
  public let port: Int
  /// Another program listens there.
  public let isPortTaken: Bool
  let reason: String

  public var description: String { "port \(port) of \(host): \(reason)" }
}
