// SPDX-License-Identifier: MPL-2.0

internal import CGStreamer

extension Element {
  /// The buffer that a sink shows, with its place in the stream; nil where it shows none.
  public var lastBuffer: (buffer: Buffer, streamTime: ClockTime?)? {
    var value = GValue()
    g_value_init(&value, gst_sample_get_type())
    defer { g_value_unset(&value) }
    g_object_get_property(cast(pointer), "last-sample", &value)
    guard let boxed = g_value_get_boxed(&value) else { return nil }
    let sample = OpaquePointer(boxed)
    guard let pointer = gst_sample_get_buffer(sample) else { return nil }
    let buffer = Buffer(retaining: pointer)
    let segment = gst_sample_get_segment(sample).map { Segment($0.pointee) }
    return (buffer, buffer.pts.flatMap { segment?.streamTime($0) })
  }
}
