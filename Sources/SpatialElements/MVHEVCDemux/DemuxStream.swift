import CGStreamer
import GStreamer
import StereoVideo

/// One source pad, and what it says of its stream.
final class DemuxStream {
  enum Role: Equatable {
    /// One eye of a layered track, as a stream of its own.
    case eye(Eye)
    /// The samples as they are.
    case samples
  }

  let role: Role
  let pad: Pad
  let stream: GStreamer.Stream
  private(set) var caps: Caps
  let tags: TagList
  /// The next buffer does not continue the last one.
  var isDiscontinuous = true
  /// EOS, or what stands for it, has been pushed.
  var hasEnded = false
  /// An eye waits for a random access point.
  var waitsForSync = true

  init(role: Role, pad: Pad, stream: GStreamer.Stream, caps: Caps, tags: TagList) {
    self.role = role
    self.pad = pad
    self.stream = stream
    self.caps = caps
    self.tags = tags
    stream.setTags(tags)
  }

  /// Says what the stream consists of from now on.
  func setCaps(_ caps: Caps) {
    guard !caps.isEqual(to: self.caps) else { return }
    self.caps = caps
    stream.setCaps(caps)
    pad.push(.caps(caps))
  }

  /// Back to before the first buffer.
  func restart() {
    isDiscontinuous = true
    hasEnded = false
    waitsForSync = true
  }

  /// Flags of the next buffer that come from the stream's history.
  func takeDiscontinuity() -> BufferFlags {
    defer { isDiscontinuous = false }
    return isDiscontinuous ? .discont : []
  }
}
