// SPDX-License-Identifier: MPL-2.0

internal import CGStreamer

/// What an application does with the pads of its elements.
extension Pad {
  public var direction: PadTemplate.Direction {
    gst_pad_get_direction(pointer) == GST_PAD_SRC ? .source : .sink
  }

  /// What the pad can carry as things are.
  public var possibleCaps: Caps { Caps(adopting: gst_pad_query_caps(pointer, nil)) }

  /// Why two pads cannot be linked.
  public enum LinkFailure: Error, Sendable {
    /// Nothing can be carried by both.
    case noFormat
    /// One of them is linked already.
    case wasLinked
    /// Anything else, by GStreamer's name for it.
    case refused(String)
  }

  /// Links this source pad with a sink pad.
  public func link(to sink: Pad) throws(LinkFailure) {
    switch gst_pad_link(pointer, sink.pointer) {
    case GST_PAD_LINK_OK: return
    case GST_PAD_LINK_NOFORMAT: throw .noFormat
    case GST_PAD_LINK_WAS_LINKED: throw .wasLinked
    case let result: throw .refused(String(cString: gst_pad_link_get_name(result)))
    }
  }

  /// Whether data can come to this sink pad: some element without sink pads, or whose sink pads have
  /// sources themselves, stands before it.
  public var hasSource: Bool {
    guard let peer, let links = gst_pad_iterate_internal_links(peer.pointer) else {
      return isLinked
    }
    defer { gst_iterator_free(links) }
    var value = GValue()
    var (sinks, fed) = (0, 0)
    while gst_iterator_next(links, &value) == GST_ITERATOR_OK {
      sinks += 1
      if let sink = g_value_get_object(&value)?.assumingMemoryBound(to: GstPad.self),
        Pad(retaining: sink).hasSource
      {
        fed += 1
      }
      g_value_unset(&value)
    }
    return sinks == 0 || fed > 0
  }

  /// The factories of the elements that this source pad's data comes to; where they only pass it on,
  /// as queues do, also those behind them.
  public var readers: [String] { readers(depth: 16) }

  private func readers(depth: Int) -> [String] {
    guard depth > 0, let peer, let element = gst_pad_get_parent_element(peer.pointer) else {
      return []
    }
    defer { gst_object_unref(element) }
    guard let factory = gst_element_get_factory(element),
      let text = gst_object_get_name(UnsafeMutablePointer<GstObject>(factory))
    else { return [] }
    defer { g_free(text) }
    let name = String(cString: text)
    guard ["queue", "queue2", "tee", "capsfilter", "identity", "valve"].contains(name),
      let links = gst_pad_iterate_internal_links(peer.pointer)
    else { return [name] }
    defer { gst_iterator_free(links) }
    var names = [name]
    var value = GValue()
    while gst_iterator_next(links, &value) == GST_ITERATOR_OK {
      if let source = g_value_get_object(&value)?.assumingMemoryBound(to: GstPad.self) {
        names += Pad(retaining: source).readers(depth: depth - 1)
      }
      g_value_unset(&value)
    }
    return names
  }

  /// How long the stream is that the pad carries, or nil where nobody upstream knows.
  public var duration: ClockTime? {
    var duration: gint64 = 0
    guard gst_pad_query_duration(pointer, GST_FORMAT_TIME, &duration) != 0 else { return nil }
    return ClockTime(exactly: duration)
  }
}
