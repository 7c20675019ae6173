// SPDX-License-Identifier: MPL-2.0

internal import CGStreamer
internal import StereoVideo
import Synchronization

/// The queue of one sink pad of an aggregator, filled by a chain function of its own: samples are
/// passed between the two threads in batches instead of one by one.
///
/// GstAggregator decides by its own queue when all pads have data. There, one buffer stands for a
/// batch as long as the batch has any samples. A batch grows while it is queued; a serialized event
/// ends it and so keeps its position.
final class SampleQueue: @unchecked Sendable {
  /// Limits in bytes and samples, which apply whatever durations the samples have.
  private static let maximumSize = 64 << 20
  private static let maximumCount = 4096

  /// Shared by all pads of the element.
  fileprivate let monitor: SampleMonitor
  private let chain: GstPadChainFunction
  private let activateMode: GstPadActivateModeFunction
  /// Incremented when the queued samples are discarded.
  fileprivate let epoch = Atomic(0)
  // Accessed with the monitor locked.
  /// Maximum duration of the queue; 0 to leave queueing to GstAggregator.
  private var duration: ClockTime = 0
  /// The batch that further samples are added to.
  private var open: SampleBatch?
  /// Returned to upstream.
  private var flow = GST_FLOW_OK

  private init(
    _ chain: @escaping GstPadChainFunction, _ activateMode: @escaping GstPadActivateModeFunction,
    _ monitor: SampleMonitor
  ) {
    self.chain = chain
    self.activateMode = activateMode
    self.monitor = monitor
  }

  /// Installs a queue on a new pad of an aggregator.
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

  /// Returns the queue of a pad, which owns it.
  static func of(_ pad: UnsafeMutablePointer<GstPad>) -> SampleQueue? {
    pad.pointee.chaindata.map { Unmanaged<SampleQueue>.fromOpaque($0).takeUnretainedValue() }
  }

  /// Queues samples from now on, up to this duration; 0 leaves queueing to GstAggregator.
  func setDuration(_ duration: ClockTime) {
    monitor.locked { _ in self.duration = duration }
  }

  private func receive(
    _ buffer: UnsafeMutablePointer<GstBuffer>, _ pad: UnsafeMutablePointer<GstPad>,
    _ parent: UnsafeMutablePointer<GstObject>?
  ) -> GstFlowReturn {
    let (flow, batch) = monitor.locked(whenNot: { isFull }, { add(buffer, &$0) })
    guard flow == GST_FLOW_OK else {
      gst_buffer_unref(buffer)
      return flow
    }
    guard let batch else { return GST_FLOW_OK }
    let taken = chain(pad, parent, batch)
    // If GstAggregator has refused the batch, its samples are never taken.
    if taken != GST_FLOW_OK { monitor.locked { _ in open = nil } }
    return taken
  }

  /// Adds a sample to the open batch, after waiting for room. Returns the buffer that GstAggregator
  /// must get, if any.
  private func add(
    _ buffer: UnsafeMutablePointer<GstBuffer>, _ state: inout SampleMonitor.State
  ) -> (GstFlowReturn, UnsafeMutablePointer<GstBuffer>?) {
    guard duration > 0 else { return (GST_FLOW_OK, buffer) }
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
      monitor.setUrgent(&state)
    }
    return (GST_FLOW_OK, nil)
  }

  private var isFull: Bool {
    guard duration > 0, flow == GST_FLOW_OK, let open else { return false }
    return open.isAbove(duration: duration, size: Self.maximumSize, count: Self.maximumCount)
  }

  /// Handles an event that arrives at the pad.
  func passes(_ event: UnsafeMutablePointer<GstEvent>) {
    switch event.pointee.type {
    case GST_EVENT_FLUSH_START: discard(GST_FLOW_FLUSHING)
    case GST_EVENT_FLUSH_STOP: discard(GST_FLOW_OK)
    case let type
    where gst_event_type_get_flags(type).rawValue & GST_EVENT_TYPE_SERIALIZED.rawValue != 0:
      // The event follows the samples of this batch, so the batch ends.
      monitor.locked { state in
        guard duration > 0 else { return }
        open = nil
        monitor.setUrgent(&state)
      }
    default: break
    }
  }

  /// Closes a batch that has no samples left.
  func close(_ batch: SampleBatch) {
    if open === batch { open = nil }
  }

  /// Discards the queued samples just before GstAggregator does so: for a flush, after an error,
  /// and when the pad is activated or deactivated. `flow` is returned to upstream from now on.
  func discard(_ flow: GstFlowReturn) {
    monitor.locked { state in
      epoch.wrappingAdd(1, ordering: .acquiringAndReleasing)
      open = nil
      self.flow = flow
      monitor.setUrgent(&state)
      monitor.signalRoom(&state)
    }
  }
}

/// Queued samples between two serialized events.
///
/// One thread adds them, another one takes them.
final class SampleBatch: @unchecked Sendable {
  private static let quark = g_quark_from_string("gst-spatial-sample-batch")

  private unowned let queue: SampleQueue
  /// Value of the queue's epoch when the batch was started.
  private let epoch: Int
  // Accessed with the monitor locked.
  private var waiting: [UnsafeMutablePointer<GstBuffer>] = []
  private var size = 0
  private var start: ClockTime?
  private var end: ClockTime?
  // Accessed by the thread that takes samples.
  private var taken: [UnsafeMutablePointer<GstBuffer>] = []
  private var next = 0
  private var head: Buffer?
  private var isTaken = false

  init(of queue: SampleQueue) {
    self.queue = queue
    epoch = queue.epoch.load(ordering: .acquiring)
  }

