// SPDX-License-Identifier: MPL-2.0

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
