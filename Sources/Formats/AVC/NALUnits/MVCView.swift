// SPDX-License-Identifier: MPL-2.0

/// A view of a stereo stream in H.264 MVC. The container or an SEI message says which eye it is;
/// without either, the base view is the left eye.
public enum MVCView: Int, Sendable, CaseIterable {
  /// The view coded in NAL unit types 1 and 5, which plain decoders decode.
  case base
  /// The view coded in NAL unit type 20.
  case dependent
}

extension MVCView: CustomStringConvertible {
  /// The name for messages.
  public var description: String { self == .base ? "base view" : "dependent view" }
}
