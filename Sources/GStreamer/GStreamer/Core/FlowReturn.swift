// SPDX-License-Identifier: MPL-2.0

internal import CGStreamer

/// What a pad says to data: `GstFlowReturn`. Anything but `ok` is thrown.
public struct FlowReturn: RawRepresentable, Error, Equatable, Sendable {
  public let rawValue: Int32

  public init(rawValue: Int32) {
    self.rawValue = rawValue
  }

  init(_ flow: GstFlowReturn) {
    rawValue = flow.rawValue
  }

  var cValue: GstFlowReturn { GstFlowReturn(rawValue: rawValue) }

  /// `GST_FLOW_OK`: data passing was all right.
  public static let ok = FlowReturn(GST_FLOW_OK)
  /// `GST_FLOW_NOT_LINKED`: the pad has no peer.
  public static let notLinked = FlowReturn(GST_FLOW_NOT_LINKED)
  /// `GST_FLOW_FLUSHING`: the pad is flushing.
  public static let flushing = FlowReturn(GST_FLOW_FLUSHING)
  /// `GST_FLOW_EOS`: the pad is at the end of its stream.
  public static let eos = FlowReturn(GST_FLOW_EOS)
  /// `GST_FLOW_NOT_NEGOTIATED`: the caps are missing or not acceptable.
  public static let notNegotiated = FlowReturn(GST_FLOW_NOT_NEGOTIATED)
  /// `GST_FLOW_ERROR`: an element has posted an error message.
  public static let error = FlowReturn(GST_FLOW_ERROR)
  /// `GST_AGGREGATOR_FLOW_NEED_DATA`: the aggregator waits for more input.
  public static let needData = FlowReturn(rawValue: GST_FLOW_CUSTOM_ERROR.rawValue)

  /// Throws this value unless it is `ok`.
  public func check() throws(FlowReturn) {
    if self != .ok { throw self }
  }
}

extension FlowReturn: CustomStringConvertible {
  public var description: String { String(cString: gst_flow_get_name(cValue)) }
}
