// SPDX-License-Identifier: MPL-2.0

/// The bytes of hexadecimal digits, between which there may be white space.
func bytes(_ hex: String) -> [UInt8] {
  let digits = hex.filter { !$0.isWhitespace }
  return stride(from: 0, to: digits.count, by: 2).compactMap {
    let start = digits.index(digits.startIndex, offsetBy: $0)
    return UInt8(digits[start..<digits.index(start, offsetBy: 2)], radix: 16)
  }
}

/// The decoder configuration record of a 64x32 stream of x265's.
let plainHVCC = bytes(
  """
  0101600000009000000000001ef000fcfdf8f800000f03a00001001840010c01ffff01600000030090000003
  000003001e959809a10001002942010101600000030090000003000003001ea02082165959ae4caf01680800
  0003000800000300f040a2000100064401c173d089
  """)
