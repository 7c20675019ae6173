// SPDX-License-Identifier: MPL-2.0

internal import CGStreamer
internal import StereoVideo

/// Warns if an element with several source pads waits for one branch while the pipeline prerolls:
/// a sink keeps its first buffer until all sinks have one, so that a branch without a queue stops
/// the thread that feeds the others.
final class PrerollWatch: Sendable {
  private let timer = Locked<Timer?>(nil)

  /// The time for which nothing has moved before the warning; half of it passes first.
  private static let patience = ClockTime.second * 5

  /// Starts to watch an element that changes to PAUSED.
  func start(_ element: ElementBox) {
    guard Self.mayBranch(element.pointer) else { return }
    let timer = Timer(after: Self.patience / 2, for: element) { [weak element] in
      guard let element else { return }
      let count = element.instance.stepCount
      // Bins, and elements that have not received anything, do not count.
      guard count > 0 else { return }
      let rest = Timer(after: Self.patience / 2, for: element) { [weak element] in
        guard let element, element.instance.stepCount == count else { return }
        Self.check(element)
      }
      element.preroll.timer.withLock { if $0 != nil { $0 = rest } }
    }
    self.timer.withLock { $0 = timer }
  }

  func stop() { timer.withLock { $0 = nil } }

  /// Whether the element's type has several source pads.
  private static func mayBranch(_ element: UnsafeMutablePointer<GstElement>) -> Bool {
    var templates = gst_element_class_get_pad_template_list(element.elementClass)
    var count = 0
    while let node = templates {
      let template = node.pointee.data?.assumingMemoryBound(to: GstPadTemplate.self)
      if template?.pointee.direction == GST_PAD_SRC { count += 1 }
      templates = node.pointee.next
    }
    return count > 1
  }

  private static func check(_ element: ElementBox) {
    guard isPrerolling(element.pointer) else { return }
    let pads = Element(sharing: element.pointer).pads
    let outputs = pads.filter { $0.direction == .source && $0.isLinked }
    guard outputs.count > 1, pads.contains(where: { $0.direction == .sink && $0.isBusy }) else {
      return
    }
    let names = outputs.filter { !$0.isQueued }.map(\.name)
    guard !names.isEmpty else { return }
    element.postWarning(
      ElementError(
        .failed,
        "The branches after this element wait for each other, since there is no queue after "
          + "\(names.joined(separator: " and ")): put one after each pad, as in "
          + "\(element.name).\(names[0]) ! queue ! ..."))
  }

  /// Whether the pipeline of an element waits for the first buffers of its sinks.
  private static func isPrerolling(_ element: UnsafeMutablePointer<GstElement>) -> Bool {
    var top: UnsafeMutablePointer<GstObject> = cast(element)
    gst_object_ref(top)
    while let parent = gst_object_get_parent(top) {
      gst_object_unref(top)
      top = parent
    }
    defer { gst_object_unref(top) }
    guard cgst_is_a(top, gst_element_get_type()) != 0 else { return false }
    return gst_element_get_state(cast(top), nil, nil, 0) == GST_STATE_CHANGE_ASYNC
  }
}

extension Pad {
  /// Whether a thread is inside the pad's functions.
  fileprivate var isBusy: Bool {
    guard g_rec_mutex_trylock(&pointer.pointee.stream_rec_lock) != 0 else { return true }
    g_rec_mutex_unlock(&pointer.pointee.stream_rec_lock)
    return false
  }

  /// Whether the element after a source pad takes buffers without waiting for its own downstream.
  fileprivate var isQueued: Bool {
    guard let peer, let parent = gst_pad_get_parent_element(peer.pointer) else { return false }
    defer { gst_object_unref(parent) }
    if cgst_is_a(parent, gst_aggregator_get_type()) != 0 { return true }
    guard let factory = gst_element_get_factory(parent) else { return false }
    let name = adopt(gst_object_get_name(UnsafeMutablePointer<GstObject>(factory)))
    return name?.contains("queue") ?? false
  }
}
