// SPDX-License-Identifier: MPL-2.0

/// What finishes a recording that was cut off, in this order, each on the disk before the next:
/// ``closing``, then ``tail`` as ``MovieWriter/finish()`` gives it. Whenever that ends, the file
/// plays, and can be recovered again.
public struct RecoveredMovie: Equatable, Sendable {
  /// What became of one track.
  public struct Track: Equatable, Sendable {
    /// `vide`, `soun` and so on.
    public let handlerType: FourCC
    public let sampleCount: UInt32
    /// In seconds, from the movie's start to the end of the last sample that is shown.
    public let duration: Double
  }

  /// Makes the last box of the file's samples end with the last whole one; nil where there is
  /// nothing behind them.
  public let closing: MovieTail.Patch?
  /// The index. The file is cut at its place first.
  public let tail: MovieTail
  /// How many bytes at the end of the file belong to no whole sample.
  public let lostByteCount: UInt64
  /// Those with samples.
  public let tracks: [Track]
}
