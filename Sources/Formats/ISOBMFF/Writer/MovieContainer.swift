// SPDX-License-Identifier: MPL-2.0

/// The two dialects of movie file that differ in a dozen boxes.
public enum MovieContainer: Sendable, CaseIterable {
  /// QuickTime, `.mov`: major brand `qt  `.
  case quickTime
  /// ISO base media as MPEG-4 Part 14, `.mp4`: major brand `mp42`.
  case mp4
}
