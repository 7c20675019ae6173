// SPDX-License-Identifier: MPL-2.0

/// The `mvhd` box (ISO/IEC 14496-12 8.2.2).
struct MovieHeader {
  /// Units a second of the movie's durations and edit lists.
  let timescale: UInt32
  /// In units of the timescale; 0 where fragments follow.
  let duration: UInt64
  /// In seconds since 1904-01-01.
  let creationTime: UInt64
  let nextTrackNumber: UInt32

  func write(to writer: inout BoxWriter) {
    let wide = duration > UInt32.max || creationTime > UInt32.max
    writer.fullBox("mvhd", version: wide ? 1 : 0) {
      $0.write(creationTime, wide: wide)
      $0.write(creationTime, wide: wide)
      $0.write(timescale)
      $0.write(duration, wide: wide)
      $0.write(UInt32(0x1_0000))
      $0.write(UInt16(0x100))
      $0.write(zeros: 10)
      TransformMatrix.identity.write(to: &$0)
      $0.write(zeros: 24)
      $0.write(nextTrackNumber)
    }
  }
}
