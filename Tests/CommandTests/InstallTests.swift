// SPDX-License-Identifier: MPL-2.0

import Foundation
import TestKit
import Testing

/// `make install`, the tarball and the Debian package.
@Suite(.tags(.process))
struct InstallTests {
  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
  }

  /// What a program prints; it must succeed.
  @discardableResult
  private func run(
    _ program: String, _ arguments: [String], path: String? = nil,
    environment: [String: String] = [:]
  ) throws -> String {
    let result = try Program.run(
      [program] + arguments, in: Repository.url,
      // With a path, as if there were nothing but the installation.
      environment: path.map { ["PATH": $0 + ":/usr/bin:/bin", "HOME": folder.url.path] }
        ?? environment, inherits: path == nil)
    guard result.status == 0 else { throw Failure("\(program): \(result.output)") }
    return result.output
  }

  private static func has(_ program: String) -> Bool {
    FileManager.default.isExecutableFile(atPath: "/usr/bin/" + program)
  }

  /// `make`, as if nothing were older than its sources: building within a test would wait for the
  /// test's own lock, and adapters for other releases come from Debian's mirrors.
  private func make(_ arguments: String...) throws {
    _ = try #require(Repository.built, "scripts/test builds what is installed")
    // What is packed here is looked at and thrown away: it need not be small.
    try run(
      "make", ["-s", "-o", "setup", "-o", "plugin", "-o", "command", "-o", "adapters"] + arguments,
      environment: [
        "XZ_OPT": "-0", "DPKG_DEB_COMPRESSOR_LEVEL": "0", "DEB_BUILD_OPTIONS": "noautodbgsym",
      ])
  }

  /// The files below a folder, by their paths within it.
  private func files(below path: String) throws -> [String] {
    try run("find", [folder.path(path), "-type", "f", "-printf", "%P\\n"])
      .split(separator: "\n").map(String.init).sorted()
  }

  private static let share = [
    "share/bash-completion/completions/gst-spatial",
    "share/fish/vendor_completions.d/gst-spatial.fish",
    "share/gst-spatial/pipelines/sbs-to-mvhevc.yaml",
    "share/gstreamer-1.0/presets/GstMVHEVCMux.prs",
    "share/man/man1/gst-spatial.1",
    "share/metainfo/org.gst_spatial.gst_spatial.metainfo.xml",
    "share/zsh/site-functions/_gst-spatial",
    "share/gstreamer-1.0/encoding-profiles/file-extension/spatial.gep",
  ]
  private static let units = ["gst-spatial-channel@.service", "gst-spatial-serve.service"]
    .map { "lib/systemd/system/" + $0 }

  @Test("everything is below PREFIX, the shells take the completions, and the command runs there")
  func install() throws {
    try make("install", "DESTDIR=\(folder.url.path)", "PREFIX=/opt")
    let installed = try files(below: "opt")
    let expected =
      ["bin/gst-spatial", "lib/gstreamer-1.0/libgstspatial.so"] + Self.share + Self.units
    #expect(Set(expected).subtracting(installed).isEmpty, "\(installed)")
    let bin = folder.path("opt/bin")
    #expect(try run("gst-spatial", ["list"], path: bin).contains("sbs-to-mvhevc  "))
    // The plugin is found without being told where it is.
    try run("gst-spatial", ["check", "sbs-to-mvhevc"], path: bin)
    let completion = folder.path("opt/\(Self.share[0])")
    let loaded = try run(
      "bash", ["-c", "source '\(completion)' && complete -p gst-spatial"], path: bin)
    #expect(loaded.contains("-F _gst-spatial gst-spatial"))
    if Self.has("zsh") { try run("zsh", ["-n", folder.path("opt/\(Self.share[6])")]) }
    if Self.has("fish") { try run("fish", ["--no-execute", folder.path("opt/\(Self.share[1])")]) }
    if Self.has("man") {
      let page = try run("man", ["--warnings", "-l", folder.path("opt/\(Self.share[4])")])
      #expect(page.contains("GST-SPATIAL(1)") && !page.contains("warning:"))
    }
    for program in ["bin/gst-spatial", "lib/gstreamer-1.0/libgstspatial.so"] {
      let header = try run("readelf", ["-d", folder.path("opt/\(program)")])
      #expect(!header.contains("RUNPATH") && !header.contains("RPATH"), "\(program)")
    }
    try make("uninstall", "DESTDIR=\(folder.url.path)", "PREFIX=/opt")
    #expect(try files(below: "opt").isEmpty)
  }

  @Test(
    "with make x265-adapter, what is installed encodes with a libx265 that it was not built for")
  func adapter() throws {
    let build = try #require(X265.build)
    try make("install", "DESTDIR=\(folder.url.path)", "PREFIX=/opt")
    // Another libx265 that is there, in place of the one that this was built for.
    let libraries = try TemporaryFolder()
    let real = try #require(
      try run("/sbin/ldconfig", ["-p"]).split(separator: "\n")
        .first { $0.contains("libx265.so.\(build) ") }?.split(separator: " ").last)
    _ = try libraries.write("", to: "libx265.so.\(build)")
    let headers = try X265.makeHeaders(build: 901)
    let code = try folder.write(
      """
      #include <dlfcn.h>
      #include <x265.h>
      const x265_api *x265_api_get_901(int depth) {
        static x265_api api;
        const x265_api *(*get)(int) = dlsym(dlopen("\(real)", RTLD_NOW), "x265_api_get_\(build)");
        api = *get(depth);
        api.api_build_number = 901;
        return &api;
      }
      """, to: "x265.c")
    try run(
      "cc", ["-shared", "-fPIC", "-w", "-o", libraries.path("libx265.so.901"), code],
      environment: ["CPATH": headers.url.path])
    let line = """
      gst-launch-1.0 -q stereotestsrc num-buffers=2 ! video/x-raw,width=128,height=64 ! \
      sbssplit name=s s.left ! queue ! e.left s.right ! queue ! e.right \
      mvhevcenc name=e speed-preset=ultrafast ! fakesink 2>&1 || :
      """
    let environment = [
      "LD_LIBRARY_PATH": libraries.url.path, "GST_REGISTRY": folder.path("registry"),
      "GST_PLUGIN_PATH": folder.path("opt/lib/gstreamer-1.0"),
    ]
    func encoding() throws -> String { try run("sh", ["-c", line], environment: environment) }
    #expect(try encoding().contains("libx265, the encoder, cannot be used"))
    try run(
      "make", ["-s", "x265-adapter", "DESTDIR=\(folder.url.path)", "PREFIX=/opt"],
      environment: ["CPATH": headers.url.path])
    #expect(try files(below: "opt/lib/gst-spatial").contains("x265-901.so"))
    #expect(try encoding() == "")
    try make("uninstall", "DESTDIR=\(folder.url.path)", "PREFIX=/opt")
    #expect(try files(below: "opt").isEmpty)
  }

  /// Compiles an adapter for this machine's libx265, to be packed; gives its path in a package.
  private func makeAdapter(in adapters: TemporaryFolder) throws -> String {
    let file = try X265.makeAdapter(in: adapters)
    return "gst-spatial/" + URL(filePath: file).lastPathComponent
  }

  @Test("with GStreamer's own prefix, the plugin goes where GStreamer looks")
  func installForGStreamer() throws {
    let prefix = try run("pkg-config", ["--variable=prefix", "gstreamer-1.0"])
      .trimmingCharacters(in: .whitespacesAndNewlines)
    let plugins = try run("pkg-config", ["--variable=pluginsdir", "gstreamer-1.0"])
      .trimmingCharacters(in: .whitespacesAndNewlines)
    try make("install", "DESTDIR=\(folder.url.path)", "PREFIX=\(prefix)")
    #expect(FileManager.default.fileExists(atPath: folder.path(plugins + "/libgstspatial.so")))
    try make("uninstall", "DESTDIR=\(folder.url.path)", "PREFIX=\(prefix)")
    #expect(try files(below: "").isEmpty)
  }

  @Test("the tarball installs, runs and uninstalls", .tags(.exhaustive))
  func tarball() throws {
    let adapters = try TemporaryFolder()
    let adapter = try makeAdapter(in: adapters)
    try make("tarball", "PACKAGES=\(folder.path("packages"))", "ADAPTERS=\(adapters.url.path)")
    let archives = try files(below: "packages")
    let name = try #require(
      archives.first { $0.hasSuffix("-linux-x86_64.tar.xz") || $0.hasSuffix("-aarch64.tar.xz") })
    try run("tar", ["-C", folder.url.path, "-xf", folder.path("packages/\(name)")])
    let script = folder.path(name.replacing(".tar.xz", with: "/install.sh"))
    let prefix = folder.path("a prefix")
    try run(script, ["--prefix", prefix])
    let expected = Self.share + Self.units + ["lib/\(adapter)"]
    #expect(Set(expected).subtracting(try files(below: "a prefix")).isEmpty)
    let unit = try String(contentsOfFile: "\(prefix)/\(Self.units[0])", encoding: .utf8)
    #expect(unit.contains("ExecStart=\(prefix)/bin/gst-spatial run "), "\(unit)")
    try run("gst-spatial", ["check", "sbs-to-mvhevc"], path: prefix + "/bin")
    try run(script, ["--prefix", prefix, "--uninstall"])
    #expect(try files(below: "a prefix").isEmpty)
  }

  @Test(
    "systemd finds no mistake in the units",
    .enabled(if: has("systemd-analyze"), "systemd-analyze is not installed"))
  func units() throws {
    try make("install", "DESTDIR=\(folder.url.path)", "PREFIX=/opt")
    for unit in Self.units {
      // An instance, whose program is where it was installed.
      let name = URL(filePath: unit).lastPathComponent.replacing("@.", with: "@news.")
      let text = try String(contentsOfFile: folder.path("opt/\(unit)"), encoding: .utf8)
      let file = try folder.write(
        text.replacing("=/opt/", with: "=\(folder.path("opt"))/"), to: name)
      let told = try run("systemd-analyze", ["verify", "--man=no", file])
      #expect(told == "", "\(told)")
      let broken = try folder.write(
        text.replacing("Type=notify", with: "Type=notfy"), to: "broken-\(name)")
      #expect(try run("sh", ["-c", "systemd-analyze verify --man=no '\(broken)' 2>&1 || :"]) != "")
    }
  }

  @Test("the Debian package holds everything, and lintian finds no error", .tags(.exhaustive))
  func package() throws {
    let adapters = try TemporaryFolder()
    let adapter = try makeAdapter(in: adapters)
    try make("deb", "PACKAGES=\(folder.path("packages"))", "ADAPTERS=\(adapters.url.path)")
    let name = try #require(
      try files(below: "packages").first { $0.hasPrefix("gst-spatial_") && $0.hasSuffix(".deb") })
    let contents = try run("dpkg-deb", ["--contents", folder.path("packages/\(name)")])
    for path in Self.share + Self.units + [
      adapter, "bin/gst-spatial", "gstreamer-1.0/libgstspatial.so",
    ] {
      // dpkg compresses manual pages.
      #expect(contents.contains(path), "\(path)")
    }
    try run("lintian", ["--fail-on", "error", folder.path("packages/\(name)")])
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
