// SPDX-License-Identifier: MPL-2.0

/// That a track needs another one, and for what: an entry of `tref` (ISO/IEC 14496-12 8.3.3).
public struct TrackReference: Equatable, Sendable {
  /// `cdsc` where the track describes the other, `chap` where the other has its chapters, `tmcd`
  /// where the other has its time code, and so on.
  public var type: FourCC
  public var track: TrackID

  public init(type: FourCC, track: TrackID) {
    self.type = type
    self.track = track
  }
}
