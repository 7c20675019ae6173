// SPDX-License-Identifier: MPL-2.0

/// How a presentation is cut and listed.
public struct PackagerSettings: Sendable {
  public var names = FileNames()
  /// `live`: old segments leave the playlists. `event`: none does. `onDemand`: an event that does not
  /// change any more when it has ended.
  public var kind = MediaPlaylist.Kind.live
  /// In seconds; segments end at the first keyframe that is so far from their start.
  public var targetDuration = 6
  /// The length of partial segments, in nanoseconds; 0 for none.
  public var partDuration: UInt64 = 0
  /// How many segments a live playlist has; 0 for all.
  public var playlistLength = 5
  /// Segments have the wall-clock time of their start.
  public var hasDates = true
  /// Playlists say when nothing follows.
  public var hasEnd = true
  /// Whether encoders are asked for keyframes where segments are to begin.
  public var requestsKeyframes = true

  public init() {}

  /// In nanoseconds.
  var target: Int64 { Int64(targetDuration) * 1_000_000_000 }

  /// With values that make sense: segments of a day at most, parts no longer than segments.
  var bounded: PackagerSettings {
    var settings = self
    settings.targetDuration = min(max(targetDuration, 1), 86_400)
    settings.partDuration = min(partDuration, UInt64(settings.target))
    return settings
  }
}

/// Why a stream cannot be packaged further. What has been listed stays.
public enum PackagerError: Error, Equatable, CustomStringConvertible {
  /// A sample of a rendition comes more than a day behind the one before it.
  case timeJump(rendition: String)
  /// A rendition has so many bytes without a keyframe that a segment could begin at.
  case noKeyframe(rendition: String, bytes: UInt64)
  /// The playlists of an earlier run do not go together: that of a rendition ends far before the others.
  case apart(rendition: String, sequence: UInt64, other: UInt64)

  public var description: String {
    switch self {
    case .timeJump(let rendition):
      "The timestamps of \(rendition) leap by more than a day."
    case .noKeyframe(let rendition, let bytes):
      "No segment of \(rendition) can end, since no keyframe came for \(bytes) bytes; give the "
        + "encoder a shorter distance of keyframes."
    case .apart(let rendition, let sequence, let other):
      "The playlist of \(rendition) ends at segment \(sequence), and another one at \(other): they "
        + "are not of one run. Remove them, or write to another place."
    }
  }
}
