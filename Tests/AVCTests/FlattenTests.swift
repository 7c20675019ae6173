// SPDX-License-Identifier: MPL-2.0

import AVC
import HEVC
import TestKit
import Testing

@Suite(
  "Flatten MVC", .enabled(if: MVCMedia.isThere, "the folder ../shared/mvc-media is absent"))
struct FlattenTests {
  /// The warnings about each stream; none about the others.
  static let warnings: [String: Set<MVCWarning>] = [
    "b2-implicit.264": [.implicitWeights],
    "b2-temporal.264": [.temporalDirect],
    "corner-h7-cabac-all.264": [.colocatedInterViewReference],
    "field-b2-temporal.264": [.temporalDirect, .roundedDistances],
  ]

  @Test("a strict decoder finds nothing wrong", arguments: MVCMedia.names)
  func isStrict(name: String) throws {
    let facts = try #require(MVCMedia.all[name])
    let flat = try flatten(try MVCMedia.bytes(name))
    let decoder = try StrictDecoder(flat.bytes)
    #expect(decoder.violations.isEmpty)
    let frameCount = facts.accessUnits - facts.fieldPairs
    #expect(decoder.frames.count == 2 * frameCount)
    #expect(
      flat.pictures.map(\.view) == (0..<2 * frameCount).map { $0 & 1 == 0 ? .base : .dependent })
    // L R L R comes out.
    #expect(
      decoder.output.map { flat.pictures[$0].view }
        == (0..<2 * frameCount).map { $0 & 1 == 0 ? .base : .dependent })
    let accessUnits = decoder.output.map { flat.pictures[$0].accessUnit }
    for index in stride(from: 0, to: accessUnits.count - 1, by: 2) {
      #expect(accessUnits[index] == accessUnits[index + 1])
    }
  }

  @Test("the strict decoder notices a picture that is missing", arguments: 2..<20)
  func strictness(missing: Int) throws {
    let flat = try flatten(try MVCMedia.bytes("p-longterm.264"))
    let bytes = flat.pictures.indices.filter { $0 != missing }.flatMap { flat.pictures[$0].bytes }
    #expect(try !StrictDecoder(bytes).violations.isEmpty)
  }

  @Test("streams are warned about if they are not exact", arguments: MVCMedia.names)
  func warns(name: String) throws {
    let flat = try flatten(try MVCMedia.bytes(name))
    #expect(flat.kinds == Set((Self.warnings[name] ?? []).map { .warning($0) }))
  }

  @Test("pictures say where they belong", arguments: MVCMedia.names)
  func facts(name: String) throws {
    let facts = try #require(MVCMedia.all[name])
    let flat = try flatten(try MVCMedia.bytes(name))
    #expect(flat.pictures.allSatisfy { $0.isPaired })
    #expect(flat.pictures.count { $0.isFieldPair } == 2 * facts.fieldPairs)
    #expect(flat.pictures.first?.isRandomAccess == true)
    #expect(flat.pictures.allSatisfy { $0.view == .base || !$0.isRandomAccess })
    let base = flat.pictures.filter { $0.view == .base }.map(\.accessUnit)
    #expect(base == base.sorted() && Set(base).count == base.count)
  }

  @Test("chunks of any size give the same", arguments: MVCMedia.names)
  func chunks(name: String) throws {
    let bytes = try MVCMedia.bytes(name)
    let whole = try flatten(bytes)
    var dice = Dice(UInt64(bytes.count))
    for limit in [7, 100, 3000] {
      let flat = try flatten(bytes) { 1 + dice.next(below: limit) }
      let isSame = flat.pictures.map(\.bytes) == whole.pictures.map(\.bytes)
      #expect(isSame)
      #expect(flat.notices == whole.notices)
      // The chunk that has the first slice of the access unit, or the bytes before it.
      #expect(flat.pictures.map(\.stamp) == flat.pictures.map(\.stamp).sorted())
    }
  }

  @Test("NAL units one by one, and with length prefixes, give the same", arguments: MVCMedia.names)
  func alignments(name: String) throws {
    let bytes = try MVCMedia.bytes(name)
    let whole = try flatten(bytes)
    let units = accessUnits(bytes)
    for (framing, alignment) in [
      (NALUnitFraming.annexB, MVCAlignment.nalUnit), (.annexB, .accessUnit),
      (.lengthPrefixed(lengthSize: 4), .nalUnit), (.lengthPrefixed(lengthSize: 4), .accessUnit),
    ] {
      var flattener = MVCFlattener<Int>(framing: framing)
      var flat = Flattened()
      for (number, unit) in units.enumerated() {
        let buffers = alignment == .nalUnit ? unit.map { [$0] } : [unit]
        for buffer in buffers {
          let bytes = buffer.flatMap { nalUnit -> [UInt8] in
            let size = UInt32(nalUnit.count)
            let prefix = (0..<4).map { UInt8(truncatingIfNeeded: size >> (24 - 8 * $0)) }
            return (framing == .annexB ? [0, 0, 1] : prefix) + nalUnit
          }
          flat.add(
            try flattener.push(bytes.span.bytes, alignment: alignment, stamp: number))
        }
      }
      flat.add(flattener.end())
      let isSame = flat.pictures.map(\.bytes) == whole.pictures.map(\.bytes)
      #expect(isSame)
      #expect(flat.pictures.map(\.stamp) == flat.pictures.map(\.accessUnit))
    }
  }

  @Test("whole access units come out at once, after the first eight")
  func latency() throws {
    let units = accessUnits(try MVCMedia.bytes("b2-cabac.264"))
    var flattener = MVCFlattener<Int>(framing: .annexB)
    for (number, unit) in units.enumerated() {
      let output = try flattener.push(
        byteStream(unit).span.bytes, alignment: .accessUnit, stamp: number)
      #expect(output.pictures.count == (number < 7 ? 0 : number == 7 ? 16 : 2))
    }
    #expect(flattener.end().pictures.isEmpty)
  }

  @Test("streams of other sizes and kinds follow each other")
  func concatenated() throws {
    let names = ["p-cabac.264", "field-h7.264", "b2-idr.264", "p-longterm.264", "pcm-cavlc.264"]
    let parts = try names.map { try MVCMedia.bytes($0) }
    let flat = try flatten(parts.flatMap { $0 })
    #expect(try StrictDecoder(flat.bytes).violations.isEmpty)
    #expect(flat.notices.isEmpty)
    let counts = try parts.map { try flatten($0).pictures.count }
    #expect(flat.pictures.count == counts.reduce(0, +))
  }

  @Test(
    "each numbering is legal, and the order is L R L R but with far",
    arguments: [
      MVCNumbering.shift, .double, .far,
    ])
  func numberings(numbering: MVCNumbering) throws {
    for name in ["b2-cabac.264", "h7-reorder.264", "p-longterm.264", "b2-idr.264"] {
      let flat = try flatten(try MVCMedia.bytes(name), numbering: numbering)
      let decoder = try StrictDecoder(flat.bytes)
      guard numbering != .far else {
        #expect(flat.pictures.count == 40)
        continue
      }
      #expect(decoder.violations.isEmpty)
      #expect(
        decoder.output.map { flat.pictures[$0].view == .base } == (0..<40).map { $0 & 1 == 0 })
    }
  }
}
