// SPDX-License-Identifier: MPL-2.0

internal import CGStreamer

/// A pad that an element has, may get, or gives on request.
public struct PadTemplate: Sendable {
  public enum Direction: Sendable { case source, sink }
  public enum Presence: Sendable { case always, sometimes, request }

  public let name: String
  public let direction: Direction
  public let presence: Presence
  public let caps: Caps

  /// A template of this name: `sink`, `left`, or with a place for a number: `audio_%u`.
  public init(_ name: String, _ direction: Direction, _ presence: Presence = .always, caps: Caps) {
    self.name = name
    self.direction = direction
    self.presence = presence
    self.caps = caps
    // A declaration lives as long as the process, which is no leak.
    caps.raw.pointee.flags |= GST_MINI_OBJECT_FLAG_MAY_BE_LEAKED.rawValue
  }

  /// A new GstPadTemplate with a floating reference.
  ///
  /// - Parameter padType: the GType of the pads, where a base class demands one.
  func make(padType: GType?) -> UnsafeMutablePointer<GstPadTemplate>? {
    let direction = self.direction == .source ? GST_PAD_SRC : GST_PAD_SINK
    let presence =
      switch self.presence {
      case .always: GST_PAD_ALWAYS
      case .sometimes: GST_PAD_SOMETIMES
      case .request: GST_PAD_REQUEST
      }
    if let padType {
      return gst_pad_template_new_with_gtype(name, direction, presence, caps.pointer, padType)
    }
    return gst_pad_template_new(name, direction, presence, caps.pointer)
  }
}

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
