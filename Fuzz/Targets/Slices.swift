// SPDX-License-Identifier: MPL-2.0

import HEVC

/// Reads the slice segment headers of a byte stream with the parameter sets it contains.
func readSlices(_ bytes: [UInt8]) {
  var sets = ParameterSetStore()
  var counters = [PictureOrderCounter(), PictureOrderCounter()]
  let span = bytes.span.bytes
  for range in AnnexB.nalUnits(in: span) {
    let nalUnit = span.extracting(range)
    guard let header = NALUnitHeader(nalUnit) else { continue }
    guard header.type.isVCL else {
      _ = try? sets.add(nalUnit)
      continue
    }
    let layer = header.layerID == 0 ? 0 : 1
    var pair = InterLayerSyntax()
    for id in 0..<16 where layer == 1 {
      guard let vps = sets.videoParameterSet(id), let found = InterLayerSyntax(vps) else {
        continue
      }
      pair = found
      break
    }
    guard let slice = try? SliceSegmentHeader(nalUnit: nalUnit, sets: sets, pair: pair),
      let pps = sets.pictureParameterSet(slice.pictureParameterSetID, layer: layer),
      let sps = sets.sequenceParameterSet(pps.sequenceParameterSetID, layer: layer)
    else { continue }
    _ = counters[layer].next(header, lsb: slice.pocLSB, log2MaxLSB: sps.log2MaxPOCLSB)
  }
}
