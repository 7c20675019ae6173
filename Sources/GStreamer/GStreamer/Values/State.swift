// SPDX-License-Identifier: MPL-2.0

internal import CGStreamer

/// How far an element is from playing: `GstState`.
public struct State: RawRepresentable, Hashable, Sendable {
  public let rawValue: UInt32

  public init(rawValue: UInt32) {
    self.rawValue = rawValue
  }

  init(_ state: GstState) {
    rawValue = state.rawValue
  }

  var cValue: GstState { GstState(rawValue) }

  /// `GST_STATE_NULL`: it holds nothing.
  public static let null = State(GST_STATE_NULL)
  /// `GST_STATE_READY`: it has what it needs before data: devices, libraries.
  public static let ready = State(GST_STATE_READY)
  /// `GST_STATE_PAUSED`: data flows up to the first buffer at each sink.
  public static let paused = State(GST_STATE_PAUSED)
  /// `GST_STATE_PLAYING`: the clock runs.
  public static let playing = State(GST_STATE_PLAYING)
}
