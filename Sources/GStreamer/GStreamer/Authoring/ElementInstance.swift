// SPDX-License-Identifier: MPL-2.0

internal import CGStreamer
import Synchronization

/// An element as its Swift object knows it: what that is born with, and keeps.
///
/// GStreamer owns the GObject, and the GObject owns the Swift object. So the GObject is not retained
/// from here: it lives for as long as the Swift object is called.
public final class ElementInstance: @unchecked Sendable {
  let pointer: UnsafeMutablePointer<GstElement>
  /// The class structure of the C base class, for chaining up.
  let parentClass: UnsafeMutableRawPointer
  /// Whether an error has been posted since the element started.
  let refusesData = Atomic(false)

  init(_ pointer: UnsafeMutablePointer<GstElement>, parentClass: UnsafeMutableRawPointer) {
    self.pointer = pointer
    self.parentClass = parentClass
  }

  /// The GType that was registered, where several declarations share one implementation.
  public var typeName: String {
    let type = pointer.pointee.object.object.g_type_instance.g_class.pointee.g_type
    return g_type_name(type).map { String(cString: $0) } ?? ""
  }
}

/// A Swift object behind an element: what all of them can do, from any thread.
public protocol ElementObject {
  var instance: ElementInstance { get }
}

extension ElementObject {
  var gstElement: UnsafeMutablePointer<GstElement> { instance.pointer }

  public var name: String { adopt(gst_object_get_name(cast(gstElement))) ?? "" }

  /// Whether an error has been posted since the element started; it then takes no more data.
  public var hasFailed: Bool { instance.refusesData.load(ordering: .acquiring) }

  /// Whether the element is in PLAYING, and on no way out of it.
  public var isPlaying: Bool {
    var (state, pending) = (GST_STATE_NULL, GST_STATE_NULL)
    gst_element_get_state(gstElement, &state, &pending, 0)
    return state == GST_STATE_PLAYING && pending == GST_STATE_VOID_PENDING
  }

  /// The running time that the clock shows now; nil for an element without a clock.
  public var currentRunningTime: ClockTime? {
    ClockTime(cValue: gst_element_get_current_running_time(gstElement))
  }

  // MARK: Pads

  /// Adds a pad to the element, active if data flows.
  public func add(_ pad: Pad) {
    gst_element_add_pad(gstElement, pad.pointer)
  }

  public func remove(_ pad: Pad) {
    gst_element_remove_pad(gstElement, pad.pointer)
  }

  public func noMorePads() {
    gst_element_no_more_pads(gstElement)
  }

  /// Marks the element as one where streams end: bins wait for its ``postEndOfStream()``. Call it
  /// when the element is made.
  public func becomeSink() {
    let object: UnsafeMutablePointer<GstObject> = cast(gstElement)
    object.pointee.flags |= GST_ELEMENT_FLAG_SINK.rawValue
  }

  // MARK: Tags

  /// A stream's tags with those that an application set through GstTagSetter, merged as it wishes.
  public func mergingSetterTags(with tags: TagList) -> TagList {
    let setter = OpaquePointer(gstElement)
    guard cgst_is_a(gstElement, gst_tag_setter_get_type()) != 0,
      let own = gst_tag_setter_get_tag_list(setter)
    else { return tags }
    let mode = gst_tag_setter_get_tag_merge_mode(setter)
    return TagList(
      adopting: gst_tag_list_merge(own, tags.pointer, mode) ?? gst_tag_list_new_empty())
  }

  /// The chapters that the application has set on an element with the interface `.tocSetter`.
  public var setterChapters: [Chapter] {
    guard cgst_is_a(gstElement, gst_toc_setter_get_type()) != 0,
      let toc = gst_toc_setter_get_toc(OpaquePointer(gstElement))
    else { return [] }
    defer { gst_mini_object_unref(UnsafeMutablePointer(toc)) }
    return Chapter.chapters(of: toc)
  }

