// SPDX-License-Identifier: MPL-2.0

import ISOBMFF

/// Bytes of boxes that the writer would not write.
func box(_ type: String, _ contents: [UInt8]...) -> [UInt8] {
  let content = contents.flatMap { $0 }
  return number(UInt32(8 + content.count)) + type.unicodeScalars.map { UInt8($0.value) } + content
}

func fullBox(
  _ type: String, version: UInt8 = 0, flags: UInt32 = 0, _ contents: [UInt8]...
) -> [UInt8] {
  box(type, number(UInt32(version) << 24 | flags) + contents.flatMap { $0 })
}

/// Big-endian bytes.
func number(_ value: some FixedWidthInteger) -> [UInt8] {
  withUnsafeBytes(of: value.bigEndian) { Array($0) }
}

func numbers(_ values: UInt32...) -> [UInt8] {
  values.flatMap { number($0) }
}

/// The parts of a movie of one track that a test may want to replace.
struct MovieFixture {
  var version: UInt8 = 0
  var timescale: UInt32 = 600
  var handler = "vide"
  var sampleEntries = [Self.videoEntry]
  /// What `stsd` says of their number; nil for the truth.
  var entryCount: UInt32?
  /// Three samples of 10, 20 and 30 bytes, each of 5 time units, at byte 1000.
  var tables: [[UInt8]] = [
    fullBox("stts", numbers(1, 3, 5)),
    fullBox("stsc", numbers(1, 1, 3, 1)),
    fullBox("stsz", numbers(0, 3, 10, 20, 30)),
    fullBox("stco", numbers(1, 1000)),
  ]
  var edits: [UInt8] = []
  /// `dinf`, or nothing.
  var dataInformation: [UInt8] = []
  /// Boxes after the track.
  var extras: [UInt8] = []

  static let videoEntry = box(
    "hvc1", [UInt8](repeating: 0, count: 24), number(UInt16(64)), number(UInt16(32)),
    [UInt8](repeating: 0, count: 50))

  private func time(_ value: UInt64) -> [UInt8] {
    version == 1 ? number(value) : number(UInt32(value))
  }

  var header: [UInt8] {
    fullBox(
      "mvhd", version: version, time(1), time(2), number(timescale), time(15),
      numbers(0x1_0000, 0x100_0000, 0, 0), matrix, [UInt8](repeating: 0, count: 28))
  }

  private var matrix: [UInt8] {
    numbers(0x1_0000, 0, 0, 0, 0x1_0000, 0, 0, 0, 0x4000_0000)
  }

  var track: [UInt8] {
    let tkhd = fullBox(
      "tkhd", version: version, flags: 3, time(1), time(2), numbers(1, 0), time(15),
      numbers(0, 0, 0, 0), matrix, numbers(64 << 16, 32 << 16))
    let mdhd = fullBox(
      "mdhd", version: version, time(1), time(2), number(timescale), time(15),
      number(UInt16(0x55C4)), number(UInt16(0)))
    let hdlr = fullBox(
      "hdlr", numbers(0), Array(handler.utf8), numbers(0, 0, 0), Array("name\0".utf8))
    let stsd = fullBox(
      "stsd", number(entryCount ?? UInt32(sampleEntries.count)), sampleEntries.flatMap { $0 })
    let stbl = box("stbl", stsd, tables.flatMap { $0 })
    return box("trak", tkhd, edits, box("mdia", mdhd, hdlr, box("minf", dataInformation, stbl)))
  }

  var content: [UInt8] { header + track + extras }

  func movie() throws -> Movie { try Movie(content: content, at: 8) }
}
