// SPDX-License-Identifier: MPL-2.0

import Foundation
import ISOBMFF
import TestKit
import Testing

/// Movies on a server, which are converted in parts without being copied.
@Suite(.tags(.process, .judge))
struct RemoteMovieTests {
  private let folder: EngineFolder

  init() async throws {
    folder = try EngineFolder()
    try FileManager.default.createDirectory(
      atPath: folder.path("served"), withIntermediateDirectories: false)
    try await TestMovie.sideBySide(
      folder.path("served/end.mp4"), frames: 150, width: 512, height: 128)
  }

  /// Calls `body` with the address of a server of the folder `served`.
  private func serving(_ body: (_ address: String) async throws -> Void) async throws {
    let tool = Repository.url.appending(path: "Tests/Tools/range_server.py").path
    let server = try Program(["python3", tool, folder.path("served")], errors: .shown)
    defer { server.kill() }
    let line = try server.wait(for: "\n")
    let port = try #require(Int(line.trimmingCharacters(in: .whitespacesAndNewlines)))
    try await body("http://127.0.0.1:\(port)")
  }

  @Test("a movie at a URL gives the bytes of the same file, wherever its index is")
  func sameBytes() async throws {
    _ = try await Program.output(
      of: [
        "ffmpeg", "-v", "error", "-i", "end.mp4", "-c", "copy", "-movflags", "+faststart",
        "beginning.mp4",
      ], in: folder.folder.url.appending(path: "served"))
    try await serving { address in
      // The layout of one is told by its pictures, that of the other by its name.
      try FileManager.default.copyItem(
        atPath: folder.path("served/beginning.mp4"), toPath: folder.path("served/a_SBS.mp4"))
      for (name, url) in [("end", "/end.mp4"), ("a_SBS", "/moved/a_SBS.mp4?signature=1&x=2")] {
        let local = try folder.shell(
          "gst-spatial convert served/\(name).mp4 \(name).mov --work local --parts 2s "
            + "preset=ultrafast --quiet; rm -r local")
        #expect(local.status == 0, "\(local.errors)")
        let remote = try folder.shell(
          """
          parts=$(gst-spatial plan '\(address)\(url)' remote.mov --work work --parts 2s \
            preset=ultrafast) && [ "$parts" = 3 ] || exit
          for n in 2 0 1; do gst-spatial part work $n || exit; done
          gst-spatial join work && rm -r work
          """)
        #expect(remote.status == 0, "\(remote.errors)")
        let isSame = try folder.bytes("remote.mov") == folder.bytes("\(name).mov")
        #expect(isSame, "\(name)")
        try FileManager.default.removeItem(atPath: folder.path("remote.mov"))
      }
    }
  }

  @Test("a range of a movie at a URL, with one command")
  func range() async throws {
    try await serving { address in
      let result = try folder.shell(
        "gst-spatial convert \(address)/end.mp4 range.mov --from 1 --until 2 preset=ultrafast")
      #expect(result.status == 0, "\(result.errors)")
      #expect(try MovieFile(folder.path("range.mov")).track("vide").samples.count == 30)
    }
  }

  @Test("what cannot be read is refused with the reason, and trying again only where it may help")
  func refusals() async throws {
    let served = folder.folder.url.appending(path: "served")
    _ = try folder.folder.write("no movie, but some text", to: "served/text.mp4")
    _ = try await Program.output(
      of: ["ffmpeg", "-v", "error", "-i", "end.mp4", "-c", "copy", "end.mkv"], in: served)
    _ = try await Program.output(
      of: [
        "ffmpeg", "-v", "error", "-i", "end.mp4", "-c", "copy", "-movflags",
        "frag_keyframe+empty_moov", "-frag_duration", "50000", "fragments.mp4",
      ], in: served)
    try await serving { address in
      func plan(_ path: String, _ status: Int32, _ words: String) throws {
        let result = try folder.shell(
          "gst-spatial plan '\(address)\(path)' b.mov --work none --layout side-by-side")
        #expect(result.status == status && result.errors.contains(words), "\(result.errors)")
        #expect(!result.errors.contains("gst-spatial-"), "\(result.errors)")
      }
      try plan("/missing.mp4", 2, "the server answers 404")
      try plan("/busy/end.mp4", 1, "the server answers 503")
      try plan("/whole/end.mp4", 2, "does not give parts of files")
      try plan("/unversioned/end.mp4", 2, "no ETag")
      try plan("/endless/end.mp4", 2, "too large")
      try plan("/text.mp4", 2, "is not QuickTime or MP4")
      try plan("/end.mkv", 2, "is not QuickTime or MP4")
      try plan("/fragments.mp4", 2, "has fragments")
      let whole = try folder.shell("gst-spatial convert \(address)/end.mp4 b.mov")
      #expect(whole.status == 2 && whole.errors.contains("--work"), "\(whole.errors)")

      let planned = try folder.shell(
        "gst-spatial plan \(address)/end.mp4 b.mov --work work --layout side-by-side")
      #expect(planned.status == 0, "\(planned.errors)")
      try Data(try folder.bytes("served/end.mp4").dropLast()).write(
        to: served.appending(path: "end.mp4"))
      let changed = try folder.shell("gst-spatial part work 0")
      #expect(
        changed.status == 2 && changed.errors.contains("its contents have changed"),
        "\(changed.errors)")
    }
    let gone = try folder.shell("gst-spatial part work 0")
    #expect(gone.status == 1 && gone.errors.contains("cannot be read"), "\(gone.errors)")
    #expect(!folder.names.contains("none"))
  }
}
