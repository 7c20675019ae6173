// SPDX-License-Identifier: MPL-2.0

internal import CGStreamer

extension Pipeline {
  /// Puts an element into the pipeline; throws where it has one of that name.
  public func add(_ element: Element) throws {
    guard gst_bin_add(cast(pointer), element.pointer) != 0 else {
      throw ElementError(
        .failed, "The pipeline has an element '\(element.name)'.")
    }
  }

  /// Starts the change to PLAYING; false where it fails at once.
  public func play() -> Bool { setState(.playing) }

  /// Goes down to NULL, which waits for the streaming threads.
  public func end() { setState(.null) }

  /// Does what every application has to do on some messages: distributes a changed latency, and
  /// chooses another clock where one is lost.
  public func answer(_ message: Message) {
    switch message.type {
    case GST_MESSAGE_LATENCY: gst_bin_recalculate_latency(cast(pointer))
    case GST_MESSAGE_CLOCK_LOST:
      setState(.paused)
      setState(.playing)
    default: break
    }
  }

  /// The graph as Graphviz draws it, with all that is negotiated by now.
  public var dot: String {
    adopt(gst_debug_bin_to_dot_data(cast(pointer), GST_DEBUG_GRAPH_SHOW_ALL)) ?? ""
  }

  /// The name of the pipeline's own child that the sender of a message is, or is part of.
  public func child(sending message: Message) -> String? {
    let top = UnsafeMutableRawPointer(pointer)
    guard let source = message.pointer.pointee.src else { return nil }
    gst_object_ref(source)
    var object = source
    while true {
      let current = object
      defer { gst_object_unref(current) }
      guard let parent = gst_object_get_parent(current) else { return nil }
      guard UnsafeMutableRawPointer(parent) != top else {
        gst_object_unref(parent)
        return adopt(gst_object_get_name(current))
      }
      object = parent
    }
  }
}

extension Element {
  /// Brings the element to its pipeline's state: for one that is added to a pipeline that runs.
  @discardableResult
  public func followParentState() -> Bool { gst_element_sync_state_with_parent(pointer) != 0 }

  /// The pads that are there.
  public var pads: [Pad] {
    var pads: [Pad] = []
    let collect: GstElementForeachPadFunc = { _, pad, data in
      if let pad, let data {
        data.assumingMemoryBound(to: [Pad].self).pointee.append(Pad(retaining: pad))
      }
      return 1
    }
    withUnsafeMutablePointer(to: &pads) { _ = gst_element_foreach_pad(pointer, collect, $0) }
    return pads
  }
}
