// SPDX-License-Identifier: MPL-2.0

import CGStreamer
import Foundation
import GStreamer
import GStreamerCheck
import ISOBMFF
import SpatialElements
import StereoVideo
import TestElements
import TestKit
import Testing

/// A pipeline of gst-launch's kind, with the project's plugin.
func pipeline(_ description: String) throws -> Pipeline {
  try BuiltPlugin.require()
  return try Pipeline(parsing: description)
}

/// Plays to the end and gives all messages. Throws the first error that is posted.
@discardableResult
func play(_ pipeline: Pipeline) async throws -> [Message] {
  defer { pipeline.setState(.null) }
  pipeline.setState(.playing)
  return try await messages(of: pipeline)
}

@discardableResult
func play(_ description: String) async throws -> [Message] {
  try await play(try pipeline(description))
}

/// The messages of a pipeline that plays, up to its end. Throws the first error that is posted, and
/// if there
/// is no end for so long that it hangs.
@discardableResult
func messages(of pipeline: Pipeline) async throws -> [Message] {
  try await withThrowingTaskGroup(of: [Message].self) { group in
    group.addTask {
      var seen: [Message] = []
      for await message in pipeline.bus.messages {
        seen.append(message)
        switch message.content {
        case .error(let failure): throw failure
        case .endOfStream: return seen
        default: break
        }
      }
      throw CancellationError()
    }
    group.addTask {
      try await Task.sleep(for: .seconds(hangLimit))
      throw Failure("The pipeline does not end.")
    }
    defer { group.cancelAll() }
    return try await group.next() ?? []
  }
}

/// The error that a pipeline ends with. Throws if it ends well.
func failure(of pipeline: Pipeline) async throws -> PipelineFailure {
  do {
    try await play(pipeline)
  } catch let failure as PipelineFailure {
    return failure
  }
  throw Failure("The pipeline ended without an error.")
}

func failure(of description: String) async throws -> PipelineFailure {
  try await failure(of: try pipeline(description))
}

extension Pipeline {
  /// Waits for a change of state to end; false if it fails or hangs.
  func waitForState() -> Bool { waitForState(timeout: ClockTime.second.scaled(by: hangLimit)) }
}

/// Has a pipeline play, and sees what the element of this name gives.
func start(_ pipeline: Pipeline, watching element: String) throws -> Tap {
  let tap = try Tap(pipeline.element(named: element)?.staticPad("src"))
  pipeline.setState(.playing)
  return tap
}

/// Ends a live pipeline's streams, and gives the messages up to its end.
@discardableResult
func finish(_ pipeline: Pipeline) async throws -> [Message] {
  pipeline.send(.endOfStream)
  return try await play(pipeline)
}

extension [Message] {
  var warnings: [String] {
    compactMap { if case .warning(let failure) = $0.content { failure.message } else { nil } }
  }

  /// The element messages of a name.
  func named(_ name: String) -> [StructureView] {
    compactMap {
      guard case .element(let structure) = $0.content, structure.name == name else { return nil }
      return structure
    }
  }
}

extension PassedBuffer {
  /// Where the buffer's memories are.
  var memories: [UnsafeMutablePointer<GstMemory>?] {
    (0..<gst_buffer_n_memory(buffer.pointer)).map { gst_buffer_peek_memory(buffer.pointer, $0) }
  }
}

/// What passes the sinks of these names while a pipeline plays to its end.
func record(
  _ description: String, sinks: [String] = ["sink"], takingReferences: Bool = false
) async throws -> [[PassedBuffer]] {
  let pipeline = try pipeline(description)
  let taps = try sinks.map {
    try Tap(pipeline.element(named: $0)?.staticPad("sink"), takesReferences: takingReferences)
  }
  try await play(pipeline)
  return taps.map(\.buffers)
}

/// The two eyes of a packed test stream, to the pads of an element named `mux`.
func eyes(
  _ count: Int, _ caps: String = "format=I420,width=640,height=180,framerate=30/1",
  split: String = ""
) -> String {
  "stereotestsrc num-buffers=\(count) ! video/x-raw,\(caps) ! sbssplit name=s \(split) "
    + "s.left ! queue ! mux.left s.right ! queue ! mux.right "
}

/// A quick muxer `mux`, and the movie that it writes, in which each eye is coded by itself.
func mux(to path: String, _ properties: String = "") -> String {
  "mvhevcmux name=mux speed-preset=ultrafast inter-view-prediction=none \(properties) "
    + "! filesink location=\(path) "
}

extension MovieFile {
  func tracks(_ handler: FourCC) -> [Track] { movie.tracks.filter { $0.handlerType == handler } }

  func video() throws -> Track { try track("vide") }
  func audio() throws -> Track { try track("soun") }

  /// The types of the boxes in the first visual sample entry, in order.
  func videoEntryBoxes() throws -> [String] {
    let start = try #require(bytes.firstRange(of: Array("hvc1".utf8)), "no hvc1").lowerBound - 4
    func number(_ at: Int) -> Int { bytes[at..<at + 4].reduce(0) { $0 << 8 | Int($1) } }
    var types: [String] = []
    var box = start + 86
    while box + 8 <= start + number(start), number(box) >= 8 {
      types.append(String(decoding: bytes[box + 4..<box + 8], as: UTF8.self))
      box += number(box)
    }
    return types
  }
}

extension Track {
  var allSamples: [SampleRecord] { (0..<samples.count).compactMap { samples.sample(at: $0) } }
  var seconds: Double { Double(mediaDuration ?? 0) / Double(timescale) }

  /// When each sample is presented in the movie, in that order.
  var presentationTimes: [ClockTime] {
    let start = edits.first { $0.mediaTime != nil }?.mediaTime ?? 0
    return allSamples.map { $0.presentationTime - start }.sorted().map {
      ClockTime(rounding: $0, perSecond: description.timescale)
    }
  }
}

extension ClockTime {
  /// Makes the time of a number of units, rounded to the nearest; 0 if it is negative.
  init(rounding units: some BinaryInteger, perSecond rate: some BinaryInteger) {
    let whole = UInt128(clamping: units) * 2_000_000_000 + UInt128(rate)
    self.init(nanoseconds: whole / (2 * UInt128(rate)))
  }
}

extension String {
  /// What stands between spaces, as a shell without quotes would take it.
  var words: [String] { split(separator: " ").map(String.init) }
}

/// Runs a gst-launch line, and expects no leaks and no critical messages. Returns its exit status.
@discardableResult
func runExpectingNoLeaks(
  _ line: String, sourceLocation: SourceLocation = #_sourceLocation
) throws -> Int32 {
  let result = try Program.run(
    ["gst-launch-1.0"] + line.words,
    environment: [
      "GST_TRACERS": "leaks", "GST_DEBUG": "GST_TRACER:7", "GST_DEBUG_NO_COLOR": "1",
      "G_DEBUG": "fatal-criticals",
    ])
  let output = result.output
  let left = output.split(separator: "\n").filter {
    // The tracer says its format first.
    $0.contains("object-alive, type-name=(string)") && !$0.contains("%s")
  }
  #expect(left.isEmpty, "\(left.joined(separator: "\n"))", sourceLocation: sourceLocation)
  #expect(!output.contains("CRITICAL"), sourceLocation: sourceLocation)
  #expect(
    output.contains("Freeing pipeline"), "\(output.suffix(400))", sourceLocation: sourceLocation)
  return result.status
}
