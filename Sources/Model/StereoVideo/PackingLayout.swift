// SPDX-License-Identifier: MPL-2.0

/// How two eyes share one frame, or one sequence of frames.
public struct PackingLayout: Hashable, Sendable {
  public enum Arrangement: Sendable, CaseIterable {
    /// The eyes beside each other in one frame.
    case sideBySide
    /// The eyes above each other in one frame.
    case topBottom
    /// The eyes in alternate frames.
    case frameByFrame
  }

  public var arrangement: Arrangement
  /// The right eye comes first (left half, upper half, first frame).
  public var rightViewFirst: Bool
  /// Each eye was squeezed to half its width (side by side) or height (top-bottom) to fit.
  public var halfAspect: Bool

  public init(_ arrangement: Arrangement, rightViewFirst: Bool = false, halfAspect: Bool = false) {
    self.arrangement = arrangement
    self.rightViewFirst = rightViewFirst
    self.halfAspect = halfAspect
  }
}

extension PackingLayout: CustomStringConvertible {
  /// For people: `side by side, left eye first`.
  public var description: String {
    let arrangement =
      switch self.arrangement {
      case .sideBySide: "side by side"
      case .topBottom: "top and bottom"
      case .frameByFrame: "frame by frame"
      }
    return arrangement + (rightViewFirst ? ", right eye first" : ", left eye first")
      + (halfAspect ? ", each squeezed to half" : "")
  }
}
