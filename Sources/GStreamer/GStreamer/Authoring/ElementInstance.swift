// SPDX-License-Identifier: MPL-2.0

internal import CGStreamer
internal import StereoVideo
import Synchronization

/// The GObject of a Swift element, passed to its `init`.
///
/// GStreamer owns the GObject, and the GObject owns the Swift object. So this is not a reference:
/// the GObject outlives all calls of the Swift object.
public final class ElementInstance: @unchecked Sendable {
  let pointer: UnsafeMutablePointer<GstElement>
  /// The class structure of the C base class, for chaining up.
  let parentClass: UnsafeMutableRawPointer
  /// The debug category with the name of the element's factory.
  let log: DebugCategory
  /// Whether an error has been posted since the element started.
  let refusesData = Atomic(false)
  private let steps = Atomic(0)

  init(
    _ pointer: UnsafeMutablePointer<GstElement>, parentClass: UnsafeMutableRawPointer,
    log: DebugCategory
  ) {
    self.pointer = pointer
    self.parentClass = parentClass
    self.log = log
  }

  /// Number of buffers received, or of steps if the element pulls.
  var stepCount: Int { steps.load(ordering: .relaxed) }

  /// Counts a buffer or a step.
  func countStep() { steps.add(1, ordering: .relaxed) }

  /// The name of the registered GType, which differs if several declarations share one
  /// implementation.
  public var typeName: String {
    let type = pointer.pointee.object.object.g_type_instance.g_class.pointee.g_type
    return g_type_name(type).map { String(cString: $0) } ?? ""
  }
}

/// The Swift object of an element, with functions that may be called in any thread.
public protocol ElementObject {
  /// The element's GObject.
  var instance: ElementInstance { get }
}

extension ElementObject {
  var gstElement: UnsafeMutablePointer<GstElement> { instance.pointer }

  /// The debug category with the name of the element's factory.
  public var log: DebugCategory { instance.log }

  /// The name of the element in its bin.
  public var name: String { adopt(gst_object_get_name(cast(gstElement))) ?? "" }

  /// Whether an error has been posted since the element was started; it then refuses data.
  public var hasFailed: Bool { instance.refusesData.load(ordering: .acquiring) }

  /// Whether the element is in PLAYING and not changing to another state.
  public var isPlaying: Bool {
    var (state, pending) = (GST_STATE_NULL, GST_STATE_NULL)
    gst_element_get_state(gstElement, &state, &pending, 0)
    return state == GST_STATE_PLAYING && pending == GST_STATE_VOID_PENDING
  }

  /// The current running time; nil if the element has no clock.
  public var currentRunningTime: ClockTime? {
    ClockTime(cValue: gst_element_get_current_running_time(gstElement))
  }

  // MARK: Pads

  /// Adds a pad to the element, active if the element is at least in PAUSED.
  public func add(_ pad: Pad) {
    instance.log.info(self, "adding the pad \(pad.name)")
    gst_element_add_pad(gstElement, pad.pointer)
  }

  /// Removes a pad from the element.
  public func remove(_ pad: Pad) {
    instance.log.info(self, "removing the pad \(pad.name)")
    gst_element_remove_pad(gstElement, pad.pointer)
  }

  /// Announces that the element will not add any more sometimes pads.
  public func noMorePads() {
    gst_element_no_more_pads(gstElement)
  }

  /// Marks the element as a sink: bins wait for its ``postEndOfStream()``. Call it from `init`.
  public func becomeSink() {
    let object: UnsafeMutablePointer<GstObject> = cast(gstElement)
    object.pointee.flags |= GST_ELEMENT_FLAG_SINK.rawValue
  }

  // MARK: Threads

  /// Calls `body` in a thread of GStreamer's: for what the streaming thread must not do, such as a
  /// flushing seek. The element exists until then.
  public func callAsync(_ body: @escaping @Sendable () -> Void) {
    let callback = Callback<@Sendable () -> Void>(body)
    gst_element_call_async(
      gstElement,
      { _, data in
        if let data { Callback<@Sendable () -> Void>.from(data).call() }
      }, callback.retained(), releaseCallback)
  }

