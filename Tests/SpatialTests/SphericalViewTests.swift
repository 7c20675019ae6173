// SPDX-License-Identifier: MPL-2.0

import CGStreamer
import Foundation
import GStreamer
import GStreamerCheck
import StereoVideo
import TestElements
import TestKit
import Testing

/// `sphericalview`: what it shows, what it says of that, and how it is turned.
struct SphericalViewTests {
  static let whole = "video/x-raw,format=GRAY8,width=512,height=256,framerate=25/1"
  private static let size = "video/x-raw,width=64,height=36"
  let harness: Harness

  init() throws {
    try BuiltPlugin.require()
    harness = try #require(Harness("sphericalview"))
    harness.element.set("n-threads", "1")
    harness.setSinkCaps(Self.size)
  }

  func begin(_ caps: String, _ properties: [String: String]) {
    for (name, value) in properties { harness.element.set(name, value) }
    harness.play()
    harness.setSourceCaps(caps)
  }

  /// A frame whose values are half of the column.
  func ramp(_ time: ClockTime = 0) -> Buffer {
    let buffer = Buffer((0..<256).flatMap { _ in (0..<512).map { UInt8($0 / 2) } })
    buffer.pts = time
    return buffer
  }

  /// The longitude, in degrees, that a ramp's value stands for.
  private func degrees(_ value: UInt8) -> Double { (Double(value) * 2 + 1) / 512 * 360 - 180 }

  func show(_ buffer: Buffer) throws -> [UInt8] {
    #expect(harness.push(buffer) == .ok)
    return try #require(harness.pull()).bytes
  }

  @Test("convergence turns each eye's view towards the other's, about the view's own vertical")
  func convergence() throws {
    // Longitudes above and below each other, seen from a view that leans to its side.
    harness.setSinkCaps("video/x-raw,width=64,height=72")
    begin(
      "video/x-raw,format=GRAY8,width=512,height=256,framerate=25/1,multiview-mode=top-bottom,"
        + "multiview-flags=(GstVideoMultiviewFlagsSet)0:ffffffff",
      ["projection": "equirectangular", "convergence": "5", "yaw": "30"])
    let upright = try show(ramp())
    #expect(abs(degrees(upright[18 * 64 + 32]) - 35) < 2)
    #expect(abs(degrees(upright[(36 + 18) * 64 + 32]) - 25) < 2)
    harness.element.set("roll", "90")
    let leaning = try show(ramp())
    #expect(abs(degrees(leaning[18 * 64 + 32]) - 30) < 2)
    #expect(abs(degrees(leaning[(36 + 18) * 64 + 32]) - 30) < 2)
  }

  func number(_ property: String) -> Double? {
    guard case .double(let value) = harness.element.get(property) else { return nil }
    return value
  }

  func navigate(_ fields: String) -> Bool {
    guard let structure = gst_structure_from_string("application/x-gst-navigation,\(fields)", nil)
    else { return false }
    return harness.pushUpstream(Event(adopting: gst_event_new_navigation(structure)))
  }

  @Test("the middle of the view is the view direction, and changing it needs no new caps")
  func looking() throws {
    begin(Self.whole, ["projection": "equirectangular", "field-of-view": "60"])
    var caps = 0
    for yaw in stride(from: -150, through: 150, by: 50) {
      harness.element.set("yaw", "\(yaw)")
      let view = try show(ramp())
      #expect(view.count == 64 * 36)
      #expect(abs(degrees(view[18 * 64 + 32]) - Double(yaw)) < 2, "\(yaw)")
      #expect(view[18 * 64 + 60] > view[18 * 64 + 4])
    }
    while let event = harness.tryPullEvent() { caps += event.caps == nil ? 0 : 1 }
    #expect(caps == 1)
    let found = try #require(harness.sourceCaps?.first)
    #expect(found.int("width") == 64 && found.int("height") == 36)
  }

  @Test("by default, the view has as many pixels per degree as the input")
  func ownSize() throws {
    let harness = try #require(Harness("sphericalview"))
    harness.element.set("projection", "equirectangular")
    harness.play()
    harness.setSourceCaps(Self.whole)
    #expect(harness.push(ramp()) == .ok)
    let caps = try #require(harness.sourceCaps?.first)
    // 512 pixels for 360 degrees, 90 degrees of view: two tangents of 45 degrees.
    #expect(caps.int("width") == 162 && caps.int("height") == 92)
    #expect(caps.fraction("pixel-aspect-ratio") ?? Fraction(1, 1) == Fraction(1, 1))
  }

