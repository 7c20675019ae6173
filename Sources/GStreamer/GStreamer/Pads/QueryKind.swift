// SPDX-License-Identifier: MPL-2.0

internal import CGStreamer

extension Query {
  /// What a query asks, and what of.
  public enum Kind {
    /// What the pad can carry; `answerCaps` applies the filter.
    case caps
    case acceptCaps(Caps)
    /// Which memory to use for these caps; nil where the asker does not know them yet.
    case allocation(Caps?)
    case latency
    case position(Format)
    case duration(Format)
    case seeking(Format)
    case segment(Format)
    case convert
    case scheduling
    case custom(name: String)
    /// Any other.
    case other
  }

  public var kind: Kind {
    switch type {
    case GST_QUERY_CAPS: return .caps
    case GST_QUERY_ACCEPT_CAPS: return acceptCaps.map { .acceptCaps($0) } ?? .other
    case GST_QUERY_ALLOCATION: return .allocation(allocationCaps)
    case GST_QUERY_LATENCY: return .latency
    case GST_QUERY_POSITION: return .position(format)
    case GST_QUERY_DURATION: return .duration(format)
    case GST_QUERY_SEEKING: return .seeking(format)
    case GST_QUERY_SEGMENT: return .segment(format)
    case GST_QUERY_CONVERT: return .convert
    case GST_QUERY_SCHEDULING: return .scheduling
    case GST_QUERY_CUSTOM:
      guard let structure = gst_query_get_structure(pointer) else { return .other }
      return .custom(name: String(cString: gst_structure_get_name(structure)))
    default: return .other
    }
  }
}
