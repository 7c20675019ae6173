// SPDX-License-Identifier: MPL-2.0

internal import CGStreamer
import Synchronization

/// The Swift object of a GObject: it connects GStreamer's C functions with an element's
/// implementation.
///
/// GStreamer owns the GObject; the GObject owns this object, from its creation to its finalization,
/// and is referred to from here without a reference. C functions cannot be generic, so they call
/// methods that a generic subclass for each implementation overrides.
class ElementBox: ElementObject, @unchecked Sendable {
  let instance: ElementInstance
  let core: any AnyElementCore
  private let isStarted = Atomic(false)
  let preroll = PrerollWatch()

  init(_ instance: ElementInstance, _ core: any AnyElementCore) {
    self.instance = instance
    self.core = core
  }

  /// The element, not retained: it outlives all calls of this object.
  var pointer: UnsafeMutablePointer<GstElement> { instance.pointer }
  /// The class structure of the C base class, for chaining up.
  var parentClass: UnsafeMutableRawPointer { instance.parentClass }

  // MARK: Trampolines

  /// Starts the element; an element that has already started is stopped first.
  func runStart() -> Bool {
    runStop()
    instance.refusesData.store(false, ordering: .releasing)
    return answer {
      try core.start()
      isStarted.store(true, ordering: .releasing)
      return true
    } != 0
  }

  /// Stops the element if it was started.
  func runStop() {
    if isStarted.exchange(false, ordering: .acquiringAndReleasing) { core.stop() }
  }

  /// Returns the Swift object of an element that this library registered.
  static func of(_ instance: UnsafeMutablePointer<GstObject>?) -> ElementBox? {
    guard let instance else { return nil }
    return InstanceSlot.of(UnsafeMutableRawPointer(instance)).load()
  }

  // MARK: State changes

  /// Called before another thread waits for the streaming thread.
  func unlock() {}

  /// - Parameter startsHere: Whether the C base class has no start function of its own.
  private func change(
    _ transition: GstStateChange, startsHere: Bool
  ) -> GstStateChangeReturn {
    if startsHere, transition == GST_STATE_CHANGE_READY_TO_PAUSED, !runStart() {
      return GST_STATE_CHANGE_FAILURE
    }
    if transition == GST_STATE_CHANGE_PAUSED_TO_READY {
      preroll.stop()
      unlock()
    }
    let parent = parentClass.assumingMemoryBound(to: GstElementClass.self)
    let result = parent.pointee.change_state(pointer, transition)
    if transition == GST_STATE_CHANGE_READY_TO_PAUSED, result != GST_STATE_CHANGE_FAILURE {
      preroll.start(self)
    }
    switch transition {
    case GST_STATE_CHANGE_READY_TO_PAUSED where result == GST_STATE_CHANGE_FAILURE:
      // Pads may be active, and a thread may be inside downstream elements until these stop. In
      // that case the change to NULL, which deactivates the pads, does the rest.
      core.whileIdle { runStop() }
    case GST_STATE_CHANGE_PAUSED_TO_READY, GST_STATE_CHANGE_READY_TO_NULL: runStop()
    default: break
    }
    return result
  }

  /// Installs the function for state changes, the common entry point of starts and stops.
  static func fillChangeState(
    _ klass: UnsafeMutablePointer<GstElementClass>, startsHere: Bool
  ) {
    if startsHere {
      klass.pointee.change_state = { pointer, transition in
        guard let pointer else { return GST_STATE_CHANGE_FAILURE }
        guard let element = ElementBox.of(cast(pointer)) else {
          return UnmadeElement.change(pointer, transition)
        }
        return element.change(transition, startsHere: true)
      }
    } else {
      klass.pointee.change_state = { pointer, transition in
        guard let pointer else { return GST_STATE_CHANGE_FAILURE }
        guard let element = ElementBox.of(cast(pointer)) else {
          return UnmadeElement.change(pointer, transition)
        }
        return element.change(transition, startsHere: false)
      }
    }
  }
}

/// An element whose Swift object could not be made, since `init` threw: it leaves NULL for no other
/// state, and says why.
enum UnmadeElement {
  private final class Reason {
    let error: ElementError

    init(_ error: ElementError) { self.error = error }
  }

  private static let quark = g_quark_from_string("gst-spatial-unmade-element")
  private static let log = DebugCategory("swiftelement", "Elements written in Swift")

  /// Logs the error of `init`, and keeps it for the first change of state: there is no bus yet.
  static func note(_ error: ElementError, of element: UnsafeMutablePointer<GstElement>) {
    let type = String(cString: g_type_name(cgst_type_of(element)))
    log.error(nil, "an element of type \(type) cannot be made: \(error.message) \(error.debug)")
    g_object_set_qdata_full(
      cast(element), quark, Unmanaged.passRetained(Reason(error)).toOpaque(), releaseCallback)
  }

