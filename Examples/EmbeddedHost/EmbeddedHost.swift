// SPDX-License-Identifier: MPL-2.0

import PipelineHost

/// Converts side-by-side movies to spatial movies in parallel, as an application would:
///
///     EmbeddedHost pipelines/sbs-to-mvhevc.yaml one.mp4 two.mp4
@main
enum EmbeddedHost {
  static func main() async {
    let arguments = CommandLine.arguments.dropFirst()
    guard let file = arguments.first, arguments.count > 1 else {
      return print("usage: EmbeddedHost PIPELINE MOVIE…")
    }
    await withTaskGroup(of: Void.self) { group in
      for movie in arguments.dropFirst() {
        group.addTask { await convert(movie, with: file) }
      }
    }
  }

  static func convert(_ movie: String, with file: String) async {
    do {
      // Errors in the file and in its arguments are thrown here.
      let pipeline = try HostedPipeline.load(file, arguments: ["input=\(movie)"])
      var options = PipelineRun.Options()
      options.overwrites = true
      let run = PipelineRun(pipeline, options: options)
      async let summary = run.run()
      for await event in run.events {
        switch event {
        case .progress(let progress):
          if let fraction = progress.fraction { print("\(movie): \(Int(fraction * 100)) %") }
          // A movie longer than a minute is cut off there, but finished properly.
          if let position = progress.position, position > .seconds(60) { run.stop() }
        case .warning(let warning): print("\(movie): \(warning.message)")
        case .kept(let path): print("\(movie): the part written so far is in \(path)")
        // Only streams have segments.
        case .segment, .silence: break
        }
      }
      print("\(movie): wrote \(try await summary.outputs.joined(separator: ", "))")
    } catch {
      print("\(error)")
    }
  }
}
