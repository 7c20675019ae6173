import CX265

/// The NAL units of one coded picture, as x265 gave them.
package struct CodedUnits: Sendable {
  /// All NAL units, each after its length in four bytes.
  package let bytes: [UInt8]
  /// Where each NAL unit lies in `bytes`.
  package let nalUnits: [Range<Int>]

  /// Copies `count` NAL units. x265.h: their payloads lie one after the other, until the next call.
  init(_ units: UnsafePointer<x265_nal>?, _ count: UInt32) {
    let units = UnsafeBufferPointer(start: units, count: Int(count))
    var ranges: [Range<Int>] = []
    ranges.reserveCapacity(units.count)
    var size = 0
    for unit in units {
      let start = size + 4
      size += Int(unit.sizeBytes)
      ranges.append(start..<max(start, size))
    }
    bytes = [UInt8](UnsafeBufferPointer(start: units.first?.payload, count: size))
    nalUnits = ranges
  }
}