  @Test("both eyes are shown as they are packed, or one alone")
  func eyes() throws {
    let packed =
      Self.whole
      + ",multiview-mode=side-by-side,multiview-flags=(GstVideoMultiviewFlagsSet)0:ffffffff"
    let frame = Buffer((0..<256).flatMap { _ in (0..<512).map { $0 < 256 ? 50 : 200 } })
    begin(packed, ["projection": "half-equirectangular", "field-of-view": "60"])
    let both = try show(frame)
    for row in 0..<36 {
      #expect(both[row * 64..<row * 64 + 32].allSatisfy { $0 == 50 })
      #expect(both[row * 64 + 32..<row * 64 + 64].allSatisfy { $0 == 200 })
    }
    #expect(harness.sourceCaps?.first?.string("multiview-mode") == "side-by-side")
    #expect(harness.sourceCaps?.first?.int("views") == 2)
    for (eye, value) in [("left", 50), ("right", 200)] as [(String, UInt8)] {
      let harness = try #require(Harness("sphericalview"))
      harness.element.set("projection", "half-equirectangular")
      harness.element.set("output-eyes", eye)
      harness.setSinkCaps(Self.size)
      harness.play()
      harness.setSourceCaps(packed)
      #expect(harness.push(frame) == .ok)
      let view = try #require(harness.pull()).bytes
      #expect(view.allSatisfy { $0 == value })
      #expect(harness.sourceCaps?.first?.string("multiview-mode") == eye)
      #expect(harness.sourceCaps?.first?.has("views") == false)
    }
  }

  @Test("the projection comes from the stream's tags, and the output's tags describe the view")
  func tags() throws {
    begin(Self.whole, ["field-of-view": "70"])
    let tags = TagList()
    tags.set("stereo-projection", .string("equirectangular"))
    tags.set("stereo-horizontal-field-of-view", .double(360))
    #expect(harness.push(.tags(tags)))
    _ = try show(ramp())
    var last: TagList?
    var order: [String] = []
    while let event = harness.tryPullEvent() {
      last = event.tags ?? last
      order.append(event.name)
    }
    // The caps depend on the tags, and have to come before the segment.
    #expect(order.filter { ["caps", "segment"].contains($0) } == ["caps", "segment"])
    #expect(last?.string("stereo-projection") == "rectilinear")
    #expect(last?.double("stereo-horizontal-field-of-view") == 70)
  }

  @Test("an unknown projection is an error")
  func nothingSaid() async throws {
    let failure = try await failure(
      of: "videotestsrc num-buffers=1 ! video/x-raw,width=64,height=32 ! sphericalview ! fakesink")
    #expect(failure.message.contains("set the property projection"))
  }

  @Test("the grabbed point stays under the pointer")
  func grabbing() throws {
    begin(Self.whole, ["projection": "equirectangular", "field-of-view": "60", "yaw": "20"])
    let before = try show(ramp())
    #expect(navigate("event=mouse-button-press,button=1,pointer_x=40.5,pointer_y=18.5"))
    #expect(navigate("event=mouse-move,pointer_x=10.5,pointer_y=18.5"))
    let after = try show(ramp())
    #expect(abs(Int(before[18 * 64 + 40]) - Int(after[18 * 64 + 10])) <= 1)
    #expect(after[18 * 64 + 32] > before[18 * 64 + 32])
    // Upwards too, and then let go.
    #expect(navigate("event=mouse-move,pointer_x=30.5,pointer_y=34.5"))
    let up = try show(ramp())
    #expect(abs(Int(before[18 * 64 + 40]) - Int(up[34 * 64 + 30])) <= 1)
    #expect(navigate("event=mouse-button-release,button=1,pointer_x=30.5,pointer_y=34.5"))
    _ = navigate("event=mouse-move,pointer_x=1.5,pointer_y=1.5")
    #expect(try show(ramp()) == up)
    // The keys turn by five degrees; home is straight ahead.
    #expect(navigate("event=key-press,key=Home"))
    let home = try show(ramp())
    #expect(abs(degrees(home[18 * 64 + 32])) < 2)
    #expect(navigate("event=key-press,key=Right") && navigate("event=key-press,key=Right"))
    #expect(abs(degrees(try show(ramp())[18 * 64 + 32]) - 10) < 2)
    // Events that do not move the view are forwarded upstream.
    _ = navigate("event=key-press,key=q")
    #expect(harness.tryPullUpstreamEvent() != nil)
  }

