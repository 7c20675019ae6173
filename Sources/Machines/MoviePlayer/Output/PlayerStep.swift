// SPDX-License-Identifier: MPL-2.0

/// What a player came to: something that it gives, or something that it needs first.
public enum PlayerStep: Sendable {
  case output(PlayerOutput)
  /// These bytes of a source that can be read anywhere: answer with
  /// ``MoviePlayer/supply(_:)``. Until then the player asks again.
  case read(ReadRequest)
  /// The next bytes of a stream: go on when they have been given to ``MoviePlayer/append(_:_:)``.
  case awaitBytes
  /// A stream has to go on at this byte: answer with ``MoviePlayer/sourceMoved()`` or
  /// ``MoviePlayer/sourceStays()``. Until then the player asks again.
  case moveSource(to: UInt64)
  /// Nothing more comes, but for a seek.
  case end(PlayerEnd)
}

/// Bytes that a player has to have before it can go on.
public struct ReadRequest: Hashable, Sendable {
  /// Where they lie in the file; what there is of them will do.
  public var range: Range<UInt64>
  /// Whether the source may not have them: the player wants to know where the file ends.
  public var isProbe = false
}

/// How playing came to its end.
public enum PlayerEnd: Hashable, Sendable {
  /// All has been played.
  case endOfStream
  /// The segment has been played that a seek asked for with
  /// ``PlaybackSegment/Flags/endsWithSegmentDone``: up to this time of the movie.
  case segmentDone(at: Nanoseconds)
  /// Nobody wants any of the streams.
  case nothingSelected
}
