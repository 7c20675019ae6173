// SPDX-License-Identifier: MPL-2.0

package import CGStreamer

/// The media type of a stream: `GstStreamType`.
public struct StreamType: OptionSet, Hashable, Sendable {
  /// The bits, as in `GstStreamType`.
  public let rawValue: UInt32

  /// Creates types from their bits.
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

/// A stream that an element offers: `GstStream`.
public final class Stream: @unchecked Sendable {
  package let pointer: UnsafeMutablePointer<GstStream>

  /// Creates a stream. A sparse stream has long periods without data; an unselected one should not
  /// be selected by default.
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

  /// The stream ID.
  public var id: String { String(cString: gst_stream_get_stream_id(pointer)) }

  /// Sets the tags of the stream.
  public func setTags(_ tags: TagList) { gst_stream_set_tags(pointer, tags.pointer) }

  /// Sets the caps of the stream.
  public func setCaps(_ caps: Caps) { gst_stream_set_caps(pointer, caps.pointer) }
}

/// All streams that an element offers: `GstStreamCollection`.
public final class StreamCollection: @unchecked Sendable {
  package let pointer: UnsafeMutablePointer<GstStreamCollection>

  /// Creates a collection of streams derived from the upstream stream with this ID.
  public init(upstreamID: String?, _ streams: [Stream]) {
    pointer = gst_stream_collection_new(upstreamID)
    for stream in streams {
      // The collection takes over a reference.
      gst_stream_collection_add_stream(
        pointer, gst_object_ref(stream.pointer).assumingMemoryBound(to: GstStream.self))
    }
  }

  deinit {
    gst_object_unref(pointer)
  }
}