  // MARK: Control

  /// Sets the properties that follow control sources to what these say for a stream time, in the
  /// calling thread.
  public func followControlSources(at streamTime: ClockTime) {
    gst_object_sync_values(cast(gstElement), GstClockTime(streamTime))
  }

  // MARK: Messages

  /// Posts an error once, and refuses data from then on.
  public func post(_ error: any Error) {
    guard !instance.refusesData.exchange(true, ordering: .acquiringAndReleasing) else { return }
    post(ElementError(error), GST_MESSAGE_ERROR)
  }

  /// Posts a warning: something was left out or guessed, and work goes on.
  public func postWarning(_ warning: ElementError) {
    post(warning, GST_MESSAGE_WARNING)
  }

  private func post(_ error: ElementError, _ type: GstMessageType) {
    let (domain, code) = error.code.domainAndCode
    gst_element_message_full(
      gstElement, type, domain, code, g_strdup(error.message),
      error.debug.isEmpty ? nil : g_strdup(error.debug), error.file, error.function,
      Int32(clamping: error.line))
  }

  /// Tells the application that there is no decoder for fixed caps, so that it can have one
  /// installed (`missing-plugin`).
  public func postMissingDecoder(for caps: Caps) {
    gst_element_post_message(gstElement, gst_missing_decoder_message_new(gstElement, caps.pointer))
  }

  /// Posts an element message with these fields.
  public func postMessage(_ name: String, _ fields: Fields) {
    guard let structure = makeStructure(name, Array(fields)) else { return }
    gst_element_post_message(gstElement, gst_message_new_element(cast(gstElement), structure))
  }

  /// Tells the application which streams there are.
  public func post(_ collection: StreamCollection) {
    gst_element_post_message(
      gstElement, gst_message_new_stream_collection(cast(gstElement), collection.pointer))
  }

  /// Tells the application that a segment it asked for begins to play.
  public func postSegmentStart(at position: ClockTime, following cause: Event?) {
    post(
      gst_message_new_segment_start(cast(gstElement), GST_FORMAT_TIME, gint64(clamping: position)),
      following: cause)
  }

  /// Tells the application that a segment it asked for has been played.
  public func postSegmentDone(at position: Int64, following cause: Event?) {
    post(
      gst_message_new_segment_done(cast(gstElement), GST_FORMAT_TIME, gint64(position)),
      following: cause)
  }

  /// Tells the bin that all streams have ended here.
  public func postEndOfStream() {
    gst_element_post_message(gstElement, gst_message_new_eos(cast(gstElement)))
  }

  /// Tells the application to ask for the duration again.
  public func postDurationChanged() {
    gst_element_post_message(gstElement, gst_message_new_duration_changed(cast(gstElement)))
  }

  private func post(_ message: UnsafeMutablePointer<GstMessage>?, following cause: Event?) {
    guard let message else { return }
    if let cause { gst_message_set_seqnum(message, cause.sequenceNumber) }
    gst_element_post_message(gstElement, message)
  }

  // MARK: Errors

  /// Runs the element's code for a C function that returns a flow: the one place where errors
  /// become messages.
  func flow(_ body: () throws -> Void) -> GstFlowReturn {
    if hasFailed { return GST_FLOW_ERROR }
    do {
      try body()
      return GST_FLOW_OK
    } catch let flow as FlowReturn {
      return flow.cValue
    } catch {
      post(error)
      return GST_FLOW_ERROR
    }
  }

  /// Runs `body`, posting an error that it throws. Gives how the stream goes on.
  public func run(_ body: () throws -> Void) -> FlowReturn { FlowReturn(flow(body)) }

  /// The same for a C function that returns whether something was done.
  func answer(_ body: () throws -> Bool) -> gboolean {
    do {
      return try body() ? 1 : 0
    } catch is FlowReturn {
      return 0
    } catch {
      post(error)
      return 0
    }
  }
}
