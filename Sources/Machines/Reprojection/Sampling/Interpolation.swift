// SPDX-License-Identifier: MPL-2.0

/// How a value between pixels comes from the pixels around it.
public enum Interpolation: String, Hashable, Sendable, CaseIterable {
  case nearest
  /// Of 2 by 2 pixels.
  case linear
  /// Of 4 by 4 pixels, with Catmull and Rom's cubic (a = -1/2).
  case cubic
  /// Of 6 by 6 pixels, with a Lanczos window of 3 lobes.
  case lanczos

  /// Pixels before and behind the one that a position is in.
  var before: Int {
    switch self {
    case .nearest, .linear: 0
    case .cubic: 1
    case .lanczos: 2
    }
  }

  /// The nearest pixel may be the next one.
  var behind: Int {
    switch self {
    case .nearest, .linear: 1
    case .cubic: 2
    case .lanczos: 3
    }
  }
}

extension Interpolation {
  /// Samples before and behind the one that a position is in.
  package var reach: (before: Int, behind: Int) { (before, behind) }
}