  /// Whether the queue has been discarded since the batch was started.
  private var isDiscarded: Bool { queue.epoch.load(ordering: .acquiring) != epoch }

  /// Whether there are samples to take.
  var hasSamples: Bool { !isTaken && !isDiscarded }

  deinit {
    for sample in taken[next...] { gst_buffer_unref(sample) }
    for sample in waiting { gst_buffer_unref(sample) }
  }

  // MARK: The thread that adds samples, with the monitor locked

  func append(_ sample: UnsafeMutablePointer<GstBuffer>) {
    let (dts, pts) = (sample.pointee.dts, sample.pointee.pts)
    if let time = ClockTime(cValue: dts) ?? ClockTime(cValue: pts) {
      start = min(start ?? time, time)
      end = max(end ?? time, time)
    }
    size += Int(clamping: gst_buffer_get_size(sample))
    waiting.append(sample)
  }

  /// Whether the queued samples reach any of these limits.
  func isAbove(duration: ClockTime, size: Int, count: Int) -> Bool {
    self.size >= size || waiting.count >= count || (end ?? 0) - (start ?? 0) >= duration
  }

  /// Creates the buffer that represents the batch in GstAggregator's queue.
  fileprivate func makeCarrier() -> UnsafeMutablePointer<GstBuffer>? {
    guard let carrier = gst_buffer_new() else { return nil }
    carrier.pointee.dts = start.cValue
    carrier.pointee.pts = start.cValue
    gst_mini_object_set_qdata(
      cast(carrier), Self.quark, Unmanaged.passRetained(self).toOpaque(), releaseCallback)
    return carrier
  }

  // MARK: The thread that takes samples

  /// Returns the batch that a buffer of GstAggregator's queue represents; nil if it is a sample
  /// itself.
  static func of(_ carrier: UnsafeMutablePointer<GstBuffer>) -> SampleBatch? {
    gst_mini_object_get_qdata(cast(carrier), quark).map {
      Unmanaged<SampleBatch>.fromOpaque($0).takeUnretainedValue()
    }
  }

  /// Returns the next sample without removing it; nil if everything has been discarded.
  func peek() -> Buffer? {
    guard !isDiscarded else { return nil }
    if let head { return head }
    if next == taken.count { queue.monitor.locked { _ = takeWaiting(&$0) } }
    guard next < taken.count else { return nil }
    defer { next += 1 }
    head = Buffer(adopting: taken[next])
    return head
  }

  /// Removes and returns the next sample; with the last one, removes the batch from GstAggregator's
  /// queue.
  func pop(from pad: UnsafeMutablePointer<GstAggregatorPad>) -> Buffer? {
    guard let sample = peek() else { return nil }
    head = nil
    guard next == taken.count else { return sample }
    let carrier = queue.monitor.locked { state -> UnsafeMutablePointer<GstBuffer>? in
      guard !takeWaiting(&state) else { return nil }
      isTaken = true
      queue.close(self)
      // If the samples were discarded, GstAggregator drops its buffer itself.
      return isDiscarded ? nil : gst_aggregator_pad_pop_buffer(pad)
    }
    if let carrier { gst_buffer_unref(carrier) }
    return sample
  }

  /// Takes over the samples that have arrived in the meantime. Returns false if there are none.
  private func takeWaiting(_ state: inout SampleMonitor.State) -> Bool {
    guard !waiting.isEmpty else { return false }
    taken.removeAll(keepingCapacity: true)
    swap(&taken, &waiting)
    next = 0
    size = 0
    start = nil
    end = nil
    queue.monitor.signalRoom(&state)
    return true
  }
}

/// The lock of the samples queued at an aggregator's sink pads, with its two conditions: enough
/// samples to take, and room for more.
final class SampleMonitor: Sendable {
  struct State {
    /// Whether the queued samples must be taken at once.
    fileprivate var isUrgent = false
    fileprivate var isWaitingForSamples = false
    fileprivate var waitingForRoom = 0
  }

  /// Longest wait for further samples before the queued ones are taken.
  private static let patience = 2 * ClockTime.millisecond

  private let monitor = Monitor(State())

  fileprivate func locked<Result>(_ body: (inout State) -> Result) -> Result {
    var result: Result?
    monitor.withLock { result = body(&$0) }
    // `body` has run exactly once.
    return result.unsafelyUnwrapped
  }

  /// Waits a moment for further samples, unless there are enough.
  func waitForSamples() {
    let isUrgent: Void? = monitor.wait(atMost: Self.patience) { state in
      state.isWaitingForSamples = !state.isUrgent
      guard state.isUrgent else { return nil }
      state.isUrgent = false
      return ()
    }
    if isUrgent == nil { monitor.withLock { $0.isWaitingForSamples = false } }
  }

  /// Waits until `isFull` is false, then runs `body`, both while it is locked.
  fileprivate func locked<Result>(
    whenNot isFull: () -> Bool, _ body: (inout State) -> Result
  ) -> Result {
    var result: Result?
    var isWaiting = false
    monitor.wait { state -> Void? in
      if isFull() {
        if !isWaiting { state.waitingForRoom += 1 }
        isWaiting = true
        setUrgent(&state)
        return nil
      }
      if isWaiting { state.waitingForRoom -= 1 }
      result = body(&state)
      return ()
    }
    return result.unsafelyUnwrapped
  }

  // MARK: With the lock held

  /// Ends a wait for further samples: those queued must be taken at once.
  fileprivate func setUrgent(_ state: inout State) {
    state.isUrgent = true
    if state.isWaitingForSamples { monitor.wakeAll() }
  }

  /// Samples have been taken.
  fileprivate func signalRoom(_ state: inout State) {
    if state.waitingForRoom > 0 { monitor.wakeAll() }
  }
}
