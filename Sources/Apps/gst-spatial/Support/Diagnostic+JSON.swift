// SPDX-License-Identifier: MPL-2.0

internal import PipelineFile

extension JSON {
  init(_ diagnostic: Diagnostic) {
    var fields: [(String, JSON)] = [
      ("severity", .string(diagnostic.severity.rawValue)),
      ("message", .string(diagnostic.message)),
    ]
    if let location = diagnostic.location { fields.append(("location", JSON(location))) }
    if let help = diagnostic.help { fields.append(("help", .string(help))) }
    if !diagnostic.notes.isEmpty {
      fields.append(
        (
          "notes",
          .array(
            diagnostic.notes.map { note in
              ["message": .string(note.message), "location": note.location.map(JSON.init) ?? nil]
            })
        ))
    }
    self = .object(fields)
  }

  init(_ location: SourceLocation) {
    self = [
      "file": .string(location.file.name), "line": JSON(location.line),
      "column": JSON(location.column), "length": JSON(location.length),
    ]
  }
}

extension Diagnostics {
  /// On standard error, as a compiler prints it.
  func print() {
    Terminal.error.write(text(color: Terminal.error.hasColor))
  }
}
