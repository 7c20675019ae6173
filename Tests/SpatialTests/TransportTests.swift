// SPDX-License-Identifier: MPL-2.0

import Foundation
import GStreamer
import GStreamerCheck
import ISOBMFF
import StereoVideo
import TestKit
import Testing

/// Both eyes through elements that know no layers, and a word where an eye would be lost.
struct TransportTests {
  let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
  }

  private let source =
    "stereotestsrc num-buffers=45 ! video/x-raw,width=256,height=128,framerate=30/1 ! "
    + "sbssplit name=s s.left ! queue ! e.left s.right ! queue ! e.right "
    + "mvhevcenc name=e speed-preset=ultrafast key-int-max=15 option-string=bframes=2 ! "

  /// The MD5 of each frame of each view, by an independent decoder.
  private func frames(_ name: String) throws -> [String: [String]] {
    let program = Repository.url.appending(path: "Tests/Tools/decode_views.py").path
    return try Python.lines([program, folder.path(name)]).reduce(into: [:]) {
      $0[$1.words[0], default: []].append($1.words[1])
    }
  }

  @Test("a transport stream keeps both eyes, bit by bit", .tags(.judge), Judge.isThere)
  func transportStream() async throws {
    try await play(
      source + "tee name=t t. ! queue ! mpegtsmux ! filesink location=\(folder.path("a.ts")) "
        + "t. ! queue ! m.video_0 mvhevcmux name=m ! filesink location=\(folder.path("a.mov"))")
    let movie = try frames("a.mov")
    #expect(movie.count == 2 && movie.values.allSatisfy { $0.count == 45 })
    #expect(try frames("a.ts") == movie)
    try await play(
      "filesrc location=\(folder.path("a.ts")) ! tsdemux ! mvhevcdemux name=d d.video_0 ! queue ! "
        + "m.video_0 mvhevcmux name=m ! filesink location=\(folder.path("b.mov"))")
    #expect(try frames("b.mov") == movie)
  }

  @Test("an eye that a parser or a demuxer loses is named, with what keeps it")
  func lostEye() async throws {
    try await play(
      source + "tee name=t t. ! queue ! mpegtsmux ! filesink location=\(folder.path("a.ts")) "
        + "t. ! queue ! m.video_0 mvhevcmux name=m ! filesink location=\(folder.path("a.mov"))")
    let readers = [
      "filesrc location=\(folder.path("a.mov")) ! qtdemux",
      "filesrc location=\(folder.path("a.mov")) ! qtdemux ! h265parse",
      "filesrc location=\(folder.path("a.ts")) ! tsdemux ! h265parse",
    ]
    for reader in readers {
      for writer in ["mvhevcmux fragment-duration=1000000000", "mvhevchlssink"] {
        await #expect {
          try await play(
            "\(reader) ! m.video_0 \(writer) name=m"
              + (writer == "mvhevchlssink"
                ? " location=\(folder.path("s%05d.m4s"))" : " ! fakesink"))
        } throws: { error in
          let message = (error as? PipelineFailure)?.message ?? "\(error)"
          return message.contains("second eye of the video on video_0 cannot be decoded")
            && message.contains("mvhevcdemux in their place")
        }
      }
    }
    // A parser that passes the second eye's record on does no harm.
    try await play(
      "filesrc location=\(folder.path("a.mov")) ! mvhevcdemux name=d d.video_0 ! h265parse ! "
        + "m.video_0 mvhevcmux name=m ! filesink location=\(folder.path("b.mov"))")
    let (one, other) = try (MovieFile(folder.path("a.mov")), MovieFile(folder.path("b.mov")))
    #expect(try other.videoEntry().lhvC == one.videoEntry().lhvC)
    #expect(try other.content(of: other.video()) == one.content(of: one.video()))
  }

  @Test(
    "RTP keeps both eyes, bit by bit", .tags(.judge), Judge.isThere,
    arguments: ["video/x-h265,stream-format=byte-stream ! ", ""])
  func rtp(caps: String) async throws {
    try await play(
      source + caps + "tee name=t "
        + "t. ! queue ! rtph265pay ! rtph265depay ! "
        + "video/x-h265,stream-format=byte-stream,alignment=au ! "
        + "filesink location=\(folder.path("a.h265")) "
        + "t. ! queue ! m.video_0 mvhevcmux name=m ! filesink location=\(folder.path("a.mov"))")
    let movie = try frames("a.mov")
    #expect(movie.count == 2 && movie.values.allSatisfy { $0.count == 45 })
    #expect(try frames("a.h265") == movie)
  }

  @Test(
    "RTP is recorded with both eyes, whose parameter sets come in one record", .tags(.judge),
    Judge.isThere)
  func recordedRTP() async throws {
    try await play(
      source.replacing("bframes=2", with: "bframes=0")
        + "tee name=t t. ! queue ! rtph265pay config-interval=-1 ! rtph265depay ! m.video_0 "
        + "mvhevcmux name=m ! filesink location=\(folder.path("a.mov")) "
        + "t. ! queue ! n.video_0 mvhevcmux name=n ! filesink location=\(folder.path("b.mov"))")
    let movie = try frames("b.mov")
    #expect(movie.count == 2 && movie.values.allSatisfy { $0.count == 45 })
    #expect(try frames("a.mov") == movie)
  }

  @Test("an encoder in a bin gives a payloader after that bin both eyes' parameter sets")
  func binnedRTP() async throws {
    try await play(
      "stereotestsrc num-buffers=45 ! video/x-raw,width=256,height=128,framerate=30/1 ! "
        + "mvhevcsbsenc speed-preset=ultrafast key-int-max=15 option-string=bframes=0 ! "
        + "rtph265pay config-interval=-1 ! rtph265depay ! mvhevcmux ! "
        + "filesink location=\(folder.path("a.mov"))")
    let entry = try MovieFile(folder.path("a.mov")).videoEntry()
    #expect(entry.lhvC != nil && entry.extendedUsage?.views != nil)
  }

  @Test("packets that are lost cost pictures, and nothing else")
  func lossyRTP() async throws {
    let shown = try await record(
      source.replacing("num-buffers=45", with: "num-buffers=150")
        + "video/x-h265,stream-format=byte-stream ! rtph265pay mtu=400 ! "
        + "identity drop-probability=0.01 ! rtph265depay ! "
        + "video/x-h265,stream-format=byte-stream,alignment=au ! mvhevcdec name=d "
        + "d.left ! queue ! fakesink name=sink d.right ! queue ! fakesink name=right",
      sinks: ["sink", "right"])
    // Either eye may be lost alone. FFmpeg 7.1 in threads also drops some complete pictures after a
    // lost one.
    for eye in shown {
      #expect(eye.count > 20 && eye.count <= 150)
      #expect(
        eye.compactMap(\.runningTime).allSatisfy {
          $0 + 1000 - ClockTime(($0 + 1000).units(perSecond: 30), perSecond: 30) < 3000
        })
    }
  }

  @Test("the byte stream has a delimiter in each access unit, and both layers' sets at keyframes")
  func byteStream() async throws {
    let units = try await record(
      source + "video/x-h265,stream-format=byte-stream ! fakesink name=sink")[0]
    #expect(units.count == 45)
    for unit in units {
      let bytes = unit.buffer.bytes
      #expect(bytes.starts(with: [0, 0, 0, 1, 0x46, 0x01, 0x50]))
      let types = bytes.indices.dropLast(5).filter { bytes[$0..<$0 + 4] == [0, 0, 0, 1] }.map {
        (type: Int(bytes[$0 + 4] >> 1) & 0x3F, layer: Int(bytes[$0 + 5] >> 3))
      }
      let sets = types.filter { (32...34).contains($0.type) }.map { "\($0.type)/\($0.layer)" }
      let isKeyframe = types.contains { (16...21).contains($0.type) }
      #expect(Set(sets) == (isKeyframe ? ["32/0", "33/0", "34/0", "33/1", "34/1"] : []))
    }
  }

  @Test("layered video does not link to a pad for one eye")
  func links() async throws {
    // Also through elements that take anything.
    for link in ["", "queue ! "] {
      let file = folder.path("a.mov")
      try await play(source + link + "mvhevcmux ! filesink location=\(file)")
      #expect(try MovieFile(file).videoEntry().lhvC != nil)
    }
  }

  @Test(
    "a lost eye causes a warning", .tags(.long),
    arguments: [
      ("h265parse ! fakesink", "h265parse"), ("queue ! tee ! h265parse ! fakesink", "h265parse"),
      ("mp4mux ! filesink location=", "mp4mux"), ("qtmux ! filesink location=", "qtmux"),
      ("matroskamux ! fakesink", "matroskamux"),
      ("video/x-h265,stream-format=hvc1 ! rtph265pay ! fakesink", "rtph265pay"),
    ])
  func blindness(line: String, element: String) async throws {
    let file = line.hasSuffix("=") ? folder.path("a.mov") : ""
    let warnings = try await play(source + line + file).warnings
    let expected = "Only one eye is left after \(element)"
    #expect(warnings.contains { $0.contains(expected) }, "\(warnings)")
    let others = try await play(source + "mvhevcdec name=d d.left ! queue ! fakesink").warnings
    #expect(others.isEmpty, "\(others)")
    let movie = folder.path("both.mov")
    try await play(source + "mvhevcmux ! filesink location=\(movie)")
    let demuxer = "filesrc location=\(movie) ! mvhevcdemux name=d d.video_0 ! "
    let read = try await play(demuxer + line + file).warnings
    #expect(read.contains { $0.contains(expected) }, "\(read)")
    #expect(
      try await play(demuxer + "mvhevcmux fragment-duration=1000000000 ! fakesink").warnings.isEmpty
    )
  }
}
