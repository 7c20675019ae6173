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
}
