// SPDX-License-Identifier: MPL-2.0

internal import HEVC
internal import StereoVideo

/// The messages of SEI NAL units, H.264 (7.3.2.3), in streams of two views.
struct SupplementalInformation: Sendable {
  private let nalUnit: [UInt8]
  private let messages: [SEIMessage]

  /// Reads an SEI NAL unit; nil if it is unreadable.
  init?(_ nalUnit: [UInt8]) {
    guard let messages = try? SEIMessage.messages(in: nalUnit.span.bytes, headerSize: 1) else {
      return nil
    }
    self.nalUnit = nalUnit
    self.messages = messages
  }

  /// The NAL unit without messages about the buffer, the timing, the marking and the views, which
  /// do not apply to a flattened stream; nil if none are left.
  var flattened: [UInt8]? {
    let kept = messages.filter { Self.keptMessages.contains($0.type.rawValue) }
    guard !kept.isEmpty else { return nil }
    if kept.count == messages.count { return nalUnit }
    return RewrittenUnit.nalUnit(.sei, refIDC: 0, SEIMessage.payload(kept))
  }

  /// The eye of the base view by `multiview_view_position()` (H.13.1.10); nil if there is no such
  /// message of two views.
  var baseEye: Eye? {
    guard let message = messages.first(where: { $0.type.rawValue == 46 }) else { return nil }
    var reader = BitReader(message.payload, structure: "multiview_view_position")
    guard (try? reader.ue("num_views_minus1")) == 1 else { return nil }
    // Positions are counted from the left.
    switch try? reader.ue("view_position") {
    case 0: return .left
    case 1: return .right
    default: return nil
    }
  }

  /// Whether there is a `recovery_point()` (D.1.8).
  var hasRecoveryPoint: Bool { messages.contains { $0.type.rawValue == 6 } }

  /// Pan-scan rectangle, user data, display orientation, mastering display, content light level and
  /// alternative transfer characteristics.
  private static let keptMessages: Set<Int> = [2, 4, 5, 47, 137, 144, 147]
}
