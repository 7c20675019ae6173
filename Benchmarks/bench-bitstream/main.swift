// SPDX-License-Identifier: MPL-2.0

// Measures weaving two coded streams and flattening the result, from Annex B to length-prefixed
// samples, against copying the same bytes.
//
// Usage: bench-bitstream LEFT.h265 RIGHT.h265 [seconds]
import Glibc
import HEVC
import StereoVideo

let arguments = Array(CommandLine.arguments.dropFirst())
guard arguments.count >= 2 else {
  print("usage: bench-bitstream LEFT.h265 RIGHT.h265 [seconds]")
  exit(2)
}
let seconds = arguments.dropFirst(2).first.flatMap { Double($0) } ?? 2

func read(_ path: String) -> [UInt8] {
  guard let file = fopen(path, "rb") else {
    print("\(path) cannot be read")
    exit(1)
  }
  defer { fclose(file) }
  fseek(file, 0, SEEK_END)
  let size = ftell(file)
  rewind(file)
  return [UInt8](unsafeUninitializedCapacity: size) { buffer, count in
    count = fread(buffer.baseAddress, 1, size, file)
  }
}

/// Splits a stream into access units.
func accessUnits(_ bytes: [UInt8]) throws -> [[UInt8]] {
  var assembler = AccessUnitAssembler()
  return (try assembler.append(bytes.span.bytes) + assembler.finish()).map(\.bytes)
}

/// Calls `pass`, which returns the number of bytes it processed, repeatedly; returns GB/s.
func rate(_ pass: () throws -> Int) rethrows -> Double {
  let clock = ContinuousClock()
  let start = clock.now
  var bytes = 0
  repeat { bytes += try pass() } while (clock.now - start) / .seconds(1) < seconds
  return Double(bytes) / ((clock.now - start) / .seconds(1)) / 1e9
}

func text(_ value: Double) -> String { "\((value * 100).rounded() / 100)" }

let left = try accessUnits(read(arguments[0]))
let right = try accessUnits(read(arguments[1]))
let framing = NALUnitFraming.lengthPrefixed(lengthSize: 4)
let largest = zip(left, right).map { $0.count + $1.count }.max() ?? 0
let output = UnsafeMutableRawBufferPointer.allocate(byteCount: largest * 2 + 65_536, alignment: 16)

let copying = rate {
  var total = 0
  for (left, right) in zip(left, right) {
    left.withUnsafeBytes { output.copyMemory(from: $0) }
    right.withUnsafeBytes { output.copyMemory(from: $0) }
    total += left.count + right.count
  }
  return total
}

var woven: [[UInt8]] = []
var sets: [[UInt8]] = []
let weaving = try rate {
  var weaver = Weaver(baseEye: .left)
  let isFirst = woven.isEmpty
  var total = 0
  for (left, right) in zip(left, right) {
    let unit = try weaver.weave(
      left: left.span.bytes, right: right.span.bytes, framing: .annexB)
    let size = unit.byteCount(framing: framing)
    unit.write(framing: framing, left: left.span.bytes, right: right.span.bytes, into: output)
    total += left.count + right.count
    if isFirst {
      woven.append(Array(output.prefix(size)))
      sets = unit.parameterSets.nalUnits
    }
  }
  return total
}

let flattening = try rate {
  var flattener = Flattener(output: .bothEyes)
  try flattener.add(parameterSets: sets)
  var total = 0
  for index in 0...woven.count {
    var pictures: [SingleLayerAccessUnit] = []
    if index < woven.count {
      let unit = woven[index]
      let span = unit.span.bytes
      pictures = try flattener.flatten(span, nalUnits: framing.nalUnits(in: span)).pictures
      total += unit.count
    } else {
      pictures = flattener.drain()
    }
    for picture in pictures {
      let unit = woven[picture.accessUnit]
      picture.write(framing: framing, source: unit.span.bytes, into: output)
    }
  }
  return total
}

let size = woven.reduce(0) { $0 + $1.count }
print("\(woven.count) access units, \(size / max(woven.count, 1)) bytes each on average")
print("copying \(text(copying)) GB/s")
print("weaving \(text(weaving)) GB/s, \(text(weaving / copying)) of copying")
print("flattening \(text(flattening)) GB/s, \(text(flattening / copying)) of copying")
