// SPDX-License-Identifier: MPL-2.0

internal import CGStreamer

/// The C classes that a Swift element can derive from.
enum BaseClass: CaseIterable, Sendable {
  /// `GstElement`: pads of one's own.
  case element
  /// `GstBin`: an element made of elements.
  case bin
  /// `GstBaseTransform`: one sink, one source, buffer by buffer.
  case baseTransform
  /// `GstPushSrc`: makes data.
  case pushSource
  /// `GstAggregator`: several sinks, one source.
  case aggregator

  var type: GType {
    switch self {
    case .element: gst_element_get_type()
    case .bin: gst_bin_get_type()
    case .baseTransform: gst_base_transform_get_type()
    case .pushSource: gst_push_src_get_type()
    case .aggregator: gst_aggregator_get_type()
    }
  }

  var query: GTypeQuery {
    var query = GTypeQuery()
    g_type_query(type, &query)
    return query
  }

  /// The type that the pads of a template must have, where the base class demands one.
  func padType(_ template: PadTemplate) -> GType? {
    self == .aggregator ? gst_aggregator_pad_get_type() : nil
  }
}
