// SPDX-License-Identifier: MPL-2.0

/// Settings for cutting and listing a presentation.
public struct PackagerSettings: Sendable {
  /// Paths of all files.
  public var names = FileNames()
  /// Type of the playlists. `live`: old segments are removed. `event`: none is removed. `onDemand`:
  /// an event whose playlists become `VOD` when it has ended.
  public var kind = MediaPlaylist.Kind.live
  /// Maximum duration of segments after rounding, in seconds, as playlists promise it. It grows if
  /// keyframes are further apart.
  public var targetDuration = 6
  /// Intended duration of segments in nanoseconds, at most the target duration: a segment ends at
  /// the first keyframe at least this long after its start; 0 for the target duration.
  public var segmentDuration: UInt64 = 0
  /// Duration of partial segments in nanoseconds; 0 for none.
  public var partDuration: UInt64 = 0
  /// Time in nanoseconds by which a rendition may lag, if that is more than three segments, until
  /// its playlist has a gap: at least that by which the caller lets others run ahead.
  public var patience: Int64 = 0
  /// Number of segments in a live playlist; 0 for all.
  public var playlistLength = 5
  /// Whether segments carry the wall-clock time of their start.
  public var hasDates = true
  /// Whether playlists are marked as ended.
  public var hasEnd = true
  /// Whether playlists have `EXT-X-CUE-OUT` and `EXT-X-CUE-IN` at markers, too.
  public var hasCues = false
  /// Whether encoders are asked for keyframes at the intended segment starts.
  public var requestsKeyframes = true

  /// Creates the default settings.
  public init() {}

  /// Target duration in nanoseconds.
  var target: Int64 { Int64(targetDuration) * 1_000_000_000 }

  /// Intended duration of segments in nanoseconds.
  var segment: Int64 {
    segmentDuration == 0 ? target : min(Int64(clamping: segmentDuration), target)
  }

  /// The settings with values clamped: segments of 1 second to a day, parts no longer than
  /// segments.
  var bounded: PackagerSettings {
    var settings = self
    settings.targetDuration = min(max(targetDuration, 1), 86_400)
    settings.partDuration = min(partDuration, UInt64(settings.target))
    return settings
  }
}

/// The reason why a stream cannot be packaged further. Everything already listed stays valid.
public enum PackagerError: Error, Equatable, CustomStringConvertible {
  /// A sample's decode time is more than a day after that of the previous sample.
  case timeJump(rendition: String)
  /// A rendition has this many bytes without a keyframe at which a segment could start.
  case noKeyframe(rendition: String, bytes: UInt64)
  /// The playlists of an earlier run do not match: one ends far before the others.
  case apart(rendition: String, sequence: UInt64, other: UInt64)
  /// A template for names lacks a placeholder, so that files would replace each other.
  case sameName(template: String, placeholder: String)

  /// The message for users, complete sentences.
  public var description: String {
    switch self {
    case .timeJump(let rendition):
      "The timestamps of \(rendition) jump by more than a day."
    case .noKeyframe(let rendition, let bytes):
      "A segment of \(rendition) cannot end: \(bytes) bytes came without a keyframe. Set a "
        + "shorter keyframe interval in the encoder."
    case .sameName(let template, let placeholder):
      "'\(template)' would give several files the same name: it needs \(placeholder) for the "
        + (placeholder == "%s" ? "name of the rendition." : "number of the segment.")
    case .apart(let rendition, let sequence, let other):
      "The playlist of \(rendition) ends at segment \(sequence), another one at \(other): they are "
        + "from different runs. Remove them, or write to another location."
    }
  }
}
