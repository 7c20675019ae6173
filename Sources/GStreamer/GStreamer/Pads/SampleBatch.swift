// SPDX-License-Identifier: MPL-2.0

internal import CGStreamer
import Synchronization

/// Samples that wait at a pad and lie between the same serialized events.
///
/// One thread brings them, one takes them.
final class SampleBatch: @unchecked Sendable {
  private static let quark = g_quark_from_string("gst-spatial-sample-batch")

  private unowned let queue: SampleQueue
  /// Of the queue when the batch began.
  private let epoch: Int
  // While the monitor is locked.
  private var waiting: [UnsafeMutablePointer<GstBuffer>] = []
  private var size = 0
  private var start: GstClockTime?
  private var end: GstClockTime?
  // Of the thread that takes them.
  private var taken: [UnsafeMutablePointer<GstBuffer>] = []
  private var next = 0
  private var head: Buffer?
  private var isTaken = false

  init(of queue: SampleQueue) {
    self.queue = queue
    epoch = queue.epoch.load(ordering: .acquiring)
  }

  /// Whether what waited at the pad has been discarded.
  private var isDiscarded: Bool { queue.epoch.load(ordering: .acquiring) != epoch }

  /// Whether there are samples to take.
  var hasSamples: Bool { !isTaken && !isDiscarded }

  deinit {
    for sample in taken[next...] { gst_buffer_unref(sample) }
    for sample in waiting { gst_buffer_unref(sample) }
  }

  // MARK: The thread that brings them, while the monitor is locked

  func append(_ sample: UnsafeMutablePointer<GstBuffer>) {
    let time = sample.pointee.dts != .max ? sample.pointee.dts : sample.pointee.pts
    if time != .max {
      start = min(start ?? time, time)
      end = max(end ?? time, time)
    }
    size += Int(clamping: gst_buffer_get_size(sample))
    waiting.append(sample)
  }

  /// Whether more waits than that.
  func isAbove(duration: ClockTime, size: Int, count: Int) -> Bool {
    self.size >= size || waiting.count >= count || (end ?? 0) - (start ?? 0) >= duration
  }

  /// The buffer that stands for the samples in GstAggregator's queue.
  func makeCarrier() -> UnsafeMutablePointer<GstBuffer>? {
    guard let carrier = gst_buffer_new() else { return nil }
    carrier.pointee.dts = start ?? .max
    carrier.pointee.pts = start ?? .max
    gst_mini_object_set_qdata(
      cast(carrier), Self.quark, Unmanaged.passRetained(self).toOpaque(), releaseCallback)
    return carrier
  }

  // MARK: The thread that takes them

  /// What a buffer of GstAggregator's queue stands for; nil for one that is a sample itself.
  static func of(_ carrier: UnsafeMutablePointer<GstBuffer>) -> SampleBatch? {
    gst_mini_object_get_qdata(cast(carrier), quark).map {
      Unmanaged<SampleBatch>.fromOpaque($0).takeUnretainedValue()
    }
  }

  /// The next sample, left where it is; nil where all has been discarded.
  func peek() -> Buffer? {
    guard !isDiscarded else { return nil }
    if let head { return head }
    if next == taken.count { queue.monitor.locked { _ = takeWaiting() } }
    guard next < taken.count else { return nil }
    defer { next += 1 }
    head = Buffer(adopting: taken[next])
    return head
  }

  /// Takes the next sample, and with the last one the batch out of GstAggregator's queue.
  func pop(from pad: UnsafeMutablePointer<GstAggregatorPad>) -> Buffer? {
    guard let sample = peek() else { return nil }
    head = nil
    guard next == taken.count else { return sample }
    let carrier = queue.monitor.locked { () -> UnsafeMutablePointer<GstBuffer>? in
      guard !takeWaiting() else { return nil }
      isTaken = true
      queue.close(self)
      // Where the samples are discarded, GstAggregator drops its buffer itself.
      return isDiscarded ? nil : gst_aggregator_pad_pop_buffer(pad)
    }
    if let carrier { gst_buffer_unref(carrier) }
    return sample
  }

  /// Takes over what has come meanwhile; false where nothing has.
  private func takeWaiting() -> Bool {
    guard !waiting.isEmpty else { return false }
    taken.removeAll(keepingCapacity: true)
    swap(&taken, &waiting)
    next = 0
    size = 0
    start = nil
    end = nil
    queue.monitor.noteRoom()
    return true
  }
}
