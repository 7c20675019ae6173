// SPDX-License-Identifier: MPL-2.0

import CGStreamer
import Dispatch
import GStreamer
import GStreamerCheck
import StereoVideo
import TestElements
import Testing

/// Pairs in the elements that have two eyes. `PairedFramesTests` has which frames become pairs.
struct PairingTests {
  /// What an element counts.
  private struct Counts: Equatable {
    var pairs: UInt64
    var left: UInt64 = 0
    var right: UInt64 = 0
  }

  /// Two harnesses at the eyes of an element.
  private final class Eyes: @unchecked Sendable {
    let left: Harness
    let right: Harness

    /// - Parameter padOffset: of the right pad, in nanoseconds.
    init(
      _ element: String, _ properties: KeyValuePairs<String, String>, rate: Int,
      padOffset: Int64 = 0
    ) throws {
      try BuiltPlugin.require()
      left = try #require(Harness(element, sinkPad: "left", sourcePad: "src"))
      right = try #require(Harness(sharing: left, sinkPad: "right", sourcePad: nil))
      left.element.setState(.null)
      for (name, value) in properties { left.element.set(name, value) }
      if element == "mvhevcenc" { left.element.set("speed-preset", "ultrafast") }
      if padOffset != 0 {
        gst_pad_set_offset(try #require(left.element.staticPad("right")).pointer, gint64(padOffset))
      }
      left.play()
      for harness in [left, right] {
        harness.setSourceCaps(
          "video/x-raw,format=I420,width=64,height=64,framerate=\(rate)/1")
      }
    }

    /// Pushes a frame at each of these times, in milliseconds, from a thread an eye, as an
    /// aggregator asks for, and waits for the end.
    func play(_ times: [Eye: [Int]]) -> Counts {
      let blank = [UInt8](repeating: 128, count: 64 * 64 * 3 / 2)
      DispatchQueue.concurrentPerform(iterations: 2) { index in
        let (eye, harness) = index == 0 ? (Eye.left, left) : (.right, right)
        for time in times[eye] ?? [] {
          let buffer = Buffer(blank)
          buffer.pts = time * .millisecond
          _ = harness.push(buffer)
        }
        harness.push(.endOfStream)
      }
      var hasEnded = false
      while !hasEnded {
        while left.tryPull() != nil {}
        while let event = left.tryPullEvent() {
          hasEnded = hasEnded || event.type == GST_EVENT_EOS
        }
      }
      return Counts(
        pairs: count("pairs"), left: count("dropped-left"), right: count("dropped-right"))
    }

    private func count(_ name: String) -> UInt64 {
      guard case .uint64(let count) = left.element.get(name) else {
        Issue.record("no count \(name)")
        return 0
      }
      return count
    }
  }

  private func play(
    _ element: String = "stereopack", _ properties: KeyValuePairs<String, String> = [:],
    rate: Int = 30, left: [Int], right: [Int]
  ) throws -> Counts {
    try Eyes(element, properties, rate: rate).play([.left: left, .right: right])
  }

  @Test(
    "two cameras 16 ms apart with 2 ms jitter lose none of 300 pairs, and a lost frame costs one",
    arguments: ["stereopack", "mvhevcenc"])
  func cameras(element: String) throws {
    #expect(
      try play(
        element, left: PairedFramesTests.camera(delay: 0, seed: 1),
        right: PairedFramesTests.camera(delay: 16, seed: 8)) == Counts(pairs: 300))
    let whole = (0..<50).map { 100 + $0 * 40 }
    var part = whole.map { $0 + 5 }
    part.remove(at: 20)
    #expect(
      try play(element, rate: 25, left: whole, right: part) == Counts(pairs: 49, left: 1))
    #expect(
      try play(element, rate: 25, left: part, right: whole) == Counts(pairs: 49, right: 1))
  }

  @Test("the tolerance and the offset are those of the properties, in nanoseconds")
  func properties() throws {
    let left = (0..<50).map { 100 + $0 * 40 }
    let right = left.map { $0 + 7 }
    func counts(_ properties: KeyValuePairs<String, String>) throws -> Counts {
      try play("stereopack", properties, rate: 25, left: left, right: right)
    }
    #expect(try counts(["pairing-tolerance": "4000000"]) == Counts(pairs: 0, left: 50, right: 50))
    #expect(try counts(["pairing-tolerance": "8000000"]) == Counts(pairs: 50))
    #expect(
      try counts(["pairing-tolerance": "4000000", "right-eye-offset": "-7000000"])
        == Counts(pairs: 50))
    // By three frames, that is.
    #expect(
      try counts(["right-eye-offset": "113000000"]) == Counts(pairs: 47, left: 3, right: 3))
    // It can be set while the element plays.
    let eyes = try Eyes("stereopack", ["pairing-tolerance": "1"], rate: 25)
    eyes.left.element.set("pairing-tolerance", "9000000")
    #expect(eyes.play([.left: left, .right: right]) == Counts(pairs: 50))
  }

  @Test("a pad's own offset moves an eye as well")
  func padOffset() throws {
    let left = (0..<50).map { 100 + $0 * 40 }
    for (offset, counts) in [
      (-7_000_000, Counts(pairs: 50)), (0, Counts(pairs: 0, left: 50, right: 50)),
    ] {
      let eyes = try Eyes(
        "stereopack", ["pairing-tolerance": "4000000"], rate: 25, padOffset: Int64(offset))
      #expect(eyes.play([.left: left, .right: left.map { $0 + 7 }]) == counts)
    }
  }
}
