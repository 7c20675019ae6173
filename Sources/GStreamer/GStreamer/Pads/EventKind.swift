// SPDX-License-Identifier: MPL-2.0

internal import CGStreamer

extension Event {
  /// What an event says, and what it says it of.
  public enum Kind {
    case streamStart(id: String)
    case caps(Caps)
    case segment(Segment)
    case tags(TagList)
    case gap
    case segmentDone
    case streamCollection
    case tableOfContents
    case endOfStream
    case flushStart
    case flushStop
    case seek(Seek)
    case qualityOfService
    case latency
    case reconfigure
    /// A mouse, key or touch event, with its fields (`GstNavigation`).
    case navigation(StructureView)
    /// An element's own, downstream and serialized, by its name.
    case custom(name: String)
    /// Any other.
    case other
  }

  public var kind: Kind {
    switch type {
    case GST_EVENT_STREAM_START: streamID.map { .streamStart(id: $0) } ?? .other
    case GST_EVENT_CAPS: caps.map { .caps($0) } ?? .other
    case GST_EVENT_SEGMENT: segment.map { .segment($0) } ?? .other
    case GST_EVENT_TAG: tags.map { .tags($0) } ?? .other
    case GST_EVENT_GAP: .gap
    case GST_EVENT_SEGMENT_DONE: .segmentDone
    case GST_EVENT_STREAM_COLLECTION: .streamCollection
    case GST_EVENT_TOC: .tableOfContents
    case GST_EVENT_EOS: .endOfStream
    case GST_EVENT_FLUSH_START: .flushStart
    case GST_EVENT_FLUSH_STOP: .flushStop
    case GST_EVENT_SEEK: seek.map { .seek($0) } ?? .other
    case GST_EVENT_QOS: .qualityOfService
    case GST_EVENT_LATENCY: .latency
    case GST_EVENT_RECONFIGURE: .reconfigure
    case GST_EVENT_NAVIGATION: structure.map { .navigation($0) } ?? .other
    case GST_EVENT_CUSTOM_DOWNSTREAM: structure.map { .custom(name: $0.name) } ?? .other
    default: .other
    }
  }
}
