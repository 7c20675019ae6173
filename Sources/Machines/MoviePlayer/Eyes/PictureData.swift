// SPDX-License-Identifier: MPL-2.0

import HEVC

/// The bytes of a picture that was taken out of an access unit: parts of it, and the beginnings of
/// NAL units that were written anew, with length prefixes of four bytes.
struct PictureData {
  private enum Part {
    case kept(Range<Int>)
    case written(Range<Int>)
  }

  private var parts: [Part] = []
  private var written: [UInt8] = []
  private let source: ByteSlice

  init(_ picture: SingleLayerAccessUnit, of source: ByteSlice, framing: NALUnitFraming) {
    self.source = source
    parts.reserveCapacity(picture.nalUnits.count * 2)
    written.reserveCapacity(picture.nalUnits.reduce(0) { $0 + 4 + $1.beginning.count })
    // Parameter sets and delimiters have no place in samples.
    for unit in picture.nalUnits where unit.header.type != .accessUnitDelimiter {
      if unit.beginning.isEmpty, framing == .lengthPrefixed(lengthSize: 4),
        unit.payload.lowerBound >= 4
      {
        // The prefix in front of it is right as it is.
        keep(unit.payload.lowerBound - 4..<unit.payload.upperBound)
      } else {
        let start = written.count
        let length = UInt32(clamping: unit.byteCount)
        for shift in [24, 16, 8, 0] as [UInt32] {
          written.append(UInt8(truncatingIfNeeded: length >> shift))
        }
        written += unit.beginning
        parts.append(.written(start..<written.count))
        if !unit.payload.isEmpty { parts.append(.kept(unit.payload)) }
      }
    }
  }

  private mutating func keep(_ range: Range<Int>) {
    if case .kept(let last)? = parts.last, last.upperBound == range.lowerBound {
      parts[parts.count - 1] = .kept(last.lowerBound..<range.upperBound)
    } else {
      parts.append(.kept(range))
    }
  }

  /// All parts as references; nil where there is none.
  var data: SampleData? {
    let own = written.isEmpty ? nil : ByteSlice(written)
    return SampleData(
      parts.compactMap {
        switch $0 {
        case .kept(let range): source.part(range)
        case .written(let range): own?.part(range)
        }
      })
  }
}
