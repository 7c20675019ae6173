// SPDX-License-Identifier: MPL-2.0

/// Sees everything that a ``WebServer`` does, from any thread.
public protocol WebObserver: Sendable {
  /// A client has connected; it is refused if there are too many.
  func connected(isRefused: Bool)
  /// A client that was not refused has left.
  func disconnected()
  /// A request is being answered.
  func began()
  /// A request has been answered, or its client has left.
  func ended(_ exchange: WebExchange)
}

/// A request and its answer.
public struct WebExchange: Sendable {
  /// The numeric address of the client; nil if unknown.
  public var client: String?
  /// The method, as the client sent it.
  public var method: String
  /// The target, as the client sent it.
  public var target: String
  /// The protocol, such as `HTTP/1.1`.
  public var version: String
  /// The client's name for itself; nil if it has sent none.
  public var userAgent: String?
  /// The status of the answer; 499 if the client left before there was one.
  public var status: Int
  /// Number of bytes of content that were sent.
  public var bytes: UInt64
  /// From the request to the end of the answer.
  public var duration: Duration

  /// Creates an exchange.
  public init(
    client: String?, method: String, target: String, version: String, userAgent: String?,
    status: Int, bytes: UInt64, duration: Duration
  ) {
    (self.client, self.method, self.target) = (client, method, target)
    (self.version, self.userAgent, self.status) = (version, userAgent, status)
    (self.bytes, self.duration) = (bytes, duration)
  }

  /// A line of an access log in the combined format, with the duration in seconds after it.
  ///
  /// - Parameter secondsSince1970: The time of the answer.
  public func line(secondsSince1970: Int) -> String {
    let request = Self.escaped("\(method) \(target) \(version)")
    let date = HTTPDate.logged(secondsSince1970: secondsSince1970)
    let milliseconds = duration / .milliseconds(1)
    let thousandths = Int(min(milliseconds, 1e12).rounded())
    let fraction = String(thousandths % 1000)
    let zeros = String(repeating: "0", count: 3 - fraction.count)
    return "\(client ?? "-") - - [\(date)] \"\(request)\" \(status) \(bytes) \"-\" "
      + "\"\(userAgent.map(Self.escaped) ?? "-")\" \(thousandths / 1000).\(zeros)\(fraction)"
  }

  /// Clients must not be able to write lines of their own into a log.
  private static func escaped(_ text: String) -> String {
    text.utf8.prefix(4096).reduce(into: "") { result, byte in
      switch byte {
      case UInt8(ascii: "\""), UInt8(ascii: "\\"): result += "\\" + String(Unicode.Scalar(byte))
      case 0x20...0x7E: result.unicodeScalars.append(Unicode.Scalar(byte))
      default:
        let digits = String(byte, radix: 16, uppercase: true)
        result += "\\x" + (digits.count == 1 ? "0" : "") + digits
      }
    }
  }
}
