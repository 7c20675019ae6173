// SPDX-License-Identifier: MPL-2.0

/// Which views a track holds: the `stri` box of `vexu/eyes` (Apple, "ISO Base Media File Format
/// and Apple HEVC Stereo Video").
public struct StereoViews: OptionSet, Sendable {
  public let rawValue: UInt8

  public init(rawValue: UInt8) {
    self.rawValue = rawValue
  }

  /// The left eye's view (has_left_eye_view).
  public static let leftEye = StereoViews(rawValue: 1)
  /// The right eye's view (has_right_eye_view).
  public static let rightEye = StereoViews(rawValue: 2)
  /// Views beyond the two eyes.
  public static let additional = StereoViews(rawValue: 4)
  /// The right eye comes first where two eyes share a frame; never set in MV-HEVC.
  public static let reversed = StereoViews(rawValue: 8)
}
