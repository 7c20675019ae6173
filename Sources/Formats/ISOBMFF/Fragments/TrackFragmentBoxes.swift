// SPDX-License-Identifier: MPL-2.0

/// The `traf` box of one track (ISO/IEC 14496-12 8.8.6 to 8.8.12): one `trun`, and defaults for
/// whatever is the same for all samples.
struct TrackFragmentBoxes {
  let track: TrackID
  let rows: [FragmentTrack.Row]
  /// When the first sample is decoded, on the written time line.
  let decodeTime: UInt64
  let hasSignedOffsets: Bool

  private var duration: UInt32? { uniform(\.duration) }
  private var size: UInt32? { uniform(\.size) }
  private var flags: UInt32? { uniform(\.flags) }
  private var hasOffsets: Bool { rows.contains { $0.compositionOffset != 0 } }

  var sampleCount: UInt32 { rows.reduce(0) { $0 &+ $1.count } }
  var dataSize: UInt64 { rows.reduce(0) { $0 + UInt64($1.count) * UInt64($1.size) } }
  var mediaDuration: UInt64 { rows.reduce(0) { $0 + UInt64($1.count) * UInt64($1.duration) } }

  private func uniform(_ field: (FragmentTrack.Row) -> UInt32) -> UInt32? {
    guard let value = rows.first.map(field), rows.allSatisfy({ field($0) == value }) else {
      return nil
    }
    return value
  }

  /// - Parameter dataOffset: of the first sample, from the start of `moof`.
  func write(dataOffset: Int32, to writer: inout BoxWriter) {
    writer.box("traf") {
      writeHeader(to: &$0)
      $0.fullBox("tfdt", version: 1) { $0.write(decodeTime) }
      writeRun(dataOffset: dataOffset, to: &$0)
    }
  }

  private func writeHeader(to writer: inout BoxWriter) {
    let (duration, size, flags) = (duration, size, flags)
    // default-base-is-moof
    var present: UInt32 = 0x2_0000
    if duration != nil { present |= 0x8 }
    if size != nil { present |= 0x10 }
    if flags != nil { present |= 0x20 }
    writer.fullBox("tfhd", flags: present) {
      $0.write(track.rawValue)
      if let duration { $0.write(duration) }
      if let size { $0.write(size) }
      if let flags { $0.write(flags) }
    }
  }

  private func writeRun(dataOffset: Int32, to writer: inout BoxWriter) {
    let (duration, size, flags, hasOffsets) = (duration, size, flags, hasOffsets)
    var present: UInt32 = 0x1
    if duration == nil { present |= 0x100 }
    if size == nil { present |= 0x200 }
    if flags == nil { present |= 0x400 }
    if hasOffsets { present |= 0x800 }
    let isSigned = hasSignedOffsets || rows.contains { $0.compositionOffset < 0 }
    writer.fullBox("trun", version: isSigned ? 1 : 0, flags: present) {
      $0.write(sampleCount)
      $0.write(dataOffset)
      guard present & 0xF00 != 0 else { return }
      for row in rows {
        for _ in 0..<row.count {
          if duration == nil { $0.write(row.duration) }
          if size == nil { $0.write(row.size) }
          if flags == nil { $0.write(row.flags) }
          if hasOffsets { $0.write(row.compositionOffset) }
        }
      }
    }
  }
}
