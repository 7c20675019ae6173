// SPDX-License-Identifier: MPL-2.0

import AVC
import HEVC

/// Flattens a byte stream of H.264 MVC, and extracts its views, with a flush in between as for a
/// seek. What comes out is flattened once more, as a plain stream.
func flattenViews(_ bytes: [UInt8]) {
  for selection in [MVCFlattener<Int>.Selection.bothViews, .base, .dependent] {
    var flattener = MVCFlattener<Int>(selection, framing: .annexB, budget: 1 << 20)
    var flat = flatten(bytes, &flattener, chunk: 997)
    flattener.flush()
    flat += flatten(bytes, &flattener, chunk: 1 << 16)
    var again = MVCFlattener<Int>(framing: .annexB)
    _ = flatten(flat, &again, chunk: 1 << 16)
  }
}

private func flatten(
  _ bytes: [UInt8], _ flattener: inout MVCFlattener<Int>, chunk: Int
) -> [UInt8] {
  var result: [UInt8] = []
  for start in stride(from: 0, to: bytes.count, by: chunk) {
    let part = bytes.span.bytes.extracting(start..<min(start + chunk, bytes.count))
    let output = try? flattener.push(part, alignment: .none, stamp: start)
    for picture in output?.pictures ?? [] { result += picture.bytes }
  }
  for picture in flattener.end().pictures { result += picture.bytes }
  return result
}

/// Flattens two elementary streams, one for each view, in NAL units with length prefixes. The first
/// byte of each buffer says how long it is, and the second which stream it belongs to and when it
/// is decoded.
func pairViews(_ bytes: [UInt8]) {
  _ = try? MVCDecoderConfiguration(.avcC, bytes: bytes)
  let sets = (try? MVCDecoderConfiguration.mvcC(inCodecPrivate: bytes))?.nalUnits ?? []
  var flattener = MVCFlattener<Int>(
    framing: .lengthPrefixed(lengthSize: 2), hasTwoStreams: true, budget: 1 << 16)
  flattener.add(parameterSets: sets, of: .dependent)
  var start = 0
  while start + 2 < bytes.count {
    let end = min(start + 2 + 4 * Int(bytes[start]), bytes.count)
    let choice = bytes[start + 1]
    _ = try? flattener.push(
      bytes.span.bytes.extracting(start + 2..<end),
      alignment: choice & 2 == 0 ? .nalUnit : .accessUnit, stamp: start,
      decodingTime: choice & 4 == 0 ? nil : UInt64(choice >> 3),
      of: choice & 1 == 0 ? .base : .dependent)
    start = end
  }
  _ = flattener.end()
}
