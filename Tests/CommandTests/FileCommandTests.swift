// SPDX-License-Identifier: MPL-2.0

import Foundation
import StereoVideo
import TestKit
import Testing

/// Subcommands that run no pipeline.
@Suite(.tags(.process))
struct FileCommandTests {
  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
  }

  @Test("every subcommand's help has examples")
  func help() throws {
    let root = try Command.run(["--help"], in: folder)
    #expect(root.status == 0)
    let list = root.output.components(separatedBy: "SUBCOMMANDS:").last ?? ""
    let names = list.split(separator: "\n").filter { $0.hasPrefix("  ") && !$0.hasPrefix("   ") }
      .compactMap { $0.split(separator: " ").first.map(String.init) }
    #expect(names.count >= 5)
    for name in names where name != "See" && name != "help" {
      let page = try Command.run(["help", name], in: folder)
      #expect(page.output.contains("EXAMPLES"), "\(name)")
      #expect(page.output.contains("gst-spatial \(name)"), "\(name)")
    }
  }

  @Test("a file's own parameters are its help")
  func parameterHelp() throws {
    let page = try Command.run(["run", "sbs-to-mvhevc", "--help"], in: folder)
    #expect(page.status == 0)
    #expect(page.output.hasPrefix("Turn a side-by-side 3D movie into an MV-HEVC spatial movie.\n"))
    #expect(page.output.contains("USAGE: gst-spatial run sbs-to-mvhevc input=PATH"))
    #expect(page.output.contains("in degrees, 1 to 360, default 63.4"))
  }

  @Test("all ready pipelines are listed, and none has a mistake")
  func readyPipelines() throws {
    let list = try Command.run(["list", "--json"], in: folder)
    let items = try #require(
      JSONSerialization.jsonObject(with: Data(list.output.utf8)) as? [[String: Any]])
    let names = items.compactMap { $0["name"] as? String }
    let files = try FileManager.default.contentsOfDirectory(
      atPath: Repository.url.appending(path: "pipelines").path)
    let yaml = files.filter { $0.hasSuffix(".yaml") }
    #expect(names == yaml.map { $0.replacing(".yaml", with: "") }.sorted())
    let check = try Command.run(["check"] + names, in: folder)
    #expect(check.status == 0 && check.errors.isEmpty, "\(check.errors)")
  }

  @Test("all mistakes of a file come at once, with their places, and exit code 2")
  func mistakes() throws {
    let file = try folder.write(
      """
      elements:
        source: { type: videotestsr, pattern: snow }
        mux: { type: mvhevcmux, qualty: 3, hero-eye: middle, bitrate: -2 }
      links:
        - source -> mux.middle
      """, to: "a.yaml")
    let check = try Command.run(["check", file], in: folder)
    #expect(check.status == 2)
    #expect(
      check.errors.contains(
        """
        \(file):2:19: error: no element type 'videotestsr' is installed
        2 |   source: { type: videotestsr, pattern: snow }
          |                   ^~~~~~~~~~~
          = did you mean 'videotestsrc'?
        """))
    for text in [
      "did you mean 'quality'?", "it is one of none, left, right",
      "'bitrate' must be at least 0, not -2", "has no pad 'middle'",
    ] {
      #expect(check.errors.contains(text), "\(text)")
    }
    let json = try Command.run(["check", "--json", file], in: folder)
    let items = try #require(
      JSONSerialization.jsonObject(with: Data(json.output.utf8)) as? [[String: Any]])
    #expect(items.count == 5 && json.status == 2)
  }

  @Test("an explanation is a pipeline file without parameters")
  func explain() throws {
    let explained = try Command.run(
      ["explain", "sbs-to-mvhevc", "input=a b.mp4", "quality=7"], in: folder)
    #expect(explained.status == 0)
    #expect(explained.output.contains("location: \"a b.mp4\""))
    #expect(explained.output.contains("quality: 7"))
    let file = try folder.write(explained.output, to: "explained.yaml")
    _ = try folder.write("", to: "a b.mp4")
    #expect(try Command.run(["check", file], in: folder).status == 0)
  }

  @Test("the schema is JSON")
  func schema() throws {
    let schema = try Command.run(["schema"], in: folder)
    let object = try JSONSerialization.jsonObject(with: Data(schema.output.utf8))
    #expect((object as? [String: Any])?["title"] as? String == "gst-spatial pipeline file")
  }

  @Test(
    "a mistyped word is reported with a suggestion",
    arguments: [
      (["rnu"], 64, "error: there is no command 'rnu'\n = did you mean 'run'?\n"),
      (["sbs-to-mvhevc"], 64, "did you mean 'gst-spatial run sbs-to-mvhevc'?"),
      (["run", "sbs-to-mvhvc"], 2, "did you mean 'sbs-to-mvhevc'?"),
      (["explain", "retga"], 2, "did you mean 'retag'?"),
      (["graph", "no.yaml"], 2, "error: there is no file 'no.yaml'"),
      (["check", "nothing-like-it"], 2, "'gst-spatial list' lists the ready pipelines"),
      (["run", "input=a.mp4", "sbs-to-mvhevc"], 2, "specify the pipeline first"),
      (["run", "sbs-to-mvhevc", "a.mp4"], 2, "did you mean input=a.mp4?"),
      (["run", "sbs-to-mvhevc", "input=a", "qualty=3"], 2, "did you mean 'quality'?"),
      (["run", "sbs-to-mvhevc", "input=a.mp4"], 2, "there is no file 'a.mp4'"),
      (["run", "sbs-to-mvhevc", "input=."], 2, "'.' is a folder, not a file"),
      (["run", "live-test-to-mvhevc", "output=."], 2, "'output' must end in .mov or .mp4"),
      (["run", "live-test-to-mvhevc", "output=no/a.mov"], 2, "there is no folder 'no'"),
      (["info", "a.mov"], 2, "'a.mov' cannot be read as a movie: No such file or directory"),
      (["frames", "a.mov", "--at", "1s"], 2, "No such file or directory"),
      (["frames", "a.mov", "--at", "soon"], 64, "'soon' is not a time"),
    ])
  func mistyped(arguments: [String], status: Int32, message: String) throws {
    let result = try Command.run(arguments, in: folder)
    #expect(result.status == status && result.output.isEmpty)
    #expect(result.errors.contains(message), "\(result.errors)")
    #expect(folder.names.isEmpty)
  }

  @Test("a program without its ready pipelines says so", arguments: [["list"], ["run", "retag"]])
  func missingPipelines(arguments: [String]) throws {
    let alone = folder.path("gst-spatial")
    let built = try #require(Repository.built?.appending(path: "gst-spatial").path)
    try FileManager.default.copyItem(atPath: built, toPath: alone)
    let environment = ProcessInfo.processInfo.environment.filter {
      $0.key != "GST_SPATIAL_PIPELINES"
    }
    let result = try Program.run([alone] + arguments, environment: environment, inherits: false)
    #expect(result.status == 2)
    #expect(result.output.contains("GST_SPATIAL_PIPELINES"), "\(result.output)")
  }

  @Test("the program, the plugin and the changelog have one version")
  func version() throws {
    let version = try Command.run(["--version"], in: folder).output
      .trimmingCharacters(in: .whitespacesAndNewlines)
    #expect(version == ProjectVersion.current)
    let changelog = try String(
      contentsOf: Repository.url.appending(path: "CHANGELOG.md"), encoding: .utf8)
    #expect(changelog.contains("## \(version) - \(ProjectVersion.releaseDate)\n"))
  }

  @Test("wrong usage has its own exit code")
  func usage() throws {
    #expect(try Command.run(["run"], in: folder).status == 64)
    #expect(try Command.run(["no-such-command"], in: folder).status == 64)
  }

  @Test("mistakes of all stages come at once")
  func stages() throws {
    let file = try folder.write(
      """
      parameters:
        input: { type: path, required: true }
        fov: { type: number, maximum: 360, default: 400 }
      elements:
        source: { type: filesrc, location: "${inptu}" }
        demux: { type: mvhevcdemux, speed: 3 }
        mux: { type: mvhevcmux, qualty: 3 }
        sink: { type: filesink, location: no/such/folder/out.mov }
      links:
        - source -> demux
        - demux.video_%u -> queue(max-size-tme=3s) -> mux.video_%u
        - mux => sink
        - demux.nothing -> fakesink
      """, to: "a.yaml")
    let check = try Command.run(["check", file], in: folder)
    #expect(check.status == 2)
    for text in [
      "'fov' must be at most 360", "no parameter is named 'inptu'", "has no property 'speed'",
      "did you mean 'quality'?", "there is no folder 'no/such/folder'", "'max-size-tme'",
      "a link is written with '->'", "has no pad 'nothing'",
    ] {
      #expect(check.errors.contains(text), "\(text)\n\(check.errors)")
    }
  }

  @Test("consequences of a mistake are not reported as further mistakes")
  func followingMistakes() throws {
    let file = try folder.write(
      """
      elements: { mux: { type: mvhevcmux }, sink: { type: fakesink } }
      links:
        - videotestsrc -> mxu.left
        - mux -> sink
      """, to: "a.yaml")
    let json = try Command.run(["check", "--json", file], in: folder)
    let items = try #require(
      JSONSerialization.jsonObject(with: Data(json.output.utf8)) as? [[String: Any]])
    #expect(items.count == 1, "\(json.output)")
  }

  @Test("all commands take values and write files in the same way")
  func consistency() throws {
    let file = try folder.write(
      """
      parameters: { count: { type: integer, maximum: 9, default: 3 } }
      links: ["videotestsrc(num-buffers=${count}) -> fakesink"]
      """, to: "a.yaml")
    for command in ["check", "run", "explain", "graph"] {
      for value in [["count=10"], ["--with", "count=10"]] {
        let result = try Command.run([command, file] + value, in: folder)
        #expect(result.status == 2 && result.errors.contains("at most 9"), "\(command)")
      }
    }
    for (number, command) in [
      ["explain", file], ["graph", file], ["graph", file, "--dot"], ["schema"],
      ["import", "videotestsrc ! fakesink"],
    ].enumerated() {
      let printed = try Command.run(command, in: folder).output
      let path = folder.path("\(number)")
      let options = number.isMultiple(of: 2) ? ["-o", path] : ["--output", path]
      #expect(try Command.run(command + options, in: folder).status == 0)
      // A terminal and a file have other widths.
      #expect(try String(contentsOfFile: path, encoding: .utf8) == printed)
      let refused = try Command.run(command + options, in: folder)
      #expect(refused.status == 3 && refused.errors.contains("already exists"))
      #expect(try Command.run(command + options + ["-y"], in: folder).status == 0)
    }
  }
}
