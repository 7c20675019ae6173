// SPDX-License-Identifier: MPL-2.0

internal import CGStreamer

/// What a sink pad learns of the source of its bytes.
extension Pad {
  /// The headers of the HTTP response that the bytes come from, with names in lower case; nil where
  /// they come from elsewhere, or nobody has told.
  public var httpResponseHeaders: [String: String]? {
    var index: guint = 0
    while let pointer = gst_pad_get_sticky_event(
      self.pointer, GST_EVENT_CUSTOM_DOWNSTREAM_STICKY, index)
    {
      index += 1
      let event = Event(adopting: pointer)
      guard let told = event.structure, told.name == "http-headers",
        let response = told.structure("response-headers")
      else { continue }
      let fields = response.fieldNames.compactMap { name in
        response.string(name).map { (name.lowercased(), $0) }
      }
      return Dictionary(fields) { first, _ in first }
    }
    return nil
  }

  /// Whether going elsewhere costs the peer much, or may fail, as over a network.
  public var peerIsBandwidthLimited: Bool {
    let query = Query.scheduling()
    guard queryPeer(query) else { return false }
    var flags = GST_SCHEDULING_FLAG_SEEKABLE
    gst_query_parse_scheduling(query.pointer, &flags, nil, nil, nil)
    return flags.rawValue & GST_SCHEDULING_FLAG_BANDWIDTH_LIMITED.rawValue != 0
  }
}

extension StructureView {
  /// A field that is a structure itself.
  fileprivate func structure(_ field: String) -> StructureView? {
    guard let value = gst_structure_get_value(pointer, field),
      gst_value_get_structure(value) != nil
    else { return nil }
    return StructureView(gst_value_get_structure(value), in: owner)
  }
}
