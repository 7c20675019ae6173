// SPDX-License-Identifier: LGPL-2.1-or-later

public import CGStreamer

/// How far an element is from playing: `GstState`.
public typealias State = GstState

extension GstState {
  public static let null = GST_STATE_NULL
  public static let ready = GST_STATE_READY
  public static let paused = GST_STATE_PAUSED
  public static let playing = GST_STATE_PLAYING
}
