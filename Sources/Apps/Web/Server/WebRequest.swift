// SPDX-License-Identifier: MPL-2.0

/// What a peer asks for.
public struct WebRequest: Sendable {
  /// What is asked of a resource (RFC 9110 9.3). Others are refused before a responder sees them.
  public enum Method: String, Sendable {
    case get = "GET"
    case head = "HEAD"
    case options = "OPTIONS"
  }

  public let method: Method
  /// The parts of the path between slashes, without escapes: `["video_0", "index.m3u8"]`; the last one
  /// is empty where the path ends in a slash. None is `.` or `..`, or has a slash or a NUL in it.
  public let path: [String]
  /// What follows the question mark, without escapes, in its order.
  public let query: [(name: String, value: String)]
  private let headers: [(name: String, value: String)]

  /// - Parameter target: as the first line of a request has it: `/video_0/index.m3u8?_HLS_msn=3`
  ///   (RFC 9112 3.2.1).
  /// - Returns: nil for a target that no resource has.
  public init?(_ method: Method, _ target: String, headers: [(name: String, value: String)] = []) {
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
    self.headers = headers
  }

  /// The first value of a parameter of the query.
  public func parameter(_ name: String) -> String? { query.first { $0.name == name }?.value }

  /// The first value of a header, whose name is given in small letters.
  public func header(_ name: String) -> String? {
    headers.first { $0.name.lowercased() == name }?.value
  }

  /// RFC 3986 2.1; nil for an escape that is none, and for what is no UTF-8.
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
