// SPDX-License-Identifier: MPL-2.0

internal import ArgumentParser
internal import Glibc
internal import MovieParts
internal import PipelineFile

struct PartCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "part", abstract: "Encode one part of a planned conversion.",
    discussion: """
      A part that is there is not encoded again, and two processes may encode the same part: its \
      bytes depend on the plan alone. Without a number, that of the engine's task is used: \
      \(PartNumber.names.joined(separator: ", ")).

      Exit code 2 means that trying again mends nothing, 1 that it may.

      EXAMPLES
        gst-spatial part work 0
        gst-spatial part work 0 --quiet

      A plan of two passes has all parts measured first, with --measure.
      """)

  @Argument(help: "The folder of the plan.", completion: .directory)
  var folder: String

  @Argument(help: "The number of the part, from 0.")
  var number: Int?

  @Flag(help: "Run the first of two passes.")
  var measure = false

  @Flag(name: .shortAndLong, help: "Print only warnings and errors.")
  var quiet = false

  func run() async throws {
    try await reportingPartErrors {
      guard let number = try number ?? PartNumber.number(in: environment) else {
        throw PartError(
          .final, "the number of the part is missing",
          help: "gst-spatial part \(folder) 0, or run it as a task of an array")
      }
      let work = WorkFolder(folder)
      let plan = try work.plan()
      let encoder = try PartEncoder(work, part: number)
      let path = try Installation.path(ofPipeline: plan.pipeline)
      let registry = Installation.prepare()
      let outcome =
        measure
        ? try await encoder.measure(path, registry, warn: printWarning)
        : try await encoder.encode(path, registry, warn: printWarning)
      guard !quiet else { return }
      switch outcome {
      case .wasThere:
        Terminal.error.line(
          "part \(number) of \(plan.cuts.count) \(measure ? "has been measured" : "is there")")
      case .encoded(let receipt):
        let part = "part \(number) of \(plan.cuts.count)\(measure ? ", measured" : "")"
        Terminal.error.line(
          "\(part): \(receipt.pictureCount) pictures, \(NumberFormat.size(receipt.size)), in "
            + "\(NumberFormat.decimal(receipt.seconds, 1)) s")
      }
    }
  }

  private func environment(_ name: String) -> String? {
    getenv(name).map { String(cString: $0) }
  }
}
