// SPDX-License-Identifier: MPL-2.0

/// Which loudspeakers the channels are for: a `chnl` box that names each (ISO/IEC 14496-12
/// 12.2.4, positions of ISO/IEC 23091-3).
enum ChannelPositions {
  /// Positions by the bits of QuickTime's bitmap, in the order in which channels come: side
  /// channels, bits 9 and 10, behind the rear ones.
  private static let positions: [(bit: UInt32, position: UInt8)] = [
    (0, 0), (1, 1), (2, 2), (3, 3), (4, 8), (5, 9), (6, 6), (7, 7), (8, 10), (9, 4), (10, 5),
  ]
  /// Left and right side surround, which films call left and right surround.
  private static let others: [UInt8: UInt32] = [13: 9, 14: 10]

  /// The bitmap of a box's content; nil where the channels are in another order, or for
  /// loudspeakers that have no bit.
  static func bitmap(_ box: BoxReader, channelCount: UInt32) throws(ISOBMFFError) -> UInt32? {
    var box = box
    guard try box.readVersion().version == 0, try box.read("stream_structure", as: UInt8.self) == 1,
      try box.read("definedLayout", as: UInt8.self) == 0, channelCount <= 16
    else { return nil }
    var bitmap: UInt32 = 0
    for _ in 0..<channelCount {
      let position: UInt8 = try box.read("speaker_position")
      let known = positions.first { $0.position == position }?.bit ?? others[position]
      guard let bit = known, bitmap >> bit == 0 else { return nil }
      bitmap |= 1 << bit
    }
    return bitmap
  }

  /// Writes the box for a bitmap; nothing where a bit has no position.
  static func write(bitmap: UInt32, to writer: inout BoxWriter) {
    guard bitmap != 0, bitmap >> 11 == 0 else { return }
    writer.fullBox("chnl") {
      $0.write(UInt8(1))
      $0.write(UInt8(0))
      for (bit, position) in positions where bitmap >> bit & 1 == 1 { $0.write(position) }
    }
  }
}
