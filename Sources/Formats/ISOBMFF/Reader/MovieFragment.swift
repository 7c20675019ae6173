// SPDX-License-Identifier: MPL-2.0

/// The index of one fragment of a movie: a `moof` box (ISO/IEC 14496-12 8.8.4).
public struct MovieFragment: Sendable {
  /// A track fragment: samples of one track (`traf`).
  public struct TrackFragment: Sendable {
    public internal(set) var trackID: TrackID
    /// In decoding order. Sample entry indexes are into the track's sample entries.
    public internal(set) var runs: [TrackRun] = []
    /// Every other box, such as `senc` and `saiz`, in the file's order.
    public internal(set) var otherBoxes: [OpaqueBox] = []
  }

  /// Where the box begins, in bytes from the file's start.
  public let offset: UInt64
  /// Increases from fragment to fragment (`mfhd`).
  public internal(set) var sequenceNumber: UInt32 = 0
  /// In the file's order; a track may have several.
  public internal(set) var trackFragments: [TrackFragment] = []
  /// Every other box, in the file's order.
  public internal(set) var otherBoxes: [OpaqueBox] = []
}
