// SPDX-License-Identifier: MPL-2.0

import Foundation
import TestElements
import TestKit
import Testing

/// How often elements ask the heap for memory, in programs of their own, beside elements in C that
/// do as much.
@Suite(.serialized, .tags(.process))
struct AllocationTests {
  private static let folder = Result { try TemporaryFolder() }

  /// Counts allocations where it is preloaded (Tests/Tools/allocations.c).
  private static let counter: Result<String, any Error> = Result {
    let library = try folder.get().path("allocations.so")
    let source = Repository.url.appending(path: "Tests/Tools/allocations.c").path
    let ended = try Program.run(["cc", "-O1", "-fPIC", "-shared", source, "-o", library])
    guard ended.status == 0 else {
      throw Failure("allocations.c cannot be compiled: \(ended.output)")
    }
    return library
  }

  /// The folder of a plugin with `cviewmarker` (Tests/Tools/view_marker.c).
  private static let marker: Result<String, any Error> = Result {
    let plugins = try folder.get().url.path
    let source = Repository.url.appending(path: "Tests/Tools/view_marker.c").path
    let ended = try Program.run([
      "sh", "-c",
      "cc -O1 -fPIC -shared '\(source)' -o '\(plugins)/libgstviewmarker.so' "
        + "$(pkg-config --cflags --libs gstreamer-base-1.0)",
    ])
    guard ended.status == 0 else {
      throw Failure("view_marker.c cannot be compiled: \(ended.output)")
    }
    // What takes the plugin into the registry has that to do as well.
    let next = try Program.run(
      ["gst-inspect-1.0", "--gst-plugin-path=\(plugins)", "cviewmarker"],
      environment: ["GST_REGISTRY": plugins + "/registry"])
    guard next.status == 0 else { throw Failure("no cviewmarker: \(next.output)") }
    return plugins
  }

  /// How many allocations each buffer costs in a pipeline: those of a long run without those of a
  /// short one.
  ///
  /// - Parameter line: as gst-launch writes it, with COUNT where the number of buffers stands.
  private func allocationsPerBuffer(_ line: String) throws -> Double {
    let library = try Self.counter.get()
    func allocations(_ count: Int) throws -> Int {
      let words = line.replacing("COUNT", with: "\(count)").words
      let ended = try Program.run(
        ["gst-launch-1.0", "-q", "--gst-plugin-path=\(try Self.marker.get())"] + words,
        // Memory that GLib keeps for itself counts as well.
        environment: [
          "LD_PRELOAD": library, "G_SLICE": "always-malloc",
          // One that is brought up to date meanwhile would cost allocations.
          "GST_REGISTRY": try Self.marker.get() + "/registry",
        ])
      guard ended.status == 0,
        let line = ended.output.split(separator: "\n").last(where: {
          $0.hasPrefix("allocations: ")
        }), let number = Int(line.dropFirst(13))
      else { throw Failure("no count: \(ended.output)") }
      return number
    }
    return Double(try allocations(1200) - allocations(200)) / 1000
  }

  /// A pipeline, and one of elements in C that does as much.
  struct Comparison: CustomTestStringConvertible, Sendable {
    let testDescription: String
    let ours: String
    let inC: String
  }

  static let raw =
    "videotestsrc num-buffers=COUNT pattern=black ! video/x-raw,format=I420,width=128,height=64 ! "

  static let comparisons = [
    Comparison(
      testDescription: "stereotagger", ours: raw + "stereotagger eye=left ! fakesink",
      inC: raw + "cviewmarker ! fakesink"),
    Comparison(
      testDescription: "sbssplit",
      ours: raw + "sbssplit input-mode-override=side-by-side name=s "
        + "s.left ! fakesink async=false s.right ! fakesink async=false",
      inC: raw + "tee name=t ! videocrop right=64 ! fakesink async=false "
        + "t. ! videocrop left=64 ! fakesink async=false"),
    Comparison(
      testDescription: "sphericalview",
      ours: raw + "sphericalview projection=equirectangular n-threads=1 ! fakesink",
      inC: raw + "videoflip method=clockwise ! fakesink"),
    Comparison(
      testDescription: "sphericalconvert",
      ours: raw
        + "sphericalconvert projection=equirectangular output-projection=cubemap n-threads=1 "
        + "! fakesink",
      inC: raw + "videoflip method=clockwise ! fakesink"),
  ]

  @Test("a buffer costs no more allocations than in C", arguments: comparisons)
  func buffers(comparison: Comparison) throws {
    try BuiltPlugin.require()
    let ours = try allocationsPerBuffer(comparison.ours)
    let inC = try allocationsPerBuffer(comparison.inC)
    #expect(ours - inC < 0.5, "\(ours) beside \(inC) in C")
  }

  @Test("a picture around the viewer costs no more allocations than a flat one")
  func surroundings() throws {
    try BuiltPlugin.require()
    let caps = "num-buffers=COUNT ! video/x-raw,format=NV12,width=128,height=64 ! fakesink"
    let flat = try allocationsPerBuffer("stereotestsrc \(caps)")
    for projection in ["equirectangular", "parametric"] {
      let around = try allocationsPerBuffer("stereotestsrc projection=\(projection) \(caps)")
      #expect(around - flat < 0.5, "\(around) beside \(flat) of a flat one")
    }
  }

  @Test("a sample of a movie costs no more allocations than with qtdemux")
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
    #expect(ours - inC < 0.5, "\(ours) beside \(inC) in C")
  }
}
