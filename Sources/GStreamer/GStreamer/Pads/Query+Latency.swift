// SPDX-License-Identifier: MPL-2.0

internal import CGStreamer

/// How late the data of a source come.
public struct Latency: Equatable, Sendable {
  /// They come when they are made, and no faster.
  public let isLive: Bool
  /// In nanoseconds.
  public let least: ClockTime
  /// In nanoseconds; nil where there is no limit.
  public let most: ClockTime?
}

extension Pad {
  /// What is in front of the peer of a sink pad; nil where nobody knows yet.
  public var peerLatency: Latency? {
    let query = Query(adopting: gst_query_new_latency())
    guard queryPeer(query) else { return nil }
    var isLive: gboolean = 0
    var least: GstClockTime = 0
    var most: GstClockTime = 0
    gst_query_parse_latency(query.pointer, &isLive, &least, &most)
    return Latency(isLive: isLive != 0, least: ClockTime(least), most: ClockTime(cValue: most))
  }
}

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
