public import CGStreamer
import Synchronization

/// The Swift object behind one element: what it is, knows and does.
///
/// GStreamer owns the GObject; the GObject owns this object, from its creation to its finalisation,
/// and is reached from here without a reference. Subclasses override what they need and describe
/// themselves in an `ElementDeclaration`.
open class ElementSubclass: @unchecked Sendable {
  /// The element, not retained: it lives at least as long as this object is called.
  public let pointer: UnsafeMutablePointer<GstElement>
  /// The class structure of the C base class, for chaining up.
  let parentClass: UnsafeMutableRawPointer
  private let refusesData = Atomic(false)

  public required init(_ instance: ElementInstance) throws {
    pointer = instance.element
    parentClass = instance.parentClass
  }

  /// Called before data flows (READY to PAUSED). A thrown error is posted and stops the change.
  open func start() throws {}

  /// Called when data has stopped (PAUSED to READY): forget everything but the settings.
  open func stop() {}

  /// Called when a property has been set, in the thread that sets it.
  open func settingsChanged() {}

  /// Whether an error has been posted since `start`; the element then takes no more data.
  public var hasFailed: Bool { refusesData.load(ordering: .acquiring) }

  public var name: String { adopt(gst_object_get_name(cast(pointer))) ?? "" }

  // MARK: Pads

  /// Adds a pad to the element, active if data flows.
  public func add(_ pad: Pad) {
    gst_element_add_pad(pointer, pad.pointer)
  }

  public func remove(_ pad: Pad) {
    gst_element_remove_pad(pointer, pad.pointer)
  }

  public func noMorePads() {
    gst_element_no_more_pads(pointer)
  }

  // MARK: Tags

  /// A stream's tags with those that an application set through GstTagSetter, merged as it wishes.
  public func mergingSetterTags(with tags: TagList) -> TagList {
    let setter = OpaquePointer(pointer)
    guard cgst_is_a(pointer, gst_tag_setter_get_type()) != 0,
      let own = gst_tag_setter_get_tag_list(setter)
    else { return tags }
    let mode = gst_tag_setter_get_tag_merge_mode(setter)
    return TagList(
      adopting: gst_tag_list_merge(own, tags.pointer, mode) ?? gst_tag_list_new_empty())
  }

  // MARK: Messages

  /// Posts an error once, and refuses data from then on.
  public func post(_ error: any Error) {
    guard !refusesData.exchange(true, ordering: .acquiringAndReleasing) else { return }
    post(ElementError(error), GST_MESSAGE_ERROR)
  }

  /// Posts a warning: something was left out or guessed, and work goes on.
  public func postWarning(_ warning: ElementError) {
    post(warning, GST_MESSAGE_WARNING)
  }

  private func post(_ error: ElementError, _ type: GstMessageType) {
    let (domain, code) = error.code.domainAndCode
    gst_element_message_full(
      pointer, type, domain, code, g_strdup(error.message),
      error.debug.isEmpty ? nil : g_strdup(error.debug), error.file, error.function,
      Int32(clamping: error.line))
  }

  /// Posts an element message with these fields.
  public func postMessage(_ name: String, _ fields: Fields) {
    guard let structure = makeStructure(name, Array(fields)) else { return }
    gst_element_post_message(pointer, gst_message_new_element(cast(pointer), structure))
  }

  /// Tells the application which streams there are.
  public func post(_ collection: StreamCollection) {
    gst_element_post_message(
      pointer, gst_message_new_stream_collection(cast(pointer), collection.pointer))
  }

  /// Tells the application that a segment it asked for begins to play.
  public func postSegmentStart(at position: ClockTime, following cause: Event?) {
    post(
      gst_message_new_segment_start(cast(pointer), GST_FORMAT_TIME, gint64(clamping: position)),
      following: cause)
  }

  /// Tells the application that a segment it asked for has been played.
  public func postSegmentDone(at position: Int64, following cause: Event?) {
    post(
      gst_message_new_segment_done(cast(pointer), GST_FORMAT_TIME, gint64(position)),
      following: cause)
  }

  /// Tells the application to ask for the duration again.
  public func postDurationChanged() {
    gst_element_post_message(pointer, gst_message_new_duration_changed(cast(pointer)))
  }

  private func post(_ message: UnsafeMutablePointer<GstMessage>?, following cause: Event?) {
    guard let message else { return }
    if let cause { gst_message_set_seqnum(message, cause.sequenceNumber) }
    gst_element_post_message(pointer, message)
  }

  // MARK: Trampolines

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

  /// The same for the body of a pad's task. Gives what stops it, `ok` to go on.
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

  func runStart() -> Bool {
    refusesData.store(false, ordering: .releasing)
    return answer {
      try start()
      return true
    } != 0
  }

  /// The Swift object of an element that this layer registered.
  static func of(_ instance: UnsafeMutablePointer<GstObject>?) -> ElementSubclass? {
    guard let instance else { return nil }
    return InstanceSlot.of(UnsafeMutableRawPointer(instance)).load()
  }
}

/// What a Swift element is born with.
public struct ElementInstance {
  let element: UnsafeMutablePointer<GstElement>
  let parentClass: UnsafeMutableRawPointer
}

/// The place in a GObject's memory that holds its Swift object.
///
/// It has the same offset in every element that this layer registers, behind the largest of the
/// base classes, so that finding the Swift object is one pointer read whatever the base class.
struct InstanceSlot {
  static let offset: Int = {
    let sizes = BaseClass.allCases.map { Int($0.query.instance_size) }
    return ((sizes.max() ?? 0) + 15) & ~15
  }()
  static var instanceSize: Int { offset + MemoryLayout<UnsafeRawPointer?>.size }

  private let place: UnsafeMutablePointer<UnsafeRawPointer?>

  static func of(_ instance: UnsafeMutableRawPointer) -> InstanceSlot {
    InstanceSlot(
      place: (instance + offset).assumingMemoryBound(to: UnsafeRawPointer?.self))
  }

  func load() -> ElementSubclass? {
    place.pointee.map { Unmanaged<ElementSubclass>.fromOpaque($0).takeUnretainedValue() }
  }

  func store(_ object: ElementSubclass) {
    place.pointee = UnsafeRawPointer(Unmanaged.passRetained(object).toOpaque())
  }

  func release() {
    guard let object = place.pointee else { return }
    place.pointee = nil
    Unmanaged<ElementSubclass>.fromOpaque(object).release()
  }
}

extension UnsafeMutablePointer where Pointee == GstElement {
  /// The class structure of the element's type.
  var elementClass: UnsafeMutablePointer<GstElementClass> {
    UnsafeMutableRawPointer(pointee.object.object.g_type_instance.g_class)
      .assumingMemoryBound(to: GstElementClass.self)
  }
}
