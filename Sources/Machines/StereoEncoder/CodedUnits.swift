// SPDX-License-Identifier: MPL-2.0

/// The NAL units of one coded picture, as x265 gave them.
package struct CodedUnits: Sendable {
  /// All NAL units, each after its length in four bytes.
  package let bytes: [UInt8]
  /// Where each NAL unit lies in `bytes`.
  package let nalUnits: [Range<Int>]

  /// Copies `count` elements of `x265_nal`. x265.h: their payloads lie one after the other, until
  /// the next call.
  init(_ units: UnsafeMutableRawPointer, _ count: Int, _ layout: X265Layout.NALUnit) {
    var ranges: [Range<Int>] = []
    ranges.reserveCapacity(count)
    var size = 0
    for index in 0..<count {
      let start = size + 4
      size += Int((units + index * layout.size)[layout.sizeBytes])
      ranges.append(start..<max(start, size))
    }
    bytes = [UInt8](UnsafeRawBufferPointer(start: units[layout.payload], count: size))
    nalUnits = ranges
  }
}
