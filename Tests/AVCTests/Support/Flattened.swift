// SPDX-License-Identifier: MPL-2.0

import AVC
import HEVC
import TestKit

/// The pictures and notices of a whole stream.
struct Flattened: Sendable {
  var pictures: [MVCFlattener<Int>.Picture] = []
  var notices: [MVCFlattener<Int>.Notice] = []

  /// The stream for the decoder.
  var bytes: [UInt8] { pictures.flatMap(\.bytes) }

  /// The kinds of the notices, without repetitions.
  var kinds: Set<MVCFlattener<Int>.Notice.Kind> { Set(notices.map(\.kind)) }

  mutating func add(_ output: MVCFlattener<Int>.Output) {
    pictures += output.pictures
    notices += output.notices
  }
}

/// Flattens a byte stream that comes in chunks of at most the size that `size` returns; stamps are
/// the positions of the chunks.
func flatten(
  _ bytes: [UInt8], _ selection: MVCFlattener<Int>.Selection = .bothViews,
  numbering: MVCNumbering? = nil, chunk size: () -> Int = { 1 << 20 }
) throws -> Flattened {
  var flattener = MVCFlattener<Int>(selection, framing: .annexB, numbering: numbering)
  var result = Flattened()
  var offset = 0
  while offset < bytes.count {
    let end = min(offset + max(size(), 1), bytes.count)
    result.add(
      try flattener.push(
        bytes.span.bytes.extracting(offset..<end), alignment: .none, stamp: offset))
    offset = end
  }
  result.add(flattener.end())
  return result
}

/// The NAL units of a byte stream.
func nalUnits(_ bytes: [UInt8]) -> [[UInt8]] {
  AnnexB.nalUnits(in: bytes.span.bytes).map { Array(bytes[$0]) }
}

/// NAL units as a byte stream.
func byteStream(_ nalUnits: [[UInt8]]) -> [UInt8] { nalUnits.flatMap { [0, 0, 0, 1] + $0 } }

/// `nal_unit_type`
func type(_ nalUnit: [UInt8]) -> Int { Int(nalUnit[0] & 31) }

/// The access units of a stream that has no delimiters: each begins with the NAL units before a
/// base slice with `first_mb_in_slice` 0.
func accessUnits(_ bytes: [UInt8]) -> [[[UInt8]]] {
  var result: [[[UInt8]]] = []
  var heading: [[UInt8]] = []
  for unit in nalUnits(bytes) {
    if type(unit) == 20 || [1, 5].contains(type(unit)) && unit[1] & 0x80 == 0 {
      result[result.count - 1] += heading + [unit]
      heading = []
    } else {
      heading.append(unit)
      guard [1, 5].contains(type(unit)) else { continue }
      result.append(heading)
      heading = []
    }
  }
  if !result.isEmpty { result[result.count - 1] += heading }
  return result
}

/// The views in streams of their own, as on discs.
func separated(_ units: [[[UInt8]]]) -> (base: [[[UInt8]]], dependent: [[[UInt8]]]) {
  let dependentKinds = [15, 20]
  return (
    units.map { unit in [[9, 0xF0]] + unit.filter { !dependentKinds.contains(type($0)) } },
    units.map { unit in
      [[24, 0xF0]] + unit.filter { [8, 15, 20].contains(type($0)) }
    }
  )
}
