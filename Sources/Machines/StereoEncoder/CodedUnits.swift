// SPDX-License-Identifier: MPL-2.0

import CX265

/// The NAL units of one coded picture, as x265 gave them.
package struct CodedUnits: Sendable {
  /// All NAL units, each after its length in four bytes.
  package let bytes: [UInt8]
  /// Where each NAL unit lies in `bytes`.
  package let nalUnits: [Range<Int>]

  /// Copies what x265 uses again with the next call.
  init(_ units: cx265_units) {
    var ranges: [Range<Int>] = []
    ranges.reserveCapacity(Int(units.count))
    var size = 0
    for unit in UnsafeBufferPointer(start: units.sizes, count: Int(units.count)) {
      let start = size + 4
      size += Int(unit)
      ranges.append(start..<max(start, size))
    }
    bytes = [UInt8](UnsafeBufferPointer(start: units.bytes, count: size))
    nalUnits = ranges
  }
}
