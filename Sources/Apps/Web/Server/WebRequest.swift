// SPDX-License-Identifier: MPL-2.0

/// A client's request.
public struct WebRequest: Sendable {
  /// The request method (RFC 9110 9.3). Others are rejected before a responder is called.
  public enum Method: String, Sendable {
    /// The resource.
    case get = "GET"
    /// The headers of the resource, without its content.
    case head = "HEAD"
    /// The supported methods and, for CORS, the allowed origins.
    case options = "OPTIONS"
  }

  /// The request method.
  public let method: Method
  /// The percent-decoded path components: `["video_0", "index.m3u8"]`. The last one is empty if the
  /// path ends in a slash. None is `.` or `..`, or contains a slash or NUL.
  public let path: [String]
  /// The percent-decoded query parameters, in order.
  public let query: [(name: String, value: String)]
  /// The numeric address of the client; nil if unknown.
  public let client: String?
  private let headers: [(name: String, value: String)]

  /// Creates a request from its request line.
  ///
  /// - Parameters:
  ///   - method: the request method.
  ///   - target: the request target in origin form, `/video_0/index.m3u8?_HLS_msn=3` (RFC 9112
  ///     3.2.1), or in absolute form, with scheme and host before it (3.2.2).
  ///   - headers: the header fields.
  ///   - client: the numeric address of the client.
  /// - Returns: nil for an invalid target.
  public init?(
    _ method: Method, _ target: String, headers: [(name: String, value: String)] = [],
    client: String? = nil
  ) {
    let target = Self.withoutAuthority(target)
    guard target.utf8.first == UInt8(ascii: "/") else { return nil }
    let mark = target.firstIndex(of: "?") ?? target.endIndex
    var path: [String] = []
    for part in target[..<mark].dropFirst().split(separator: "/", omittingEmptySubsequences: false)
    {
      guard let name = Self.unescaped(part), name != ".", name != "..",
        !name.utf8.contains(where: { $0 == 0 || $0 == UInt8(ascii: "/") })
      else { return nil }
      path.append(name)
    }
    self.method = method
    self.path = path
    query = target[mark...].dropFirst().split(separator: "&").compactMap { item in
      let equals = item.firstIndex(of: "=") ?? item.endIndex
      guard let name = Self.unescaped(item[..<equals]),
        let value = Self.unescaped(item[equals...].dropFirst())
      else { return nil }
      return (name, value)
    }
    (self.headers, self.client) = (headers, client)
  }

  /// Returns a target in origin form; one in another form than the absolute one unchanged.
  private static func withoutAuthority(_ target: String) -> String {
    let lower = target.prefix(8).lowercased()
    guard let scheme = ["http://", "https://"].first(where: lower.hasPrefix) else { return target }
    let rest = target.dropFirst(scheme.count)
    guard let end = rest.firstIndex(where: { $0 == "/" || $0 == "?" }) else { return "/" }
    return rest[end] == "/" ? String(rest[end...]) : "/" + rest[end...]
  }

  /// Returns the first value of a query parameter.
  public func parameter(_ name: String) -> String? { query.first { $0.name == name }?.value }

  /// Returns the first value of a header field, whose name is given in lower case.
  public func header(_ name: String) -> String? {
    headers.first { $0.name.lowercased() == name }?.value
  }

  /// Decodes percent-encoding (RFC 3986 2.1); nil if an escape or the UTF-8 is invalid.
  private static func unescaped(_ text: Substring) -> String? {
    var bytes: [UInt8] = []
    var rest = text.utf8
    while let byte = rest.popFirst() {
      guard byte == UInt8(ascii: "%") else {
        bytes.append(byte)
        continue
      }
      guard let high = rest.popFirst().flatMap(digit), let low = rest.popFirst().flatMap(digit)
      else { return nil }
      bytes.append(high << 4 | low)
    }
    return String(validating: bytes, as: UTF8.self)
  }

  private static func digit(_ byte: UInt8) -> UInt8? {
    Character(Unicode.Scalar(byte)).hexDigitValue.map { UInt8($0) }
  }
}
