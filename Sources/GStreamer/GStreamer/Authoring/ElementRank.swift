// SPDX-License-Identifier: MPL-2.0

internal import CGStreamer

/// How willing autopluggers are to use an element: `GstRank`.
public struct ElementRank: RawRepresentable, Hashable, Sendable {
  public let rawValue: UInt32

  public init(rawValue: UInt32) {
    self.rawValue = rawValue
  }

  init(_ rank: GstRank) {
    self.init(rawValue: UInt32(rank.rawValue))
  }

  /// `GST_RANK_NONE`: never by themselves.
  public static let none = ElementRank(GST_RANK_NONE)
  /// `GST_RANK_PRIMARY`: the usual one.
  public static let primary = ElementRank(GST_RANK_PRIMARY)

  /// Just above this one.
  public var above: ElementRank { ElementRank(rawValue: rawValue &+ 1) }
}
