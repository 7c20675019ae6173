// SPDX-License-Identifier: MPL-2.0

internal import CGStreamer

extension Pad {
  /// Hands the pad an event as if it came from its peer, which waits for the data that the pad is
  /// being handed; false where the pad refuses it.
  @discardableResult
  public func send(_ event: Event) -> Bool {
    gst_pad_send_event(pointer, event.retainedPointer()) != 0
  }
}
