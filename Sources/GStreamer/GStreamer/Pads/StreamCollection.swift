// SPDX-License-Identifier: MPL-2.0

package import CGStreamer

/// What a stream carries: `GstStreamType`.
public struct StreamType: OptionSet, Hashable, Sendable {
  public let rawValue: UInt32

  public init(rawValue: UInt32) {
    self.rawValue = rawValue
  }

  init(_ type: GstStreamType) {
    rawValue = type.rawValue
  }

  var cValue: GstStreamType { GstStreamType(rawValue) }

  /// `GST_STREAM_TYPE_UNKNOWN`
  public static let unknown = StreamType(GST_STREAM_TYPE_UNKNOWN)
  /// `GST_STREAM_TYPE_AUDIO`
  public static let audio = StreamType(GST_STREAM_TYPE_AUDIO)
  /// `GST_STREAM_TYPE_VIDEO`
  public static let video = StreamType(GST_STREAM_TYPE_VIDEO)
}

/// One of the streams that an element offers: `GstStream`.
public final class Stream: @unchecked Sendable {
  package let pointer: UnsafeMutablePointer<GstStream>

  /// A stream: one that is sparse has long times without data, one that is unselected is not to be
  /// played unasked.
  public init(
    id: String, caps: Caps, type: StreamType, isSparse: Bool = false, isUnselected: Bool = false
  ) {
    var flags = GST_STREAM_FLAG_NONE.rawValue
    if isSparse { flags |= GST_STREAM_FLAG_SPARSE.rawValue }
    if isUnselected { flags |= GST_STREAM_FLAG_UNSELECT.rawValue }
    pointer = gst_stream_new(id, caps.pointer, type.cValue, GstStreamFlags(flags))
  }

  deinit {
    gst_object_unref(pointer)
  }

  public var id: String { String(cString: gst_stream_get_stream_id(pointer)) }

  public func setTags(_ tags: TagList) { gst_stream_set_tags(pointer, tags.pointer) }

  public func setCaps(_ caps: Caps) { gst_stream_set_caps(pointer, caps.pointer) }
}

/// All the streams that an element offers: `GstStreamCollection`.
public final class StreamCollection: @unchecked Sendable {
  package let pointer: UnsafeMutablePointer<GstStreamCollection>

  /// The streams that an element takes from the stream of this id.
  public init(upstreamID: String?, _ streams: [Stream]) {
    pointer = gst_stream_collection_new(upstreamID)
    for stream in streams {
      // Takes over a reference.
      gst_stream_collection_add_stream(
        pointer, gst_object_ref(stream.pointer).assumingMemoryBound(to: GstStream.self))
    }
  }

  deinit {
    gst_object_unref(pointer)
  }
}
