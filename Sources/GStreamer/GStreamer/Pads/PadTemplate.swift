// SPDX-License-Identifier: MPL-2.0

internal import CGStreamer

/// The description of a pad that an element always has, sometimes has, or provides on request.
public struct PadTemplate: Sendable {
  /// Direction of a pad: out of the element or into it.
  public enum Direction: Sendable { case source, sink }
  /// Existence of a pad: `GstPadPresence`.
  public enum Presence: Sendable { case always, sometimes, request }

  /// Name of the pads, possibly with a placeholder such as `%u`.
  public let name: String
  /// Direction of the pads.
  public let direction: Direction
  /// Existence of the pads.
  public let presence: Presence
  /// All caps that the pads may have.
  public let caps: Caps

  /// Creates a template with a name such as `sink` or `left`, or with a placeholder for a number,
  /// such as `audio_%u`.
  public init(_ name: String, _ direction: Direction, _ presence: Presence = .always, caps: Caps) {
    self.name = name
    self.direction = direction
    self.presence = presence
    self.caps = caps
    // A declaration exists as long as the process, so the leaks tracer must ignore its caps.
    caps.raw.pointee.flags |= GST_MINI_OBJECT_FLAG_MAY_BE_LEAKED.rawValue
  }

  /// Creates a GstPadTemplate with a floating reference.
  ///
  /// - Parameter padType: GType of the pads, if the base class requires one.
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

/// Combines the flow returns of several source pads into that of the sink pad: `GstFlowCombiner`.
public final class FlowCombiner: @unchecked Sendable {
  private let combiner = gst_flow_combiner_new()

  /// Creates a combiner without pads.
  public init() {}

  deinit {
    gst_flow_combiner_free(combiner)
  }

  /// Adds a source pad.
  public func add(_ pad: Pad) { gst_flow_combiner_add_pad(combiner, pad.pointer) }

  /// Returns the combined result after `pad` has returned `flow`.
  public func update(_ pad: Pad, _ flow: FlowReturn) -> FlowReturn {
    FlowReturn(gst_flow_combiner_update_pad_flow(combiner, pad.pointer, flow.cValue))
  }

  /// Resets the flow returns of all pads.
  public func reset() { gst_flow_combiner_reset(combiner) }
}