  @Test("a control source turns the view with the stream's time")
  func control() throws {
    let handle = try #require(dlopen("libgstcontroller-1.0.so.0", RTLD_NOW))
    func symbol<Function>(_ name: String, _: Function.Type) throws -> Function {
      unsafeBitCast(try #require(dlsym(handle, name)), to: Function.self)
    }
    typealias New = @convention(c) () -> UnsafeMutableRawPointer?
    typealias Bind =
      @convention(c) (
        UnsafeMutableRawPointer, UnsafePointer<CChar>, UnsafeMutableRawPointer
      ) -> UnsafeMutableRawPointer?
    typealias Set = @convention(c) (UnsafeMutableRawPointer, UInt64, Double) -> Int32
    let source = try #require(
      try symbol("gst_interpolation_control_source_new", New.self)())
    let set = try symbol("gst_timed_value_control_source_set", Set.self)
    #expect(set(source, 0, 0) != 0 && set(source, 4_000_000_000, 160) != 0)
    gst_util_set_object_arg(source.assumingMemoryBound(to: GObject.self), "mode", "linear")
    let element = UnsafeMutableRawPointer(harness.element.pointer)
    let binding = try #require(
      try symbol("gst_direct_control_binding_new_absolute", Bind.self)(element, "yaw", source))
    #expect(
      gst_object_add_control_binding(
        element.assumingMemoryBound(to: GstObject.self),
        binding.assumingMemoryBound(to: GstControlBinding.self)) != 0)
    begin(Self.whole, ["projection": "equirectangular", "field-of-view": "60"])
    for frame in stride(from: 0, through: 100, by: 20) {
      let view = try show(ramp(frame * 40 * .millisecond))
      #expect(abs(degrees(view[18 * 64 + 32]) - Double(frame) * 1.6) < 2, "\(frame)")
    }
  }

  @Test("a path turns the view with the stream's time, and nothing else does")
  func path() throws {
    let folder = try TemporaryFolder()
    let file = try folder.write("time,yaw,field-of-view\n0,-40,60\n2,40,60", to: "a.csv")
    // The file is read when the element starts, which the harness has done already.
    harness.element.setState(.null)
    begin(Self.whole, ["projection": "equirectangular", "path": file, "pitch": "3"])
    for (time, yaw) in [(0.0, -40.0), (1, 0), (2, 40), (0.5, -20), (9, 40)] {
      let view = try show(ramp(ClockTime.second.scaled(by: time)))
      #expect(abs(degrees(view[18 * 64 + 32]) - yaw) < 2, "\(time)")
    }
    _ = navigate("event=key-press,key=Right")
    #expect(harness.tryPullUpstreamEvent() != nil)
  }

  @Test(
    "an invalid path is an error",
    arguments: [
      ("none.csv", "There is no file"), (".", "it is not a regular file"), ("bad.csv", "line 2"),
    ])
  func badPath(name: String, words: String) async throws {
    let folder = try TemporaryFolder()
    _ = try folder.write("time,yaw\n0", to: "bad.csv")
    let failure = try await failure(
      of: "videotestsrc num-buffers=1 ! video/x-raw,width=64,height=32 ! sphericalview "
        + "projection=equirectangular path=\(folder.path(name)) ! fakesink")
    #expect(failure.message.contains(words), "\(failure.message)")
  }

  @Test("every format is drawn, in a whole pipeline and on many threads")
  func formats() async throws {
    for format in [
      "I420", "YV12", "NV12", "NV21", "Y42B", "Y444", "GRAY8", "I420_10LE", "P010_10LE", "RGBx",
      "ARGB",
    ] {
      try await play(
        "videotestsrc num-buffers=4 pattern=smpte ! "
          + "video/x-raw,format=\(format),width=322,height=160 ! "
          + "sphericalview projection=equirectangular interpolation=cubic yaw=170 pitch=-80 "
          + "n-threads=3 ! video/x-raw,format=\(format),width=101,height=67 ! fakesink")
    }
  }
}
