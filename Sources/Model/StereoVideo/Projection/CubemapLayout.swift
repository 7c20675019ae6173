// SPDX-License-Identifier: MPL-2.0

/// How the six faces of a cube lie in a picture of three columns and two rows.
public enum CubemapLayout: String, Hashable, Sendable, CaseIterable {
  /// Right, left, up; down, front, back. The upper edge of up is that to the front, that of down
  /// that to the back: layout 0 of `cbmp` (Google, Spherical Video V2).
  case sphericalVideo = "spherical-video"
  /// The same cells, with up and down turned by 180 degrees: FFmpeg's `c3x2`.
  case turned
  /// Left, front, right; down, back, up, the lower row turned by 90 degrees, with equal angles for
  /// equal distances: `eac`, as YouTube has it.
  case equiAngular = "equi-angular"
}