  /// Refuses to leave NULL, with the error that `init` threw as a message. The way to NULL is open,
  /// as
  /// for any other element: its bin takes it there after a failed start, and at the end.
  static func change(
    _ element: UnsafeMutablePointer<GstElement>, _ transition: GstStateChange
  ) -> GstStateChangeReturn {
    guard transition == GST_STATE_CHANGE_NULL_TO_READY else { return GST_STATE_CHANGE_SUCCESS }
    guard let data = g_object_get_qdata(cast(element), quark) else {
      return GST_STATE_CHANGE_FAILURE
    }
    let error = Unmanaged<Reason>.fromOpaque(data).takeUnretainedValue().error
    let (domain, code) = error.code.domainAndCode
    gst_element_message_full(
      element, GST_MESSAGE_ERROR, domain, code, g_strdup(error.message),
      error.debug.isEmpty ? nil : g_strdup(error.debug), error.file, error.function,
      Int32(clamping: error.line))
    return GST_STATE_CHANGE_FAILURE
  }
}

/// The C classes that a Swift element can derive from.
enum BaseClass: CaseIterable, Sendable {
  /// `GstElement`: with its own pads.
  case element
  /// `GstBin`: contains elements.
  case bin
  /// `GstBaseTransform`: one sink pad, one source pad, buffer by buffer.
  case baseTransform
  /// `GstPushSrc`: produces data.
  case pushSource
  /// `GstAggregator`: several sink pads, one source pad.
  case aggregator

  var type: GType {
    switch self {
    case .element: gst_element_get_type()
    case .bin: gst_bin_get_type()
    case .baseTransform: gst_base_transform_get_type()
    case .pushSource: gst_push_src_get_type()
    case .aggregator: gst_aggregator_get_type()
    }
  }

  var query: GTypeQuery {
    var query = GTypeQuery()
    g_type_query(type, &query)
    return query
  }

  /// Returns the type that the pads of a template must have, if the base class requires one.
  func padType(_ template: PadTemplate) -> GType? {
    self == .aggregator ? gst_aggregator_pad_get_type() : nil
  }
}

/// The location in a GObject's memory that holds its Swift object.
///
/// It is after the largest base class, at the same offset in all elements that this library
/// registers, so that the Swift object is found with one pointer read for any base class.
struct InstanceSlot {
  private static let offset = aligned(BaseClass.allCases.map { Int($0.query.instance_size) })
  static var instanceSize: Int { offset + MemoryLayout<UnsafeRawPointer?>.size }

  private let place: UnsafeMutablePointer<UnsafeRawPointer?>

  static func of(_ instance: UnsafeMutableRawPointer) -> InstanceSlot {
    InstanceSlot(
      place: (instance + offset).assumingMemoryBound(to: UnsafeRawPointer?.self))
  }

  func load() -> ElementBox? {
    place.pointee.map { Unmanaged<ElementBox>.fromOpaque($0).takeUnretainedValue() }
  }

  func store(_ object: ElementBox) {
    place.pointee = UnsafeRawPointer(Unmanaged.passRetained(object).toOpaque())
  }

  func release() {
    guard let object = place.pointee else { return }
    place.pointee = nil
    Unmanaged<ElementBox>.fromOpaque(object).release()
  }
}

/// The location in a class structure that holds its `ElementClass`. It is written during class
/// initialization, before there are any instances.
struct ClassSlot {
  private static let offset = aligned(BaseClass.allCases.map { Int($0.query.class_size) })
  static var classSize: Int { offset + MemoryLayout<UnsafeRawPointer?>.size }

  private let place: UnsafeMutablePointer<UnsafeRawPointer?>

  static func of(_ klass: UnsafeMutableRawPointer) -> ClassSlot {
    ClassSlot(place: (klass + offset).assumingMemoryBound(to: UnsafeRawPointer?.self))
  }

  func load() -> ElementClass? {
    place.pointee.map { Unmanaged<ElementClass>.fromOpaque($0).takeUnretainedValue() }
  }

  /// - Parameter data: A retained `ElementClass`, which is never released.
  func store(_ data: UnsafeRawPointer) { place.pointee = data }
}

/// Returns the first aligned offset after the largest of these sizes.
private func aligned(_ sizes: [Int]) -> Int { ((sizes.max() ?? 0) + 15) & ~15 }

extension UnsafeMutablePointer where Pointee == GstElement {
  /// The class structure of the element's type.
  var elementClass: UnsafeMutablePointer<GstElementClass> {
    UnsafeMutableRawPointer(pointee.object.object.g_type_instance.g_class)
      .assumingMemoryBound(to: GstElementClass.self)
  }
}
