// SPDX-License-Identifier: MPL-2.0

extension String {
  /// The text in double quotes, as readers of JSON (RFC 8259 7) and of YAML 1.2 (7.3.1) both take it.
  package var doubleQuoted: String {
    var result = "\""
    for scalar in unicodeScalars {
      switch scalar {
      case "\"": result += "\\\""
      case "\\": result += "\\\\"
      case "\n": result += "\\n"
      case "\t": result += "\\t"
      case "\r": result += "\\r"
      default:
        if scalar.value < 0x20 || (0x7F...0xA0).contains(scalar.value)
          || (0x2028...0x2029).contains(scalar.value) || scalar.value == 0xFEFF
        {
          let digits = String(scalar.value, radix: 16)
          result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
        } else {
          result.unicodeScalars.append(scalar)
        }
      }
    }
    return result + "\""
  }
}
