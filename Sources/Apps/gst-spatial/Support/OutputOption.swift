// SPDX-License-Identifier: MPL-2.0

internal import ArgumentParser
internal import Glibc

/// Where a command writes its text.
struct OutputOption: ParsableArguments {
  @Option(name: .shortAndLong, help: "A file to write to, in place of standard output.")
  var output: String?

  @Flag(name: [.customShort("y"), .long], help: "Replace a file that is there already.")
  var force = false

  func write(_ text: String) throws {
    guard let output else { return Terminal.output.write(text) }
    let mode = force ? O_TRUNC : O_EXCL
    let file = open(output, O_WRONLY | O_CREAT | mode | O_CLOEXEC, 0o666)
    guard file >= 0 else {
      let isThere = errno == EEXIST
      let reason =
        isThere ? "is there already; --force replaces it" : String(cString: strerror(errno))
      Terminal.error.line("error: '\(output)' \(isThere ? reason : "cannot be written: \(reason)")")
      throw isThere ? ExitCode.wouldOverwrite : ExitCode.failure
    }
    defer { close(file) }
    Terminal(descriptor: file).write(text)
  }
}
