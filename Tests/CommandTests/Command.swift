// SPDX-License-Identifier: MPL-2.0

import Foundation
import TestKit

/// Another program, which reads nothing, in a folder.
func process(_ arguments: [String], in folder: TemporaryFolder) -> Process {
  let process = Process()
  process.executableURL = URL(filePath: "/usr/bin/env")
  process.arguments = arguments
  process.currentDirectoryURL = folder.url
  process.standardInput = FileHandle.nullDevice
  return process
}

/// What another program prints, to its end. Throws where that is not a good one.
///
/// - Parameter withErrors: whether standard error is among it.
func output(
  of arguments: [String], in folder: TemporaryFolder, withErrors: Bool = false
) async throws -> Data {
  let process = process(arguments, in: folder)
  let output = Pipe()
  process.standardOutput = output
  if withErrors { process.standardError = output }
  try process.run()
  let reader = output.fileHandleForReading
  let data = await withCheckedContinuation { continuation in
    DispatchQueue.global().async { continuation.resume(returning: reader.readDataToEndOfFile()) }
  }
  process.waitUntilExit()
  guard process.terminationStatus == 0 else {
    let said = String(decoding: data, as: UTF8.self)
    throw Failure("\(arguments): \(process.terminationStatus): \(said)")
  }
  return data
}

/// A screen for a program: its words go behind these. The server stays when autovideosink lets go of the
/// first sink that it tries.
let virtualScreen = ["xvfb-run", "-a", "-s", "-noreset -screen 0 640x480x24"]

/// The built command, as a shell runs it.
final class Command: @unchecked Sendable {
  private let process = Process()
  private let output = Pipe()
  private let errors = Pipe()
  private let folder: TemporaryFolder

  /// - Parameter shell: what a shell does before it becomes the command.
  init(_ arguments: [String], in folder: TemporaryFolder, shell: String = "") throws {
    guard let built = Repository.built else {
      throw Failure("GST_PLUGIN_PATH does not lead to the built command (scripts/test sets it)")
    }
    self.folder = folder
    process.executableURL = URL(filePath: "/bin/sh")
    process.arguments =
      ["-c", shell + "exec \"$@\"", "sh", built.appending(path: "gst-spatial").path] + arguments
    process.currentDirectoryURL = folder.url
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = output
    process.standardError = errors
    try process.run()
  }

  struct Result {
    let status: Int32
    let output: String
    let errors: String
  }

  func interrupt() { process.interrupt() }
  func kill() { Foundation.kill(process.processIdentifier, SIGKILL) }
  func suspend() { _ = process.suspend() }
  func resume() { _ = process.resume() }

  /// Waits until standard output contains a text, and gives what has come until then.
  @discardableResult
  func wait(for text: String) throws -> String {
    var seen = Data()
    while !String(decoding: seen, as: UTF8.self).contains(text) {
      let more = output.fileHandleForReading.availableData
      guard !more.isEmpty else { throw Failure("the command ended without '\(text)'") }
      seen += more
    }
    return String(decoding: seen, as: UTF8.self)
  }

  func result(seconds: Double = 30) throws -> Result {
    let watchdog = DispatchWorkItem { [process] in process.terminate() }
    DispatchQueue.global().asyncAfter(deadline: .now() + seconds, execute: watchdog)
    let (reader, lines) = (errors.fileHandleForReading, output.fileHandleForReading)
    let errorText = ErrorText()
    let group = DispatchGroup()
    DispatchQueue.global().async(group: group) { errorText.data = reader.readDataToEndOfFile() }
    let text = lines.readDataToEndOfFile()
    group.wait()
    process.waitUntilExit()
    watchdog.cancel()
    return Result(
      status: process.terminationReason == .exit
        ? process.terminationStatus : 128 + process.terminationStatus,
      output: String(decoding: text, as: UTF8.self),
      errors: String(decoding: errorText.data, as: UTF8.self))
  }

  private final class ErrorText: @unchecked Sendable {
    var data = Data()
  }

  static func run(_ arguments: [String], in folder: TemporaryFolder, shell: String = "") throws
    -> Result
  {
    try Command(arguments, in: folder, shell: shell).result()
  }
}
