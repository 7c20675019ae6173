// SPDX-License-Identifier: MPL-2.0

internal import CGStreamer

extension Message {
  /// The key that was pressed in the window of a video sink, by its X11 name, where no element has made
  /// use of it; nil for any other message.
  public var pressedKey: String? {
    guard gst_navigation_message_get_type(pointer) == GST_NAVIGATION_MESSAGE_EVENT else {
      return nil
    }
    var event: UnsafeMutablePointer<GstEvent>?
    guard gst_navigation_message_parse_event(pointer, &event) != 0, let event else { return nil }
    defer { gst_event_unref(event) }
    var key: UnsafePointer<CChar>?
    guard gst_navigation_event_get_type(event) == GST_NAVIGATION_EVENT_KEY_PRESS,
      gst_navigation_event_parse_key_event(event, &key) != 0
    else { return nil }
    return key.map { String(cString: $0) }
  }
}
