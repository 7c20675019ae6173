// SPDX-License-Identifier: MPL-2.0

internal import CGStreamer

/// Combines what several source pads said to data into what the sink pad answers:
/// `GstFlowCombiner`.
public final class FlowCombiner: @unchecked Sendable {
  private let combiner = gst_flow_combiner_new()

  public init() {}

  deinit {
    gst_flow_combiner_free(combiner)
  }

  public func add(_ pad: Pad) { gst_flow_combiner_add_pad(combiner, pad.pointer) }

  /// What all pads together say, now that `pad` said `flow`.
  public func update(_ pad: Pad, _ flow: FlowReturn) -> FlowReturn {
    FlowReturn(gst_flow_combiner_update_pad_flow(combiner, pad.pointer, flow.cValue))
  }

  /// Forgets what the pads said.
  public func reset() { gst_flow_combiner_reset(combiner) }
}
