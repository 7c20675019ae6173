// SPDX-License-Identifier: MPL-2.0

internal import CGStreamer

/// A step that buffers go through before the element of a sink pad gets them. It may hold one
/// buffer back until the next one has come.
///
/// All functions are called in the pad's streaming thread, one at a time.
public protocol BufferFilter: AnyObject {
  /// Takes a buffer; returns the one that the element gets now, if any.
  func take(_ buffer: Buffer) -> Buffer?

  /// Takes a serialized event; returns a buffer that was held back and comes before it, if any.
  func take(_ event: Event) -> Buffer?
}

extension Pad {
  /// Lets the buffers of this sink pad go through a filter from now on. Lists of buffers do not.
  public func addFilter(_ filter: some BufferFilter) { Self.addFilter(filter, to: pointer) }

  static func addFilter(_ filter: some BufferFilter, to pad: UnsafeMutablePointer<GstPad>) {
    let what =
      GST_PAD_PROBE_TYPE_BUFFER.rawValue | GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM.rawValue
      | GST_PAD_PROBE_TYPE_EVENT_FLUSH.rawValue
    gst_pad_add_probe(
      pad, GstPadProbeType(what),
      { pad, info, data in
        guard let pad, let info, let data, let content = info.pointee.data else {
          return GST_PAD_PROBE_OK
        }
        let filtering = Unmanaged<Filtering>.fromOpaque(data).takeUnretainedValue()
        guard info.pointee.type.rawValue & GST_PAD_PROBE_TYPE_BUFFER.rawValue != 0 else {
          filtering.pass(content.assumingMemoryBound(to: GstEvent.self), at: pad)
          return GST_PAD_PROBE_OK
        }
        return filtering.pass(content.assumingMemoryBound(to: GstBuffer.self), &info.pointee.data)
      }, Unmanaged.passRetained(Filtering(filter)).toOpaque(), releaseCallback)
  }
}

/// A filter at its pad.
private final class Filtering {
  private let filter: any BufferFilter
  /// Whether a buffer that comes before an event is on its way to the element.
  private var isPassing = false

  init(_ filter: some BufferFilter) { self.filter = filter }

  func pass(
    _ buffer: UnsafeMutablePointer<GstBuffer>, _ data: inout UnsafeMutableRawPointer?
  ) -> GstPadProbeReturn {
    guard !isPassing else { return GST_PAD_PROBE_OK }
    guard let result = filter.take(Buffer(retaining: buffer)) else { return GST_PAD_PROBE_DROP }
    guard result.pointer != buffer else { return GST_PAD_PROBE_OK }
    // The pad owns what is there, and what takes its place.
    gst_buffer_unref(buffer)
    data = UnsafeMutableRawPointer(gst_buffer_ref(result.pointer))
    return GST_PAD_PROBE_OK
  }

  func pass(_ event: UnsafeMutablePointer<GstEvent>, at pad: UnsafeMutablePointer<GstPad>) {
    let event = Event(retaining: event)
    guard event.isSerialized, let buffer = filter.take(event) else { return }
    isPassing = true
    // What the element refuses it refuses again with the next buffer.
    gst_pad_chain(pad, gst_buffer_ref(buffer.pointer))
    isPassing = false
  }
}
