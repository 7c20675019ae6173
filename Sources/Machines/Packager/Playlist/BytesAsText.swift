// SPDX-License-Identifier: MPL-2.0

/// Bytes as playlists and manifests write them.
extension [UInt8] {
  /// Hexadecimal digits after `0x` (draft-pantos-hls-rfc8216bis 4.2).
  var hexadecimal: String { "0x" + digits(uppercase: true) }

  /// Hexadecimal digits.
  func digits(uppercase: Bool) -> String {
    map { byte in
      let digits = String(byte, radix: 16, uppercase: uppercase)
      return digits.count == 1 ? "0" + digits : digits
    }.joined()
  }

  /// The digits in groups of 8, 4, 4, 4 and 12, as of a UUID (RFC 9562 4), if there are 16 bytes.
  var uuid: String {
    let ends = [4, 6, 8, 10, count]
    let starts = [0] + ends.dropLast()
    guard count == 16 else { return digits(uppercase: false) }
    return zip(starts, ends).map { Array(self[$0..<$1]).digits(uppercase: false) }
      .joined(separator: "-")
  }

  /// The encoding with 64 characters (RFC 4648 4).
  var base64: String {
    let digits = [Character](
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
    var text = ""
    for start in stride(from: 0, to: count, by: 3) {
      let group = self[start..<Swift.min(start + 3, count)]
      let value = group.reduce(0) { $0 << 8 | Int($1) } << (8 * (3 - group.count))
      for index in 0...group.count { text.append(digits[value >> (18 - 6 * index) & 63]) }
      text += String(repeating: "=", count: 3 - group.count)
    }
    return text
  }
}
