// SPDX-License-Identifier: MPL-2.0

import CGStreamer
import Foundation
import GStreamer
import GStreamerCheck
import Testing

/// `sphericalview` under fingers. `ViewNavigationTests` has what they do, without an element.
extension SphericalViewTests {
  @Test("the point under one finger stays there; two fingers pinch the field of view")
  func touching() throws {
    begin(Self.whole, ["projection": "equirectangular", "field-of-view": "60", "yaw": "20"])
    let none = GST_NAVIGATION_MODIFIER_NONE
    func down(_ finger: UInt32, _ x: Double, _ y: Double) -> Bool {
      harness.pushUpstream(
        Event(adopting: gst_navigation_event_new_touch_down(finger, x, y, 1, none)))
    }
    func move(_ finger: UInt32, _ x: Double, _ y: Double) -> Bool {
      harness.pushUpstream(
        Event(adopting: gst_navigation_event_new_touch_motion(finger, x, y, .nan, none)))
    }
    func up(_ finger: UInt32) -> Bool {
      harness.pushUpstream(
        Event(adopting: gst_navigation_event_new_touch_up(finger, 0, 0, none)))
    }
    func field() -> Double { number("field-of-view") ?? 0 }
    let before = try show(ramp())
    #expect(down(7, 40.5, 18.5) && move(7, 10.5, 18.5))
    let after = try show(ramp())
    #expect(abs(Int(before[18 * 64 + 40]) - Int(after[18 * 64 + 10])) <= 1)
    #expect(field() == 60)
    // Twice as far apart, things are twice as large.
    #expect(down(9, 30.5, 18.5) && move(9, 50.5, 18.5))
    let expected: Double = 2 * atan(tan(30 * Double.pi / 180) / 2) * 180 / Double.pi
    #expect(abs(field() - expected) < 1e-9)
    // What was in the middle of the two, at 20, is in the middle still, at 30.
    let pinched = try show(ramp())
    #expect(abs(Int(after[18 * 64 + 20]) - Int(pinched[18 * 64 + 30])) <= 1)
    #expect(up(7))
    #expect(harness.pushUpstream(Event(adopting: gst_navigation_event_new_touch_cancel(none))))
    while harness.tryPullUpstreamEvent() != nil {}
    _ = move(9, 1, 1)
    #expect(harness.tryPullUpstreamEvent() != nil)
    #expect(field() == expected)
  }

  @Test("fingers at invalid or equal positions leave a valid view")
  func hostileFingers() throws {
    begin(Self.whole, ["projection": "equirectangular"])
    let events: [UnsafeMutablePointer<GstEvent>?] = [
      gst_navigation_event_new_touch_down(1, .nan, 4, 0, GST_NAVIGATION_MODIFIER_NONE),
      gst_navigation_event_new_touch_down(1, 1e300, -1e300, 0, GST_NAVIGATION_MODIFIER_NONE),
      gst_navigation_event_new_touch_down(2, 5, 5, 0, GST_NAVIGATION_MODIFIER_NONE),
      gst_navigation_event_new_touch_motion(2, -1e300, .infinity, 0, GST_NAVIGATION_MODIFIER_NONE),
      gst_navigation_event_new_touch_up(2, .nan, 5, GST_NAVIGATION_MODIFIER_NONE),
      gst_navigation_event_new_touch_up(UInt32.max, 5, 5, GST_NAVIGATION_MODIFIER_NONE),
      gst_navigation_event_new_touch_frame(GST_NAVIGATION_MODIFIER_NONE),
    ]
    for event in events {
      _ = harness.pushUpstream(Event(adopting: try #require(event)))
      #expect(try show(ramp()).count == 64 * 36)
    }
    for name in ["yaw", "pitch", "roll", "field-of-view"] {
      #expect(number(name)?.isFinite == true, "\(name)")
    }
    for fields in [
      "event=touch-down", "event=touch-motion,identifier=text,pointer_x=1.0", "event=touch-up",
    ] {
      _ = navigate(fields)
    }
  }
}
