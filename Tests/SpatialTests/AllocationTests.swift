// SPDX-License-Identifier: MPL-2.0

import Foundation
import TestKit
import Testing

/// How often elements ask the heap for memory, in programs of their own, beside elements in C that do
/// as much.
@Suite(.serialized, .timeLimit(.minutes(2)))
struct AllocationTests {
  /// Counts allocations where it is preloaded (Tests/Tools/allocations.c).
  private static let counter: Result<String, any Error> = Result {
    let library = FileManager.default.temporaryDirectory
      .appending(path: "allocations-\(ProcessInfo.processInfo.processIdentifier).so").path
    let source = Repository.url.appending(path: "Tests/Tools/allocations.c").path
    let (status, output) = try run(["cc", "-O1", "-fPIC", "-shared", source, "-o", library])
    guard status == 0 else { throw Failure("allocations.c cannot be compiled: \(output)") }
    return library
  }

  /// How many allocations each buffer costs in a pipeline: those of a long run without those of a
  /// short one.
  ///
  /// - Parameter line: as gst-launch writes it, with COUNT where the number of buffers stands.
  private func allocationsPerBuffer(_ line: String) throws -> Double {
    let library = try Self.counter.get()
    func allocations(_ count: Int) throws -> Int {
      let words = line.replacing("COUNT", with: "\(count)").words
      let (status, output) = try run(
        ["gst-launch-1.0", "-q"] + words,
        // Memory that GLib keeps for itself counts as well.
        environment: ["LD_PRELOAD": library, "G_SLICE": "always-malloc"])
      guard status == 0,
        let line = output.split(separator: "\n").last(where: {
          $0.hasPrefix("allocations: ")
        }), let number = Int(line.dropFirst(13))
      else { throw Failure("no count: \(output)") }
      return number
    }
    return Double(try allocations(1200) - allocations(200)) / 1000
  }

  /// A pipeline, one of elements in C that does as much, and by how many allocations a buffer ours may
  /// exceed it. What is left above C is what GStreamer allocates for the meta that says which eye a
  /// buffer shows (two, and three from 1.26 on), and this layer's object for each new buffer.
  struct Comparison: CustomTestStringConvertible, Sendable {
    let testDescription: String
    let ours: String
    let inC: String
    let excess: Double
  }

  static let raw =
    "videotestsrc num-buffers=COUNT pattern=black ! video/x-raw,format=I420,width=128,height=64 ! "

  static let comparisons = [
    Comparison(
      testDescription: "stereotagger", ours: raw + "stereotagger eye=left ! fakesink",
      inC: raw + "capssetter caps=video/x-raw,multiview-mode=left ! fakesink", excess: 3),
    Comparison(
      testDescription: "sbssplit",
      ours: raw + "sbssplit input-mode-override=side-by-side name=s "
        + "s.left ! fakesink async=false s.right ! fakesink async=false",
      inC: raw + "tee name=t ! videocrop right=64 ! fakesink async=false "
        + "t. ! videocrop left=64 ! fakesink async=false", excess: 2),
  ]

  @Test("a buffer costs few allocations more than in C", arguments: comparisons)
  func excess(comparison: Comparison) throws {
    try BuiltPlugin.require()
    let ours = try allocationsPerBuffer(comparison.ours)
    let inC = try allocationsPerBuffer(comparison.inC)
    #expect(ours - inC <= comparison.excess + 0.5, "\(ours) beside \(inC) in C")
  }

  @Test("a sample of a movie costs few allocations more than with qtdemux")
  func demuxer() async throws {
    let folder = try TemporaryFolder()
    for count in [200, 1200] {
      try await play(
        "stereotestsrc num-buffers=\(count) ! video/x-raw,format=I420,width=128,height=64 "
          + "! sbssplit name=s s.left ! queue ! mux.left s.right ! queue ! mux.right "
          + "mvhevcmux name=mux speed-preset=ultrafast "
          + "! filesink location=\(folder.path("movie-\(count).mov"))")
    }
    let source = "filesrc location=\(folder.path("movie-COUNT.mov")) ! "
    let ours = try allocationsPerBuffer(source + "mvhevcdemux name=d d.video_0 ! fakesink")
    let inC = try allocationsPerBuffer(source + "qtdemux ! fakesink")
    #expect(ours - inC <= 1.5, "\(ours) beside \(inC) in C")
  }
}
