// SPDX-License-Identifier: MPL-2.0

/// The index of a movie: its `moov` box (ISO/IEC 14496-12 8.2.1).
public struct Movie: Sendable {
  /// Units a second of the movie's durations and edit lists; never 0.
  public internal(set) var timescale: UInt32 = 0
  /// In units of the timescale; nil where it is not known.
  public internal(set) var duration: UInt64?
  /// Seconds since 1904-01-01 00:00 UTC; 0 is not known.
  public internal(set) var creationTime: UInt64 = 0
  public internal(set) var matrix = TransformMatrix.identity
  /// In the file's order, without those that cannot be read.
  public internal(set) var tracks: [Track] = []
  /// Samples come in fragments, behind this index (`mvex`).
  public internal(set) var isFragmented = false
  /// With fragments, in units of the timescale; nil where it is not known (`mehd`).
  public internal(set) var fragmentedDuration: UInt64?
  /// The items of `meta` and `udta`, QuickTime's and iTunes' alike.
  public internal(set) var metadata: [MetadataItem] = []
  /// The boxes of `udta`, as they are.
  public internal(set) var userData: [OpaqueBox] = []
  /// Every other box of `moov`, in the file's order.
  public internal(set) var otherBoxes: [OpaqueBox] = []
  /// What is wrong with the file but can be done without: broken tracks that were left out,
  /// metadata that could not be read. At most 64 of them.
  public internal(set) var issues: [ISOBMFFError] = []
  /// What holds for samples for which a fragment says nothing (`trex`).
  var fragmentDefaults: [TrackID: TrackRun.Defaults] = [:]

  /// Adds a fragment's samples to those of its tracks, so that they can be looked up there.
  /// Fragments are to be added once each, in the file's order.
  public mutating func append(_ fragment: MovieFragment) {
    for trackFragment in fragment.trackFragments {
      guard let index = tracks.firstIndex(where: { $0.id == trackFragment.trackID }) else {
        continue
      }
      for run in trackFragment.runs {
        tracks[index].samples.append(run)
      }
    }
  }
}
