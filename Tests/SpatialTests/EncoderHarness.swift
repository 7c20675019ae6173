// SPDX-License-Identifier: MPL-2.0

import CGStreamer
import GStreamer
import GStreamerCheck
import StereoVideo
import TestElements
import Testing

/// `mvhevcenc` that is fed pair by pair.
final class EncoderHarness {
  static let frameDuration = ClockTime.second / 25

  let left: Harness
  let right: Harness
  private let size: Int
  private let bus: UnsafeMutablePointer<GstBus>?

  deinit {
    gst_element_set_bus(left.element.pointer, nil)
    gst_object_unref(bus)
  }

  /// - Parameters:
  ///   - properties: of the encoder, as names and values.
  ///   - caps: more fields of the pictures.
  init(
    _ properties: KeyValuePairs<String, String> = [:], caps: String = "framerate=25/1",
    width: Int = 64, height: Int = 64
  ) throws {
    try BuiltPlugin.require()
    // GStreamer is initialised by now.
    bus = gst_bus_new()
    left = try #require(Harness("mvhevcenc", sinkPad: "left", sourcePad: "src"))
    right = try #require(Harness(sharing: left, sinkPad: "right", sourcePad: nil))
    size = width * height * 3 / 2
    // A harness starts its element at once.
    left.element.setState(.null)
    left.element.set("speed-preset", "ultrafast")
    for (name, value) in properties { left.element.set(name, value) }
    gst_element_set_bus(left.element.pointer, bus)
    left.play()
    for harness in [left, right] {
      harness.setSourceCaps("video/x-raw,format=I420,width=\(width),height=\(height),\(caps)")
    }
  }

  /// Pushes the same grainy picture to both eyes.
  func push(_ timestamp: ClockTime, seed: UInt32 = 1) throws {
    try push(left: timestamp, right: timestamp, seed: seed)
  }

  /// Pushes the same grainy picture to both eyes, with other times; nil for none.
  func push(left leftTime: ClockTime?, right rightTime: ClockTime?, seed: UInt32 = 1) throws {
    var state = seed
    let samples = (0..<size).map { _ in
      state = state &* 1_664_525 &+ 1_013_904_223
      return UInt8(state >> 24) / 4 + 64
    }
    for (harness, timestamp) in [(left, leftTime), (right, rightTime)] {
      let buffer = Buffer(samples)
      buffer.pts = timestamp
      #expect(harness.push(buffer) == .ok)
    }
  }

  func push(_ event: Event) {
    for harness in [left, right] { harness.push(event) }
  }

  /// Ends the streams, and gives all buffers that have not been pulled yet.
  func finish() -> [Buffer] {
    push(.endOfStream)
    var buffers: [Buffer] = []
    while !isAtEnd {
      if let buffer = left.tryPull() { buffers.append(buffer) } else { noteEvents() }
    }
    while let buffer = left.tryPull() { buffers.append(buffer) }
    return buffers
  }

  private(set) var events: [Event] = []
  private var isAtEnd: Bool { events.contains { $0.type == GST_EVENT_EOS } }

  /// Takes the events that have reached the sink.
  func noteEvents() {
    while let event = left.tryPullEvent() { events.append(event) }
  }

  /// What the element has posted.
  func messages() -> [Message] {
    var messages: [Message] = []
    while let message = gst_bus_pop(bus) { messages.append(Message(adopting: message)) }
    return messages
  }
}
