// SPDX-License-Identifier: MPL-2.0

/// A sample of a stream: coded data with its times.
public struct Sample: Sendable {
  /// What is to be known of a sample before it is decoded.
  public struct Flags: OptionSet, Hashable, Sendable {
    public let rawValue: UInt8

    public init(rawValue: UInt8) {
      self.rawValue = rawValue
    }

    /// The sample does not continue the one before.
    public static let discontinuity = Flags(rawValue: 1 << 0)
    /// Decoding cannot start here.
    public static let delta = Flags(rawValue: 1 << 1)
    /// No other sample needs this one.
    public static let droppable = Flags(rawValue: 1 << 2)
    /// It is to be decoded for what follows, and not to be shown.
    public static let decodeOnly = Flags(rawValue: 1 << 3)
  }

  public var data: SampleData
  /// When it is shown, as a timestamp of its stream's segment; nil where nothing says that.
  public var presentationTime: Nanoseconds?
  /// When it is decoded, as such a timestamp; not after `presentationTime`.
  public var decodeTime: Nanoseconds?
  /// How long it is shown; nil where nothing says that.
  public var duration: Nanoseconds?
  public var flags: Flags = []
}
