// SPDX-License-Identifier: MPL-2.0

import CGStreamer
import GStreamer
import GStreamerCheck
import ISOBMFF
import StereoVideo
import TestKit
import Testing

/// Two live eyes, and live audio if wanted, that a test brings by hand to an element named `x`,
/// thirty times a second by their timestamps; the clock of the pipeline moves when the test moves
/// it.
///
/// A push returns when the pad has taken what it is given, which takes back what the element waited
/// for without it (``TestClock``). So no frame is late because the machine is slow.
final class LiveRun: Sendable {
  let pipeline: Pipeline
  let element: Element
  let clock = TestClock()
  /// What feeds the element, by the names of its pads, in the order in which they are fed.
  let sources: KeyValuePairs<String, TestSource>

  /// - Parameters:
  ///   - description: of the pipeline, with a sink that does not wait for its first buffer.
  ///   - hasAudio: whether the element gets PCM at `audio_0`.
  ///   - size: the width and the height of an eye.
  init(_ description: String, hasAudio: Bool = false, size: Int = 64) throws {
    pipeline = try SpatialTests.pipeline(description)
    element = try #require(pipeline.element(named: "x"))
    clock.use(by: pipeline)
    clock.endDueWaits()
    let left = try TestSource(feeding: element, "left")
    let right = try TestSource(feeding: element, "right")
    sources =
      hasAudio
      ? ["left": left, "right": right, "audio_0": try TestSource(feeding: element, "audio_0")]
      : ["left": left, "right": right]
    self.size = size
  }

  private let size: Int
  /// The samples of audio that a frame lasts, 44,100 a second.
  static let audioSamples = 1470

  /// When frame `number` is shown, in nanoseconds.
  static func time(_ number: Int) -> ClockTime { ClockTime(number, perSecond: 30) }

  subscript(name: String) -> TestSource? { sources.first { $0.key == name }?.value }

  /// Begins to play, and each stream but those that are named.
  func start(without silent: Set<String> = []) throws {
    try #require(pipeline.setState(.playing))
    for (name, _) in sources where !silent.contains(name) { begin(name) }
  }

  func begin(_ name: String) {
    let video = "video/x-raw,format=I420,width=\(size),height=\(size),framerate=30/1"
    let audio = "audio/x-raw,format=S16LE,layout=interleaved,rate=44100,channels=1"
    self[name]?.begin(Caps(parsing: name == "audio_0" ? audio : video))
  }

  /// What pad `name` is given for a frame's time.
  func buffer(_ name: String, _ number: Int) -> Buffer {
    let count = name == "audio_0" ? Self.audioSamples * 2 : size * size * 3 / 2
    let buffer = Buffer(
      (0..<count).map { UInt8(truncatingIfNeeded: ($0 &+ number &* 5) / 8 &* 3) })
    buffer.pts = Self.time(number)
    buffer.duration = Self.time(number + 1) - Self.time(number)
    return buffer
  }

  /// Pushes what comes in the time of these frames, to all pads.
  func push(_ numbers: Range<Int>) {
    for number in numbers { push(number, without: []) }
  }

  /// The same while some pads get nothing. After the first of these frames, which waits for them,
  /// the clock moves on to when it does not any more, and stands there: if a further one waited,
  /// the push of the next would hang.
  func push(_ numbers: Range<Int>, without silent: String..., patience: ClockTime) throws {
    push(numbers.lowerBound, without: Set(silent))
    try clock.waitForPending()
    clock.advance(to: max(clock.time, Self.time(numbers.lowerBound) + patience))
    for number in numbers.dropFirst() { push(number, without: Set(silent)) }
  }

  /// The same as ``push(_:)``, after a pad that got nothing: it gives first, so that it is waited
  /// for again
  /// before the others give.
  func push(_ numbers: Range<Int>, again name: String) {
    let first = numbers.lowerBound
    self[name]?.push(buffer(name, first))
    push(first, without: [name])
    push(numbers.dropFirst())
  }

  /// Pushes what comes in the time of a frame, and leaves the clock alone.
  func push(_ number: Int, without silent: Set<String>) {
    for (name, source) in sources where !silent.contains(name) {
      source.push(buffer(name, number))
    }
  }

  /// Returns when the element has taken this number of frames of both eyes from its pads.
  func waitForPairs(_ count: UInt64) async throws {
    try await eventually("pair \(count)") {
      if case .uint64(let taken) = element.get("pairs") { taken >= count } else { false }
    }
  }

  /// Unlinks and releases a pad of the element, as an application does that takes a source away.
  func release(_ name: String) {
    guard let source = self[name] else { return }
    source.unlink()
    gst_element_release_request_pad(element.pointer, source.sink.pointer)
  }

  /// Ends all streams but those that are named, and gives the messages up to the end of the
  /// pipeline.
  func finish(without silent: String...) async throws -> [Message] {
    for (name, source) in sources where !silent.contains(name) { source.end() }
    // Nobody waits for those for ever.
    if !silent.isEmpty { clock.advance(by: 10 * .second) }
    defer { pipeline.setState(.null) }
    return try await messages(of: pipeline)
  }
}
