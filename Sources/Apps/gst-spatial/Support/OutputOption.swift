// SPDX-License-Identifier: MPL-2.0

internal import ArgumentParser
internal import Glibc
internal import PipelineFile

/// The options for the output file of a command that prints text.
struct OutputOption: ParsableArguments {
  @Option(name: .shortAndLong, help: "The file to write, instead of standard output.")
  var output: String?

  @Flag(name: [.customShort("y"), .long], help: "Replace an existing file.")
  var force = false

  func write(_ text: String) throws {
    guard let output else { return Terminal.output.write(text) }
    let mode = force ? O_TRUNC : O_EXCL
    let file = open(output, O_WRONLY | O_CREAT | mode | O_CLOEXEC, 0o666)
    guard file >= 0 else {
      let isThere = errno == EEXIST
      let reason =
        isThere ? "already exists; use --force to replace it" : String(cString: strerror(errno))
      Terminal.error.line("error: '\(output)' \(isThere ? reason : "cannot be written: \(reason)")")
      throw isThere ? ExitCode.wouldOverwrite : ExitCode.failure
    }
    defer { close(file) }
    Terminal(descriptor: file).write(text)
  }
}

/// Formatting of numbers for the user.
enum NumberFormat {
  static func size(_ bytes: Int) -> String {
    var value = Double(bytes)
    for unit in ["B", "kB", "MB"] {
      if value < 999.5 { return "\(unit == "B" ? "\(bytes)" : decimal(value, 1)) \(unit)" }
      value /= 1000
    }
    return "\(decimal(value, 2)) GB"
  }

  /// Returns a duration such as `0:07`, `12:03` or `1:00:00`.
  static func clock(_ seconds: Double) -> String {
    guard seconds.isFinite, seconds >= 0, seconds < 1e9 else { return "-" }
    let whole = Int(seconds.rounded())
    let (minutes, rest) = (whole / 60, whole % 60)
    let tail = rest < 10 ? "0\(rest)" : "\(rest)"
    guard minutes >= 60 else { return "\(minutes):\(tail)" }
    let (hours, left) = (minutes / 60, minutes % 60)
    return "\(hours):\(left < 10 ? "0" : "")\(left):\(tail)"
  }

  /// Returns a number with at most these digits after the point, without zeros at the end.
  static func short(_ value: Double, _ digits: Int) -> String {
    var text = decimal(value, digits)[...]
    guard text.contains(".") else { return String(text) }
    while text.hasSuffix("0") { text.removeLast() }
    return String(text.hasSuffix(".") ? text.dropLast() : text)
  }

  static func decimal(_ value: Double, _ digits: Int) -> String {
    guard value.isFinite, abs(value) < 1e15 else { return "-" }
    var scale = 1
    for _ in 0..<digits { scale *= 10 }
    let scaled = Int64((abs(value) * Double(scale)).rounded())
    let (whole, part) = (scaled / Int64(scale), scaled % Int64(scale))
    let sign = value < 0 && scaled != 0 ? "-" : ""
    guard digits > 0 else { return "\(sign)\(whole)" }
    let tail = String(part)
    return "\(sign)\(whole).\(String(repeating: "0", count: digits - tail.count))\(tail)"
  }
}

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
  /// Returns the diagnostics, without the places of those in files of a folder; nil for no folder.
  func withoutPlaces(in folder: String?) -> Diagnostics {
    guard let folder else { return self }
    func isInside(_ location: SourceLocation?) -> Bool {
      location.map { $0.file.name.hasPrefix(folder + "/") } ?? false
    }
    return Diagnostics(
      all.map { one in
        guard isInside(one.location) else { return one }
        return Diagnostic(
          one.severity, one.message, at: nil, help: one.help,
          notes: one.notes.filter { !isInside($0.location) })
      })
  }

  /// Prints the diagnostics on standard error, in the format of compilers.
  func print() {
    Terminal.error.write(text(color: Terminal.error.hasColor))
  }
}
