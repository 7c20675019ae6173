import HEVC
import StereoVideo

/// Takes a layered stream apart in each way there is, and writes what comes of it.
func flattenLayers(_ bytes: [UInt8]) {
  let units = accessUnits(bytes)
  var both = Flattener(output: .bothEyes)
  var dependent = Flattener(output: .dependentEye)
  var unweaver = Unweaver()
  var base = BaseLayerExtractor()
  for (index, unit) in units.enumerated() {
    let span = unit.bytes.span.bytes
    // As after a seek.
    if index == units.count / 2 {
      both.reset()
      unweaver.reset()
    }
    if let flat = try? both.flatten(span, nalUnits: unit.nalUnits) {
      write(flat.pictures, flat.parameterSets, unit.bytes)
    }
    if let flat = try? dependent.flatten(span, nalUnits: unit.nalUnits) {
      write(flat.pictures, flat.parameterSets, unit.bytes)
    }
    if let alone = try? unweaver.unweave(span, nalUnits: unit.nalUnits) {
      write(alone.picture.map { [$0] } ?? [], alone.parameterSets, unit.bytes)
    }
    if let alone = try? base.extract(span, nalUnits: unit.nalUnits) {
      write([alone.picture], alone.parameterSets, unit.bytes)
    }
  }
}

/// The access units of a byte stream that comes in pieces.
func accessUnits(_ bytes: [UInt8]) -> [AccessUnit] {
  var assembler = AccessUnitAssembler()
  var units: [AccessUnit] = []
  var offset = 0
  while offset < bytes.count {
    let end = min(offset + 997, bytes.count)
    units += (try? assembler.append(bytes.span.bytes.extracting(offset..<end))) ?? []
    offset = end
  }
  return units + assembler.finish()
}

private func write(
  _ pictures: [SingleLayerAccessUnit], _ sets: SingleLayerParameterSets, _ source: [UInt8]
) {
  _ = try? HEVCDecoderConfigurationRecord(sets).bytes
  for picture in pictures {
    for framing in [NALUnitFraming.annexB, .lengthPrefixed(lengthSize: 4)] {
      var output = [UInt8](repeating: 0, count: picture.byteCount(framing: framing))
      output.withUnsafeMutableBytes {
        picture.write(framing: framing, source: source.span.bytes, into: $0)
      }
    }
  }
}
