import Foundation
import TestKit
import Testing

/// `make install`.
@Suite(.timeLimit(.minutes(2)))
struct InstallTests {
  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
  }

  /// What a program prints; it must succeed.
  @discardableResult
  private func run(_ program: String, _ arguments: [String], path: String? = nil) throws -> String {
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = [program] + arguments
    process.currentDirectoryURL = Repository.url
    if let path {
      // As where nothing but the installation is there.
      process.environment = ["PATH": path + ":/usr/bin:/bin", "HOME": folder.url.path]
    }
    let output = Pipe()
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = output
    process.standardError = output
    try process.run()
    let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    guard process.terminationStatus == 0 else { throw Failure("\(program): \(text)") }
    return text
  }

  private static func has(_ program: String) -> Bool {
    FileManager.default.isExecutableFile(atPath: "/usr/bin/" + program)
  }

  @Test("everything is in its place, the shells take the completions, and the command runs there")
  func install() throws {
    _ = try #require(Repository.built, "scripts/test builds what is installed")
    // What is built is there: building within a test would wait for the test's own lock.
    try run(
      "make",
      [
        "-s", "-o", "setup", "-o", "plugin", "-o", "command", "install",
        "DESTDIR=\(folder.url.path)", "PREFIX=/opt",
        "PLUGIN_FOLDER=/plugins", "PRESET_FOLDER=/presets",
      ])
    let share = folder.path("opt/share")
    let bash = share + "/bash-completion/completions/gst-spatial"
    let zsh = share + "/zsh/site-functions/_gst-spatial"
    let fish = share + "/fish/vendor_completions.d/gst-spatial.fish"
    let manual = share + "/man/man1/gst-spatial.1"
    for path in [
      bash, zsh, fish, manual, folder.path("plugins/libgstspatial.so"),
      folder.path("opt/bin/gst-spatial"), folder.path("presets/GstMVHEVCMux.prs"),
    ] {
      #expect(FileManager.default.fileExists(atPath: path), "\(path)")
    }
    let bin = folder.path("opt/bin")
    #expect(try run("gst-spatial", ["list"], path: bin).contains("sbs-to-mvhevc  "))
    let loaded = try run("bash", ["-c", "source '\(bash)' && complete -p gst-spatial"], path: bin)
    #expect(loaded.contains("-F _gst-spatial gst-spatial"))
    if Self.has("zsh") { try run("zsh", ["-n", zsh]) }
    if Self.has("fish") { try run("fish", ["--no-execute", fish]) }
    if Self.has("man") {
      let page = try run("man", ["--warnings", "-l", manual])
      #expect(page.contains("GST-SPATIAL(1)") && !page.contains("warning:"))
    }
  }

  @Test("bash completes subcommands, ready pipelines and their parameters")
  func completion() throws {
    let built = try #require(Repository.built)
    let script = try run(
      built.appending(path: "gst-spatial").path, ["--generate-completion-script", "bash"])
    let file = try folder.write(script, to: "completion")
    func complete(_ words: String...) throws -> [String] {
      let line = words.map { "'\($0)'" }.joined(separator: " ")
      let text = words.joined(separator: " ")
      return try run(
        "bash",
        [
          "-c",
          """
          source '\(file)'; COMP_WORDS=(\(line)); COMP_CWORD=\(words.count - 1); \
          COMP_LINE='\(text)'; COMP_POINT=\(text.count); COMP_TYPE=9; COMP_KEY=9; \
          _gst-spatial gst-spatial '\(words[words.count - 1])' '\(words[words.count - 2])'; \
          printf '%s\\n' "${COMPREPLY[@]}"
          """,
        ], path: built.path
      ).split(separator: "\n").map { String($0).trimmingCharacters(in: .whitespaces) }
    }
    #expect(try complete("gst-spatial", "conv").contains("convert"))
    #expect(try complete("gst-spatial", "run", "sbs").contains("sbs-to-mvhevc"))
    #expect(try complete("gst-spatial", "run", "sbs-to-mvhevc", "qua").contains("quality="))
  }
}
