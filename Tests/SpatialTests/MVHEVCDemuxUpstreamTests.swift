// SPDX-License-Identifier: MPL-2.0

import CGStreamer
import Foundation
import GStreamer
import GStreamerCheck
import StereoVideo
import TestElements
import TestKit
import Testing

/// `mvhevcdemux`: where its bytes come from, and what upstream can and cannot do.
struct MVHEVCDemuxUpstreamTests {
  let folder: TemporaryFolder
  var path: String { folder.path("movie.mov") }
  private let pads = ["left", "right", "video_0"]

  init() throws {
    folder = try TemporaryFolder()
    try BuiltPlugin.require()
  }

  private var bytes: [UInt8] {
    get throws { [UInt8](try Data(contentsOf: URL(filePath: path))) }
  }

  /// A box of nothing.
  private func free(_ size: Int) -> [UInt8] {
    (0..<4).map { UInt8(size >> (24 - 8 * $0) & 0xFF) } + Array("free".utf8)
      + [UInt8](repeating: 0, count: size - 8)
  }

  /// The movie with `size` unused bytes before its index, which comes last.
  private func delayingIndex(by size: Int) throws -> [UInt8] {
    let bytes = try bytes
    let index = try #require(bytes.lastRange(of: Array("moov".utf8))).lowerBound - 4
    return Array(bytes[..<index]) + free(size) + Array(bytes[index...])
  }

  // MARK: Servers

  /// A server of files, and how it treats requests for parts of them.
  private static let server = """
    import http.server, sys, os, re
    answers_ranges = sys.argv[2] == "ranges"
    class Handler(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *arguments): pass
        def do_GET(self):
            data = open(self.path[1:], "rb").read()
            wanted = re.match(r"bytes=(\\d+)-", self.headers.get("Range", "")) if answers_ranges else None
            start = int(wanted[1]) if wanted else 0
            self.send_response(206 if wanted else 200)
            if answers_ranges: self.send_header("Accept-Ranges", "bytes")
            if wanted: self.send_header("Content-Range", f"bytes {start}-{len(data) - 1}/{len(data)}")
            self.send_header("Content-Length", str(len(data) - start))
            self.end_headers()
            try: self.wfile.write(data[start:])
            except OSError: pass
    os.chdir(sys.argv[1])
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    print(server.server_port, flush=True)
    server.serve_forever()
    """

  /// Calls `body` with the address of a server of the folder's files.
  private func serving(
    ranges: Bool, _ body: (_ address: String) async throws -> Void
  ) async throws {
    let server = try Program(
      ["python3", "-c", Self.server, folder.path(""), ranges ? "ranges" : "none"], errors: .shown)
    let line = try server.wait(for: "\n")
    let port = try #require(Int(line.trimmingCharacters(in: .whitespacesAndNewlines)))
    try await body("http://127.0.0.1:\(port)")
    server.kill()
  }

  private static let hasHTTP: ConditionTrait = .enabled("no souphttpsrc") {
    initialize()
    return (try? Element("souphttpsrc")) != nil
  }

