// SPDX-License-Identifier: MPL-2.0

/// What is said about a whole movie.
public struct MovieMetadata: Equatable, Sendable {
  /// Seconds since 1970-01-01 00:00 UTC; nil leaves the date out.
  public var creationTime: Int64?
  /// Items with QuickTime's keys (`com.apple.quicktime.title`). In MP4 those that `ilst` has a
  /// four-character key for are written under it.
  public var items: [MetadataItem]
  /// Further boxes of `udta`.
  public var userData: [OpaqueBox]

  public init(
    creationTime: Int64? = nil, items: [MetadataItem] = [], userData: [OpaqueBox] = []
  ) {
    self.creationTime = creationTime
    self.items = items
    self.userData = userData
  }

  /// The keys by which other programs tell a spatial movie: format version 1.0, and no warnings
  /// about how it was shot.
  public static let spatialItems = [
    MetadataItem(key: "com.apple.quicktime.spatial.format-version", value: .utf8("1.0")),
    MetadataItem(key: "com.apple.quicktime.spatial.aggressors-seen", value: .integer(0)),
  ]

  /// From the files' origin of time, 1904-01-01, to that of Unix.
  static let secondsTo1970: Int64 = 2_082_844_800

  /// `creationTime` as the files hold it, in seconds since 1904-01-01; 0 for none.
  var creationTimeSince1904: UInt64 {
    guard let creationTime else { return 0 }
    let (seconds, overflow) = creationTime.addingReportingOverflow(Self.secondsTo1970)
    return overflow ? 0 : UInt64(clamping: seconds)
  }
}
