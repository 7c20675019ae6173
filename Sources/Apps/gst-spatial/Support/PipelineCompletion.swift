// SPDX-License-Identifier: MPL-2.0

internal import ArgumentParser
internal import Glibc
internal import PipelineFile
internal import PipelineHost

/// What shells offer while a command line is typed.
enum PipelineCompletion {
  /// Ready pipelines by name, and the pipeline files of the current folder.
  static let file = CompletionKind.custom { _, _, prefix in
    let names = Installation.readyPipelines().map(\.name) + pipelineFiles()
    return names.filter { $0.hasPrefix(prefix) }
  }

  /// The parameters of the pipeline that stands in front of them.
  static let values = CompletionKind.custom { words, _, prefix in
    for word in words.dropFirst() where !word.hasPrefix("-") && !word.contains("=") {
      guard let path = try? Installation.path(ofPipeline: word),
        let file = PipelineFile.read(path: path, loading: LocalFiles.bytes).file
      else { continue }
      return file.parameters.map { $0.name + "=" }.filter { $0.hasPrefix(prefix) }
    }
    return []
  }

  static let movie = CompletionKind.file(extensions: ["mov", "mp4", "m4v"])

  private static func pipelineFiles() -> [String] {
    guard let folder = opendir(".") else { return [] }
    defer { closedir(folder) }
    var names: [String] = []
    while let entry = readdir(folder) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) {
        $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      }
      if name.hasSuffix(".yaml") || name.hasSuffix(".yml") { names.append(name) }
    }
    return names.sorted()
  }
}