  @Test(
    "from a server without range requests, a movie is played in order, without seeking",
    .tags(.judge),
    hasHTTP, arguments: ["", "queue !", "queue2 !"])
  func serverWithoutRanges(between: String) async throws {
    try await OwnMovie.make(path, frames: 40)
    let expected = try await DemuxRun.file(path, pads)
    // More than is worth a request of its own lies before the index.
    try Data(delayingIndex(by: 5 << 20)).write(to: URL(filePath: path))
    try await serving(ranges: false) { address in
      let pipeline = try pipeline(
        "souphttpsrc location=\(address)/movie.mov ! \(between) mvhevcdemux name=d "
          + DemuxRun.sinks(pads))
      defer { pipeline.setState(.null) }
      let taps = try pads.map { ($0, try Tap(pipeline.element(named: $0)?.staticPad("sink"))) }
      pipeline.setState(.paused)
      try #require(pipeline.waitForState())
      #expect(!pipeline.seek(to: .second))
      pipeline.setState(.playing)
      try await messages(of: pipeline)
      for (pad, tap) in taps { #expect(PadRecord(tap).buffers == expected[pad]?.buffers) }
    }
  }

  // MARK: An index that comes late

  @Test("large media before the index of an unseekable source is kept in a file, and played")
  func spooled() async throws {
    try await OwnMovie.make(path, frames: 40)
    let expected = try await DemuxRun.file(path, pads)
    for (size, isTold) in [(1 << 20, false), (40 << 20, true)] {
      let late = folder.path("late.mov")
      try Data(delayingIndex(by: size)).write(to: URL(filePath: late))
      // Downstream of this, seeks are impossible.
      let pipeline = try pipeline(
        "fdsrc name=source blocksize=65536 ! mvhevcdemux name=d " + DemuxRun.sinks(pads))
      let file = try FileHandle(forReadingFrom: URL(filePath: late))
      let pipe = Pipe()
      defer { try? pipe.fileHandleForReading.close() }
      Thread.detachNewThread {
        while let data = try? file.read(upToCount: 1 << 20), !data.isEmpty {
          try? pipe.fileHandleForWriting.write(contentsOf: data)
        }
        try? pipe.fileHandleForWriting.close()
      }
      pipeline.element(named: "source")?.set(
        "fd", "\(pipe.fileHandleForReading.fileDescriptor)")
      let taps = try pads.map { ($0, try Tap(pipeline.element(named: $0)?.staticPad("sink"))) }
      let warnings = try await play(pipeline).warnings
      #expect(warnings.contains { $0.contains("temporary file") } == isTold, "\(warnings)")
      for (pad, tap) in taps { #expect(PadRecord(tap).buffers == expected[pad]?.buffers) }
    }
  }

  // MARK: Seeks that are refused

  @Test(
    "a flushing seek that makes no sense drops nothing, and playback continues",
    arguments: ["", "queue !"])
  func refusedSeek(between: String) async throws {
    try await OwnMovie.make(path, frames: 60)
    let expected = try await DemuxRun.file(path, pads)
    let pipeline = try pipeline(
      "filesrc location=\(path) blocksize=1024 ! \(between) mvhevcdemux name=d "
        + pads.map { "d.\($0) ! queue max-size-buffers=2 ! fakesink name=\($0) " }.joined())
    let taps = try pads.map { ($0, try Tap(pipeline.element(named: $0)?.staticPad("sink"))) }
    defer { pipeline.setState(.null) }
    pipeline.setState(.paused)
    try #require(pipeline.waitForState())
    // From after its own end.
    let isDone = gst_element_seek(
      pipeline.pointer, 1, GST_FORMAT_TIME, GST_SEEK_FLAG_FLUSH, GST_SEEK_TYPE_SET,
      gint64(ClockTime.second.nanoseconds), GST_SEEK_TYPE_SET,
      gint64((ClockTime.second / 2).nanoseconds))
    #expect(isDone == 0)
    pipeline.setState(.playing)
    try await messages(of: pipeline)
    for (pad, tap) in taps {
      #expect(!tap.events.contains { $0.type == GST_EVENT_FLUSH_START }, "\(pad)")
      #expect(PadRecord(tap) == expected[pad], "\(pad)")
    }
  }

  // MARK: Times of elementary streams

  @Test("a stream without timestamps gets those of the requested framerate")
  func frameRate() async throws {
    try await OwnMovie.make(path, frames: 12)
    let stream = folder.path("stream.hevc")
    try Data(MovieFile(path).videoByteStream()).write(to: URL(filePath: stream))
    for between in ["", "queue !"] {
      for pad in ["left", "right", "video_0"] {
        let pipeline = try pipeline(
          "filesrc location=\(stream) ! \(between) mvhevcdemux name=d framerate=25/2 "
            + "d.\(pad) ! fakesink name=sink")
        let tap = try Tap(pipeline.element(named: "sink")?.staticPad("sink"))
        try await play(pipeline)
        let shown = tap.buffers.filter { !$0.buffer.flags.contains(.decodeOnly) }
        let times = shown.compactMap(\.runningTime).sorted()
        #expect(times.count == 12 && times.first == 0, "\(pad) \(between)")
        #expect(zip(times, times.dropFirst()).allSatisfy { $1 - $0 == 80_000_000 }, "\(times)")
        #expect(shown.first?.caps.first?.fraction("framerate") == Fraction(25, 2), "\(pad)")
      }
    }
  }
}