  // MARK: Tags

  /// Returns a stream's tags merged with those that an application has set through GstTagSetter, in
  /// the mode it has chosen.
  public func mergingSetterTags(with tags: TagList) -> TagList {
    let setter = OpaquePointer(gstElement)
    guard cgst_is_a(gstElement, gst_tag_setter_get_type()) != 0,
      let own = gst_tag_setter_get_tag_list(setter)
    else { return tags }
    let mode = gst_tag_setter_get_tag_merge_mode(setter)
    return TagList(
      adopting: gst_tag_list_merge(own, tags.pointer, mode) ?? gst_tag_list_new_empty())
  }

  /// The chapters that the application has set through `.tocSetter`; empty if there are none.
  public var setterChapters: [Chapter] {
    guard cgst_is_a(gstElement, gst_toc_setter_get_type()) != 0,
      let toc = gst_toc_setter_get_toc(OpaquePointer(gstElement))
    else { return [] }
    defer { gst_mini_object_unref(UnsafeMutablePointer(toc)) }
    return Chapter.chapters(of: toc)
  }

  // MARK: Controlled properties

  /// Updates the properties with control sources to their values at a stream time, in the calling
  /// thread.
  public func followControlSources(at streamTime: ClockTime) {
    gst_object_sync_values(cast(gstElement), streamTime.cValue)
  }

  // MARK: Messages

  /// Posts an error once, and refuses data from then on.
  public func post(_ error: any Error) {
    guard !instance.refusesData.exchange(true, ordering: .acquiringAndReleasing) else { return }
    post(ElementError(error), GST_MESSAGE_ERROR)
  }

  /// Posts a warning about a defect that was worked around.
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

  /// Posts a `missing-plugin` message for fixed caps without a decoder, so that the application can
  /// have one installed.
  public func postMissingDecoder(for caps: Caps) {
    gst_element_post_message(gstElement, gst_missing_decoder_message_new(gstElement, caps.pointer))
  }

  /// Posts an element message with these fields.
  public func postMessage(_ name: String, _ fields: Fields) {
    guard let structure = makeStructure(name, Array(fields)) else { return }
    gst_element_post_message(gstElement, gst_message_new_element(cast(gstElement), structure))
  }

  /// Posts the streams that the element offers.
  public func post(_ collection: StreamCollection) {
    gst_element_post_message(
      gstElement, gst_message_new_stream_collection(cast(gstElement), collection.pointer))
  }

  /// Posts that a segment requested by a seek starts.
  public func postSegmentStart(at position: ClockTime, following cause: Event?) {
    post(
      gst_message_new_segment_start(
        cast(gstElement), GST_FORMAT_TIME, gint64(clamping: position.nanoseconds)),
      following: cause)
  }

  /// Posts that a segment requested by a seek has been played.
  public func postSegmentDone(at position: ClockTime, following cause: Event?) {
    post(
      gst_message_new_segment_done(
        cast(gstElement), GST_FORMAT_TIME, gint64(clamping: position.nanoseconds)),
      following: cause)
  }

  /// Posts EOS after all streams have ended.
  public func postEndOfStream() {
    gst_element_post_message(gstElement, gst_message_new_eos(cast(gstElement)))
  }

  /// Posts that the duration has changed, so that the application queries it again.
  public func postDurationChanged() {
    gst_element_post_message(gstElement, gst_message_new_duration_changed(cast(gstElement)))
  }

  private func post(_ message: UnsafeMutablePointer<GstMessage>?, following cause: Event?) {
    guard let message else { return }
    if let cause { gst_message_set_seqnum(message, cause.sequenceNumber) }
    gst_element_post_message(gstElement, message)
  }

  // MARK: Errors

  /// Calls the element's code for a C function that returns a flow. This is where errors become
  /// messages.
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

  /// Calls `body` and posts any error it throws. Returns the resulting flow.
  public func run(_ body: () throws -> Void) -> FlowReturn { FlowReturn(flow(body)) }

  /// Calls the element's code for a C function that returns whether it succeeded.
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
