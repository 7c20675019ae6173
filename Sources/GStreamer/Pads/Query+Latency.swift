// SPDX-License-Identifier: MPL-2.0

internal import CGStreamer

extension Query {
  /// Adds to the answer of a LATENCY query by how much an element holds data back.
  public func addLatency(_ latency: ClockTime) {
    guard type == GST_QUERY_LATENCY else { return }
    var isLive: gboolean = 0
    var least: GstClockTime = 0
    var most: GstClockTime = 0
    gst_query_parse_latency(pointer, &isLive, &least, &most)
    let sum = least.addingReportingOverflow(GstClockTime(latency))
    gst_query_set_latency(
      pointer, isLive, sum.overflow ? least : sum.partialValue,
      ClockTime(cValue: most).map { GstClockTime($0 &+ latency) } ?? most)
  }
}

extension ElementObject {
  /// Has the application ask for the latency again.
  public func postLatencyChanged() {
    gst_element_post_message(gstElement, gst_message_new_latency(cast(gstElement)))
  }
}
