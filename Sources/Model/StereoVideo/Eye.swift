// SPDX-License-Identifier: MPL-2.0

/// One of the two eyes a stereo picture is made for.
public enum Eye: String, Sendable, CaseIterable, Codable {
  case left
  case right

  /// Both; made once, since streaming threads go through them for each picture.
  public static let allCases: [Eye] = [.left, .right]

  /// The other eye of the pair.
  public var other: Eye { self == .left ? .right : .left }
}
