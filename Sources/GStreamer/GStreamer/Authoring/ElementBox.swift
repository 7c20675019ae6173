// SPDX-License-Identifier: MPL-2.0

internal import CGStreamer
import Synchronization

/// What a GObject holds: an element's Swift object, between GStreamer's C functions and it.
///
/// GStreamer owns the GObject; the GObject owns this object, from its creation to its finalisation,
/// and is reached from here without a reference. C functions cannot be generic, so they call methods
/// that a generic subclass for each implementation overrides.
class ElementBox: ElementObject, @unchecked Sendable {
  let instance: ElementInstance
  let core: any AnyElementCore
  private let isStarted = Atomic(false)

  init(_ instance: ElementInstance, _ core: any AnyElementCore) {
    self.instance = instance
    self.core = core
  }

  /// The element, not retained: it lives at least as long as this object is called.
  var pointer: UnsafeMutablePointer<GstElement> { instance.pointer }
  /// The class structure of the C base class, for chaining up.
  var parentClass: UnsafeMutableRawPointer { instance.parentClass }

  // MARK: Trampolines

  /// Begins, or begins anew.
  func runStart() -> Bool {
    runStop()
    instance.refusesData.store(false, ordering: .releasing)
    return answer {
      try core.start()
      isStarted.store(true, ordering: .releasing)
      return true
    } != 0
  }

  /// Ends what `runStart` began, once.
  func runStop() {
    if isStarted.exchange(false, ordering: .acquiringAndReleasing) { core.stop() }
  }

  /// The Swift object of an element that this layer registered.
  static func of(_ instance: UnsafeMutablePointer<GstObject>?) -> ElementBox? {
    guard let instance else { return nil }
    return InstanceSlot.of(UnsafeMutableRawPointer(instance)).load()
  }

  // MARK: Changes of state

  /// Somebody is about to wait for the streaming thread.
  func unlock() {}

  /// - Parameter startsHere: whether the C base class has no function of its own for the start.
  private func change(
    _ transition: GstStateChange, startsHere: Bool
  ) -> GstStateChangeReturn {
    if startsHere, transition == GST_STATE_CHANGE_READY_TO_PAUSED, !runStart() {
      return GST_STATE_CHANGE_FAILURE
    }
    if transition == GST_STATE_CHANGE_PAUSED_TO_READY { unlock() }
    let parent = parentClass.assumingMemoryBound(to: GstElementClass.self)
    let result = parent.pointee.change_state(pointer, transition)
    switch transition {
    case GST_STATE_CHANGE_READY_TO_PAUSED where result == GST_STATE_CHANGE_FAILURE:
      // Pads may be active, and a thread may sit in downstream elements until these stop. Then the
      // way down to NULL, which deactivates the pads, does the rest.
      core.whileIdle { runStop() }
    case GST_STATE_CHANGE_PAUSED_TO_READY, GST_STATE_CHANGE_READY_TO_NULL: runStop()
    default: break
    }
    return result
  }

  /// Makes the one trampoline of starts and stops the class's function for changes of state.
  static func fillChangeState(
    _ klass: UnsafeMutablePointer<GstElementClass>, startsHere: Bool
  ) {
    if startsHere {
      klass.pointee.change_state = { pointer, transition in
        guard let pointer, let element = ElementBox.of(cast(pointer)) else {
          return GST_STATE_CHANGE_FAILURE
        }
        return element.change(transition, startsHere: true)
      }
    } else {
      klass.pointee.change_state = { pointer, transition in
        guard let pointer, let element = ElementBox.of(cast(pointer)) else {
          return GST_STATE_CHANGE_FAILURE
        }
        return element.change(transition, startsHere: false)
      }
    }
  }
}
