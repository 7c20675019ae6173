// SPDX-License-Identifier: MPL-2.0

internal import CGStreamer
import Synchronization

/// What waits at one sink pad of an aggregator, taken in by a chain function of its own: many samples at a
/// time change from the thread that brings them to the one that takes them, not each.
///
/// GstAggregator, which decides by its own queue when all pads have something, has one buffer there for a
/// batch of samples, for exactly as long as the batch has any. A batch grows while it is there; a
/// serialized event ends it, so that the event stays in its place.
final class SampleQueue: @unchecked Sendable {
  /// So many bytes wait at most, or samples, however short they say that they are.
  private static let maximumSize = 64 << 20
  private static let maximumCount = 4096

  /// Of all pads of the element.
  let monitor: SampleMonitor
  private let chain: GstPadChainFunction
  private let activateMode: GstPadActivateModeFunction
  /// Changes where what waits is discarded.
  let epoch = Atomic(0)
  // While the monitor is locked.
  /// How much waits at most, in nanoseconds; 0 to leave all to GstAggregator.
  private var duration: ClockTime = 0
  /// The batch that further samples go to.
  private var open: SampleBatch?
  /// What whoever brings data is told.
  private var flow = GST_FLOW_OK

  private init(
    _ chain: @escaping GstPadChainFunction, _ activateMode: @escaping GstPadActivateModeFunction,
    _ monitor: SampleMonitor
  ) {
    self.chain = chain
    self.activateMode = activateMode
    self.monitor = monitor
  }

  /// Puts a queue in front of a new pad of an aggregator.
  static func install(at pad: UnsafeMutablePointer<GstPad>, _ monitor: SampleMonitor) {
    guard let chain = pad.pointee.chainfunc, let activateMode = pad.pointee.activatemodefunc else {
      return
    }
    let queue = SampleQueue(chain, activateMode, monitor)
    gst_pad_set_chain_function_full(
      pad,
      { pad, parent, buffer in
        guard let pad, let buffer, let queue = SampleQueue.of(pad) else { return GST_FLOW_ERROR }
        return queue.receive(buffer, pad, parent)
      }, Unmanaged.passRetained(queue).toOpaque(), releaseCallback)
    gst_pad_set_activatemode_function_full(
      pad,
      { pad, parent, mode, active in
        guard let pad, let queue = SampleQueue.of(pad) else { return 0 }
        queue.discard(active != 0 ? GST_FLOW_OK : GST_FLOW_FLUSHING)
        return queue.activateMode(pad, parent, mode, active)
      }, nil, nil)
  }

  /// The queue of a pad, which owns it.
  static func of(_ pad: UnsafeMutablePointer<GstPad>) -> SampleQueue? {
    pad.pointee.chaindata.map { Unmanaged<SampleQueue>.fromOpaque($0).takeUnretainedValue() }
  }

  /// Takes samples in from now on, of this many nanoseconds at most; 0 to leave all to GstAggregator.
  func setDuration(_ duration: ClockTime) {
    monitor.locked { self.duration = duration }
  }

  private func receive(
    _ buffer: UnsafeMutablePointer<GstBuffer>, _ pad: UnsafeMutablePointer<GstPad>,
    _ parent: UnsafeMutablePointer<GstObject>?
  ) -> GstFlowReturn {
    let (flow, batch) = monitor.locked { add(buffer) }
    guard flow == GST_FLOW_OK else {
      gst_buffer_unref(buffer)
      return flow
    }
    guard let batch else { return GST_FLOW_OK }
    let taken = chain(pad, parent, batch)
    // What GstAggregator does not take, nobody takes out of the batch.
    if taken != GST_FLOW_OK { monitor.locked { open = nil } }
    return taken
  }

  /// Adds a sample to the batch that is open, as soon as there is room. Gives what GstAggregator is to
  /// get, if anything.
  private func add(
    _ buffer: UnsafeMutablePointer<GstBuffer>
  ) -> (GstFlowReturn, UnsafeMutablePointer<GstBuffer>?) {
    guard duration > 0 else { return (GST_FLOW_OK, buffer) }
    while flow == GST_FLOW_OK, let open, isFull(open) { monitor.waitForRoom() }
    guard flow == GST_FLOW_OK else { return (flow, nil) }
    guard let open else {
      let batch = SampleBatch(of: self)
      batch.append(buffer)
      open = batch
      return (GST_FLOW_OK, batch.makeCarrier())
    }
    open.append(buffer)
    if open.isAbove(
      duration: duration / 2, size: Self.maximumSize / 2, count: Self.maximumCount / 2)
    {
      monitor.hurry()
    }
    return (GST_FLOW_OK, nil)
  }

  private func isFull(_ batch: SampleBatch) -> Bool {
    batch.isAbove(duration: duration, size: Self.maximumSize, count: Self.maximumCount)
  }

  /// An event comes to the pad.
  func passes(_ event: UnsafeMutablePointer<GstEvent>) {
    switch event.pointee.type {
    case GST_EVENT_FLUSH_START: discard(GST_FLOW_FLUSHING)
    case GST_EVENT_FLUSH_STOP: discard(GST_FLOW_OK)
    case let type
    where gst_event_type_get_flags(type).rawValue & GST_EVENT_TYPE_SERIALIZED.rawValue != 0:
      // It ends the batch, behind which it comes.
      monitor.locked {
        guard duration > 0 else { return }
        open = nil
        monitor.hurry()
      }
    default: break
    }
  }

  /// Ends a batch that has nothing left.
  func close(_ batch: SampleBatch) {
    if open === batch { open = nil }
  }

  /// Discards what waits, just before GstAggregator does so: for a flush, at an error, and where the pad
  /// is switched off or on. Whoever brings more is told this.
  func discard(_ flow: GstFlowReturn) {
    monitor.locked {
      epoch.wrappingAdd(1, ordering: .acquiringAndReleasing)
      open = nil
      self.flow = flow
      monitor.hurry()
      monitor.noteRoom()
    }
  }
}
