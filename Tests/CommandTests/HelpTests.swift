// SPDX-License-Identifier: MPL-2.0

import Foundation
import TestKit
import Testing

/// The examples of the help pages, as a person copies them.
@Suite(.tags(.process))
struct HelpTests {
  private static let hasGraphviz = FileManager.default.isExecutableFile(atPath: "/usr/bin/dot")

  /// The examples of a page: `gst-spatial …`, without the remark that may follow.
  private func examples(_ page: String) -> [String] {
    page.split(separator: "\n").filter { $0.hasPrefix("  gst-spatial ") }.map { line in
      let text = line.dropFirst(2)
      let isQuoted = text.contains("'")
      return isQuoted ? String(text) : text.components(separatedBy: "    ")[0]
    }
  }

  private func shell(_ line: String, in folder: URL) throws -> (status: Int32, text: String) {
    let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
    let result = try Program.run(
      ["sh", "-c", line], in: folder,
      environment: ["PATH": "\(#require(Repository.built).path):\(path)"])
    return (result.status, result.output)
  }

  @Test("every example of every help page does what it says")
  func examples() async throws {
    let folder = try TemporaryFolder()
    let files = folder.url.appending(path: "files")
    try FileManager.default.createDirectory(at: files, withIntermediateDirectories: false)
    func path(_ name: String) -> String { files.appending(path: name).path }
    try await TestMovie.sideBySide(path("movie.mp4"), frames: 8)
    try FileManager.default.copyItem(atPath: path("movie.mp4"), toPath: path("side-by-side.mp4"))
    let made = try shell(
      """
      gst-spatial convert movie.mp4 movie.mov preset=ultrafast || exit
      cp movie.mov spatial.mov
      cp movie.mov vr180.mp4
      cp movie.mp4 pictures.mp4
      cp movie.mp4 concert_180_LR.mp4
      printf 'time,yaw\\n0,0\\n9,90\\n' > camera.csv
      cp movie.mov take.incomplete.mov
      mkdir live movies
      cp movie.mp4 movies/film.mp4
      gst-spatial plan movie.mp4 joined.mov --work work preset=ultrafast || exit
      gst-spatial part work 0 || exit
      gst-spatial convert movie.mov left.mp4 right.mp4
      """, in: files)
    try #require(made.status == 0, "\(made.text)")
    try Data(
      """
      parameters: { input: { type: path, default: movie.mp4 } }
      elements: { source: { type: filesrc, location: "${input}" } }
      links: [source -> decodebin -> fakesink]
      """.utf8
    ).write(to: files.appending(path: "mine.yaml"))

    let root = try shell("gst-spatial --help", in: files).text
    let commands = (root.components(separatedBy: "SUBCOMMANDS:").last ?? "").split(separator: "\n")
      .filter { $0.hasPrefix("  ") && !$0.hasPrefix("   ") }
      .compactMap { $0.split(separator: " ").first.map(String.init) }
      .filter { $0 != "See" && $0 != "help" }
    var count = 0
    for page in [root] + (try commands.map { try shell("gst-spatial help \($0)", in: files).text })
    {
      let lines = examples(page)
      #expect(!lines.isEmpty)
      // PushCommandTests has a server.
      let runnable = lines.filter { !$0.hasPrefix("gst-spatial push") }
      for line in runnable where Self.hasGraphviz || !line.contains("--svg") {
        // Outputs of one example must not be in the way of another; jq need not be there.
        let place = folder.url.appending(path: "\(count)")
        try FileManager.default.copyItem(at: files, to: place)
        let command = line.components(separatedBy: " | jq")[0]
        // The examples are named as the outputs of others.
        let isConversion = command.hasPrefix("gst-spatial convert") && !command.contains("--dry")
        // A server serves until it is told to end, once it has said where it is.
        let isServer = ["serve", "view"].contains { command.hasPrefix("gst-spatial \($0)") }
        let start =
          isServer
          ? command
            + " >said 2>&1 & for try in $(seq 100); do grep -q http said && break; sleep 0.1; "
            + "done; sleep 0.2; kill -TERM $!; wait $!" : command
        // A player wants a screen, and one that loops plays until it is told to end.
        let screen =
          command.hasPrefix("gst-spatial play")
          ? "\(virtualScreen.map { "'\($0)'" }.joined(separator: " ")) " : ""
        // `timeout` runs under xvfb-run, so that the signal does not reach the screen.
        let end =
          command.contains("--loop")
          ? "\(screen)timeout --preserve-status -s INT 3 \(command); [ $? = 130 ]; exit; " : ""
        let result = try shell(
          end + screen + start + (isConversion ? " --force" : "")
            + (isConversion && !command.contains("--to") ? " preset=ultrafast" : ""),
          in: place)
        #expect(result.status == 0, "\(line): \(result.text)")
        try FileManager.default.removeItem(at: place)
        count += 1
      }
    }
    #expect(count > 25)
  }
}
