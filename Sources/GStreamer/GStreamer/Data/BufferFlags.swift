// SPDX-License-Identifier: MPL-2.0

internal import CGStreamer

/// `GstBufferFlags` and `GstVideoBufferFlags`.
public struct BufferFlags: OptionSet, Sendable {
  public let rawValue: UInt32

  public init(rawValue: UInt32) {
    self.rawValue = rawValue
  }

  /// Timestamps or data jump here.
  public static let discont = BufferFlags(rawValue: GST_BUFFER_FLAG_DISCONT.rawValue)
  /// Parameter sets or a file header.
  public static let header = BufferFlags(rawValue: GST_BUFFER_FLAG_HEADER.rawValue)
  /// Made up where data is missing.
  public static let gap = BufferFlags(rawValue: GST_BUFFER_FLAG_GAP.rawValue)
  /// Nothing else needs this buffer.
  public static let droppable = BufferFlags(rawValue: GST_BUFFER_FLAG_DROPPABLE.rawValue)
  /// Not a sync point.
  public static let deltaUnit = BufferFlags(rawValue: GST_BUFFER_FLAG_DELTA_UNIT.rawValue)
  /// To be decoded for what follows, but not shown.
  public static let decodeOnly = BufferFlags(rawValue: GST_BUFFER_FLAG_DECODE_ONLY.rawValue)
  /// The last buffer of an access unit.
  public static let marker = BufferFlags(rawValue: GST_BUFFER_FLAG_MARKER.rawValue)
  /// What writes it to a disk sees to it that it is there before anything follows.
  public static let syncAfter = BufferFlags(rawValue: GST_BUFFER_FLAG_SYNC_AFTER.rawValue)
  /// `GST_VIDEO_BUFFER_FLAG_MULTIPLE_VIEW`: the frame holds, or is one of, several views.
  public static let multipleView = BufferFlags(
    rawValue: GST_VIDEO_BUFFER_FLAG_MULTIPLE_VIEW.rawValue)
  /// `GST_VIDEO_BUFFER_FLAG_FIRST_IN_BUNDLE`: the first frame of one instant.
  public static let firstInBundle = BufferFlags(
    rawValue: GST_VIDEO_BUFFER_FLAG_FIRST_IN_BUNDLE.rawValue)
  /// What says which views a frame holds.
  public static let views: BufferFlags = [.multipleView, .firstInBundle]
}
