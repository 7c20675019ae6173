// SPDX-License-Identifier: MPL-2.0

import HEVC
import StereoVideo

/// Extracts the layers of a stream in each available way and writes the results.
func flattenLayers(_ bytes: [UInt8]) {
  let units = accessUnits(bytes)
  var both = FlattenedOutput(.bothEyes)
  var dependent = FlattenedOutput(.dependentEye)
  var unweaver = Unweaver()
  var base = BaseLayerExtractor()
  for (index, unit) in units.enumerated() {
    let span = unit.bytes.span.bytes
    // Like after a seek.
    if index == units.count / 2 {
      both.flattener.reset()
      unweaver.reset()
    }
    both.flatten(unit)
    dependent.flatten(unit)
    if let alone = try? unweaver.unweave(span, nalUnits: unit.nalUnits) {
      if let picture = alone.picture { write(picture, unit.bytes) }
      _ = try? HEVCDecoderConfigurationRecord(alone.parameterSets).bytes
    }
    if let alone = try? base.extract(span, nalUnits: unit.nalUnits) {
      write(alone.picture, unit.bytes)
      _ = try? HEVCDecoderConfigurationRecord(alone.parameterSets).bytes
    }
  }
  both.finish()
  dependent.finish()
}

/// Splits a layered stream into its eyes, with resets in between as for seeks.
func splitIntoEyes(_ bytes: [UInt8]) {
  var splitter = EyeSplitter()
  var sources = AccessUnitSources<[UInt8]>()
  func writeAll(_ pictures: [SingleLayerAccessUnit]) {
    for picture in pictures {
      guard let source = sources[picture.accessUnit] else {
        preconditionFailure("access unit \(picture.accessUnit) was dropped too early")
      }
      write(picture, source)
    }
  }
  for (index, unit) in accessUnits(bytes).enumerated() {
    let span = unit.bytes.span.bytes
    if index % 13 == 12 {
      writeAll(splitter.drain())
      splitter.reset()
      sources.removeAll()
    }
    if let base = try? splitter.baseEye(span, nalUnits: unit.nalUnits) {
      for picture in base.pictures { write(picture, unit.bytes) }
    }
    guard let output = try? splitter.dependentEye(span, nalUnits: unit.nalUnits) else { continue }
    sources.keep(unit.bytes, as: output.number)
    writeAll(output.pictures)
    sources.drop(before: output.oldestNeeded)
  }
  writeAll(splitter.drain())
}

/// A flattener and the access units that its pictures come from.
private struct FlattenedOutput {
  var flattener: Flattener
  private var sources = AccessUnitSources<[UInt8]>()

  init(_ output: Flattener.Output) { flattener = Flattener(output: output) }

  mutating func flatten(_ unit: AccessUnit) {
    guard let flat = try? flattener.flatten(unit.bytes.span.bytes, nalUnits: unit.nalUnits) else {
      return
    }
    sources.keep(unit.bytes, as: flat.number)
    for picture in flat.pictures {
      if let source = sources[picture.accessUnit] { write(picture, source) }
    }
    sources.drop(before: flat.oldestNeeded)
    _ = try? HEVCDecoderConfigurationRecord(flat.parameterSets).bytes
  }

  mutating func finish() {
    for picture in flattener.drain() {
      if let source = sources[picture.accessUnit] { write(picture, source) }
    }
  }
}

/// Returns the access units of a byte stream, read in chunks.
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

private func write(_ picture: SingleLayerAccessUnit, _ source: [UInt8]) {
  for framing in [NALUnitFraming.annexB, .lengthPrefixed(lengthSize: 4)] {
    var output = [UInt8](repeating: 0, count: picture.byteCount(framing: framing))
    output.withUnsafeMutableBytes {
      picture.write(framing: framing, source: source.span.bytes, into: $0)
    }
  }
}
