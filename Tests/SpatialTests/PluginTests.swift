// SPDX-License-Identifier: MPL-2.0

import CGStreamer
import Foundation
import GStreamer
import SpatialElements
import TestElements
import TestKit
import Testing

/// The plugin file, and what GStreamer's tools say of it.
@Suite(.tags(.process))
struct PluginTests {
  static let elements: [String] = {
    // What declares them makes caps.
    initialize()
    return spatialPlugin.elementNames
  }()
  private let library: String

  init() throws {
    try BuiltPlugin.require()
    let folders = ProcessInfo.processInfo.environment["GST_PLUGIN_PATH"] ?? ""
    let files = folders.split(separator: ":").map { "\($0)/libgstspatial.so" }
    library = try #require(files.first { FileManager.default.fileExists(atPath: $0) })
  }

  @Test("gst-inspect prints a complete page for each element", .tags(.process), arguments: elements)
  func inspection(element: String) throws {
    let ended = try Program.run(
      ["gst-inspect-1.0", "--no-colors", element], environment: ["G_DEBUG": "fatal-warnings"])
    #expect(ended.status == 0)
    for heading in [
      "Long-name", "Klass", "Description", "Author", "Pad Templates:", "Pads:",
      "Element Properties:",
    ] {
      #expect(ended.output.contains(heading), "\(heading)")
    }
    #expect(!ended.output.contains("CRITICAL") && !ended.output.contains("WARNING"))
    // A property's line is `  name                : blurb`.
    let properties = ended.output.components(separatedBy: "Element Properties:").last ?? ""
    for line in properties.split(separator: "\n")
    where line.hasPrefix("  ") && !line.hasPrefix("   ") && line.contains(where: { $0 != " " }) {
      #expect((line.split(separator: ":", maxSplits: 1).last?.count ?? 0) > 8, "\(line)")
    }
  }

  @Test("the plugin loads in a process with an empty environment", .tags(.process))
  func emptyEnvironment() throws {
    let folder = try TemporaryFolder()
    let ended = try Program.run(
      [
        "-i", "GST_PLUGIN_PATH=\(URL(filePath: library).deletingLastPathComponent().path)",
        "GST_REGISTRY=\(folder.path("registry"))", "/usr/bin/gst-inspect-1.0", "spatial",
      ], inherits: false)
    #expect(ended.status == 0, "\(ended.output)")
    for element in Self.elements { #expect(ended.output.contains(element)) }
    let next = try Program.run(
      [
        "-i", "GST_PLUGIN_PATH=\(URL(filePath: library).deletingLastPathComponent().path)",
        "GST_REGISTRY=\(folder.path("registry"))", "/usr/bin/gst-inspect-1.0", "-b",
      ], inherits: false)
    #expect(!next.output.contains("gstspatial"))
  }

  @Test("the plugin needs no Swift library, and exports its descriptor alone", .tags(.process))
  func symbols() throws {
    let libraries = try Program.run(["ldd", library]).output
    #expect(libraries.contains("libgstreamer-1.0"))
    #expect(!libraries.contains("libswift"))
    #expect(!libraries.contains("libx265"))
    #expect(!libraries.contains("not found"))
    let symbols = try Program.run(["nm", "-D", "--defined-only", "--extern-only", library]).output
    let exported = symbols.split(separator: "\n").compactMap { $0.split(separator: " ").last }
      .filter { $0.contains("gst") }
    #expect(exported == ["gst_plugin_spatial_get_desc"])
  }

  @Test("reading opens no libx265, and encoding does", .tags(.process))
  func opensX265() throws {
    let folder = try TemporaryFolder()
    let path = folder.path("movie.mov")
    /// The files that the loader opens for a line of gst-launch.
    func opened(_ line: String) throws -> String {
      let trace = folder.path("trace")
      let ended = try Program.run(
        ["gst-launch-1.0", "-q"] + line.words,
        environment: [
          "LD_DEBUG": "files", "LD_DEBUG_OUTPUT": trace, "GST_REGISTRY_UPDATE": "no",
        ])
      #expect(ended.status == 0, "\(ended.output)")
      let files = folder.names.filter { $0.hasPrefix("trace.") }.map { folder.path($0) }
      defer { for file in files { try? FileManager.default.removeItem(atPath: file) } }
      return try files.map { try String(contentsOfFile: $0, encoding: .utf8) }.joined()
    }
    #expect(try opened("\(LifeCycleTests.movie)\(path)").contains("libx265.so."))
    let reading = try opened(
      "filesrc location=\(path) ! mvhevcdemux name=d "
        + "d.left ! queue ! fakesink d.right ! queue ! fakesink")
    #expect(reading.contains("libgstspatial.so"))
    #expect(!reading.contains("libx265.so"))
  }

  @Test("without libx265 movies can be read, and encoding says what is missing", .tags(.process))
  func withoutX265() throws {
    let folder = try TemporaryFolder()
    let path = folder.path("movie.mov")
    #expect(
      try Program.run(["gst-launch-1.0", "-q"] + "\(LifeCycleTests.movie)\(path)".words).status == 0
    )
    let x265 = try Program.run(["ldconfig", "-p"], environment: ["PATH": "/usr/sbin:/sbin"]).output
      .split(separator: "\n").filter { $0.contains("libx265.so.") }
      .compactMap { String($0.drop { $0.isWhitespace }).words.first }
    try #require(!x265.isEmpty)
    for name in x265 { try Data().write(to: URL(filePath: folder.path(name))) }
    let without = ["LD_LIBRARY_PATH": folder.path("")]
    let read = try Program.run(
      ["gst-launch-1.0", "-q"] + "filesrc location=\(path) ! mvhevcdemux ! fakesink".words,
      environment: without)
    #expect(read.status == 0, "\(read.output)")
    let written = try Program.run(
      ["gst-launch-1.0", "-q"] + LifeCycleTests.stream.words, environment: without)
    #expect(written.output.contains("libx265, the encoder, cannot be used"), "\(written.output)")
    #expect(written.output.contains("file too short"), "\(written.output)")
  }
}

@Suite("Presets")
struct PresetTests {
  @Test(
    "each encoding element has presets for 1080p, 4K and live use",
    arguments: ["mvhevcmux", "mvhevcenc", "mvhevcsbsenc"])
  func presets(_ name: String) throws {
    try BuiltPlugin.require()
    let folder = Repository.url.appending(path: "Plugins/Spatial/Presets").path
    // It can be set once in a process.
    gst_preset_set_app_dir(folder)
    for (preset, keyframeDistance) in [("1080p", 60), ("4K", 60), ("live", 30)] as [(String, Int32)]
    {
      let element = try Element(name)
      element.set("key-int-max", "7")
      #expect(gst_preset_load_preset(OpaquePointer(element.pointer), preset) != 0)
      guard case .int(let value) = element.get("key-int-max") else {
        throw Failure("no key-int-max")
      }
      #expect(value == keyframeDistance, "\(preset)")
    }
  }
}
