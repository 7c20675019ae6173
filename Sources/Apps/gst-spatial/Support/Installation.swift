// SPDX-License-Identifier: MPL-2.0

internal import ArgumentParser
internal import GStreamer
internal import Glibc
internal import PipelineFile
internal import PipelineHost

/// The location of gst-spatial's parts: in the build folder, or where `make install` puts them.
enum Installation {
  /// The folder of the running program.
  static let folder: String? = {
    guard let path = realpath("/proc/self/exe", nil) else { return nil }
    defer { free(path) }
    return String(cString: path).lastIndex(of: "/").map { String(String(cString: path)[..<$0]) }
  }()

  /// Initializes GStreamer with the elements that are linked into the program.
  static func prepare() -> InstalledElements {
    let registry = InstalledElements()
    preferOwnDemuxer()
    return registry
  }

  /// Lets `parsebin` and `decodebin` read QuickTime and MP4 with the project's demuxer: `qtdemux`
  /// hides chapters, time codes and metadata, so that a conversion would lose them. A rank of
  /// either in GST_PLUGIN_FEATURE_RANK takes precedence.
  private static func preferOwnDemuxer() {
    let ranks = getenv("GST_PLUGIN_FEATURE_RANK").map { String(cString: $0) } ?? ""
    guard !ranks.contains("mvhevcdemux"), !ranks.contains("qtdemux"),
      let own = ElementFactory.named("mvhevcdemux"),
      let other = ElementFactory.named("qtdemux")
    else { return }
    // Layered movies stay with 'mvhevcautodemux', which has this rank and comes first by name.
    if own.rank <= other.rank, other.rank < .max { own.rank = other.rank + 1 }
  }

  /// The folder of the ready pipelines.
  static let pipelines: String? = {
    var candidates: [String] = []
    if let given = getenv("GST_SPATIAL_PIPELINES") { candidates.append(String(cString: given)) }
    if let folder {
      // In the build tree, the program is in .build/<platform>/release.
      candidates.append(folder + "/../../../pipelines")
      candidates.append(folder + "/../share/gst-spatial/pipelines")
    }
    return candidates.first { access($0, X_OK) == 0 }.map(LocalFiles().canonicalPath)
  }()

  /// The error if there are no ready pipelines.
  static let missingPipelines = Diagnostics([
    Diagnostic(
      .error, "the folder of the ready pipelines is missing", at: nil,
      help: "run 'make install', or set GST_SPATIAL_PIPELINES to its path")
  ])

  /// Returns the path of a pipeline, which is given as a path or as the name of a ready one. Throws
  /// an error with a suggestion if there is neither.
  static func path(ofPipeline name: String) throws(PipelineProblems) -> String {
    guard access(name, F_OK) != 0 else { return name }
    if !name.contains("/"), let pipelines {
      let file = "\(pipelines)/\(name)" + (name.hasSuffix(".yaml") ? "" : ".yaml")
      if access(file, F_OK) == 0 { return file }
    }
    let isFile = name.contains("/") || name.contains(".")
    if !isFile, pipelines == nil { throw PipelineProblems(missingPipelines) }
    let known = readyPipelines().map(\.name)
    var help = "'gst-spatial list' lists the ready pipelines"
    if name.contains("=") {
      help = "specify the pipeline first, then its parameters"
    } else if let meant = Suggestion.closest(to: name.replacing(".yaml", with: ""), among: known) {
      help = "did you mean '\(meant)'?"
    }
    let what =
      isFile ? "there is no file '\(name)'" : "there is no ready pipeline or file '\(name)'"
    throw PipelineProblems(Diagnostics([Diagnostic(.error, what, at: nil, help: help)]))
  }

  /// The names and paths of the ready pipelines.
  static func readyPipelines() -> [(name: String, path: String)] {
    guard let pipelines, let folder = opendir(pipelines) else { return [] }
    defer { closedir(folder) }
    var names: [String] = []
    while let entry = readdir(folder) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) {
        $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      }
      if name.hasSuffix(".yaml") { names.append(String(name.dropLast(5))) }
    }
    return names.sorted().map { ($0, "\(pipelines)/\($0).yaml") }
  }
}

extension PipelineFile {
  /// Reads a file by its path, or by the name of a ready pipeline. Prints errors and warnings;
  /// throws the exit code if the file cannot be used.
  static func ready(_ name: String) throws -> PipelineFile {
    let path: String
    do {
      path = try Installation.path(ofPipeline: name)
    } catch {
      error.diagnostics.print()
      throw ExitCode.mistakes
    }
    let (file, diagnostics) = PipelineFile.read(path: path, loading: LocalFiles.bytes)
    diagnostics.print()
    guard let file else { throw ExitCode.mistakes }
    return file
  }
}
