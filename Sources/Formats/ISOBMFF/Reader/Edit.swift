// SPDX-License-Identifier: MPL-2.0

/// One row of a track's edit list: what plays next on the movie's time line
/// (ISO/IEC 14496-12 8.6.6).
public struct Edit: Equatable, Sendable {
  /// In units of the movie's timescale; 0 in a fragmented file means to the end.
  public var duration: UInt64
  /// Where in the media the edit begins, in units of the track's timescale; nil shows nothing.
  public var mediaTime: Int64?
  /// 16.16 fixed-point; 0x10000 is normal speed, 0 holds one picture.
  public var rate: Int32

  public init(duration: UInt64, mediaTime: Int64?, rate: Int32 = 0x1_0000) {
    self.duration = duration
    self.mediaTime = mediaTime
    self.rate = rate
  }
}
