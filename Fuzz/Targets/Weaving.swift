// SPDX-License-Identifier: MPL-2.0

import HEVC
import StereoVideo

/// Uses the layers of a stream as the two eyes' streams and weaves them.
func weaveLayers(_ bytes: [UInt8]) {
  var eyes: [[UInt8]] = [[], []]
  let span = bytes.span.bytes
  for range in AnnexB.nalUnits(in: span) {
    guard let header = NALUnitHeader(span.extracting(range)) else { continue }
    var nalUnit = Array(bytes[range])
    let layer = header.layerID == 0 ? 0 : 1
    // Clears nuh_layer_id.
    nalUnit[0] &= 0xFE
    nalUnit[1] &= 0x07
    eyes[layer] += [0, 0, 1] + nalUnit
  }
  var weaver = Weaver(baseEye: .left)
  for (left, right) in zip(accessUnits(eyes[0]), accessUnits(eyes[1])) {
    guard
      let woven = try? weaver.weave(
        left: left.bytes.span.bytes, leftNALUnits: left.nalUnits,
        right: right.bytes.span.bytes, rightNALUnits: right.nalUnits)
    else { continue }
    _ = try? HEVCDecoderConfigurationRecord(woven.parameterSets).bytes
    _ = try? LHEVCDecoderConfigurationRecord(woven.parameterSets).bytes
    for framing in [NALUnitFraming.annexB, .lengthPrefixed(lengthSize: 4)] {
      var output = [UInt8](repeating: 0, count: woven.byteCount(framing: framing))
      output.withUnsafeMutableBytes {
        woven.write(
          framing: framing, left: left.bytes.span.bytes, right: right.bytes.span.bytes, into: $0)
      }
    }
  }
}
