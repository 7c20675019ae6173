// SPDX-License-Identifier: MPL-2.0

public import Foundation

/// Another program, from its start. One that is forgotten while it runs is killed.
public final class Program: Sendable {
  /// How a program ended, and what it printed.
  public struct Result: Sendable {
    /// The exit status; 128 and the signal's number if a signal ended it.
    public let status: Int32
    /// What came from standard output.
    public let data: Data
    /// The same as text.
    public var output: String { String(decoding: data, as: UTF8.self) }
    /// What came from standard error, if it is kept apart.
    public let errors: String
  }

  /// Where standard error goes.
  public enum Errors: Sendable {
    case apart
    /// To where standard output goes.
    case merged
    /// To that of this process.
    case shown
  }

  private let process = Process()
  private let input = Pipe()
  private let output = Pipe()
  private let errors: Pipe?

  /// Starts a program.
  ///
  /// - Parameters:
  ///   - words: the program, by path or by its name in PATH, and its arguments.
  ///   - folder: where it is started; nil for the folder of this process.
  ///   - environment: variables.
  ///   - inherits: whether it has those of this process, too.
  ///   - input: what it reads, before the end of its input.
  /// - Throws: if it cannot be started, or if this is `make check`, which starts no processes.
  public init(
    _ words: [String], in folder: URL? = nil, environment: [String: String] = [:],
    inherits: Bool = true,
    input text: String = "", errors: Errors = .apart
  ) throws {
    guard Tier.current != "check" else {
      throw Failure("'make check' starts no processes; tag this test .process or .judge: \(words)")
    }
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = words
    if let folder { process.currentDirectoryURL = folder }
    let own = inherits ? ProcessInfo.processInfo.environment : [:]
    process.environment = own.merging(environment) { $1 }
    process.standardOutput = output
    self.errors = errors == .apart ? Pipe() : nil
    switch errors {
    case .apart: process.standardError = self.errors
    case .merged: process.standardError = output
    case .shown: break
    }
    process.standardInput = text.isEmpty ? FileHandle.nullDevice : input
    try process.run()
    if !text.isEmpty {
      try input.fileHandleForWriting.write(contentsOf: Data(text.utf8))
      try input.fileHandleForWriting.close()
    }
  }

  deinit {
    // What is started within a test may block other signals.
    if process.isRunning { kill() }
  }

  public var isRunning: Bool { process.isRunning }

  public func interrupt() { process.interrupt() }
  public func terminate() { process.terminate() }
  public func suspend() { _ = process.suspend() }
  public func resume() { _ = process.resume() }
  public func kill() { Foundation.kill(process.processIdentifier, SIGKILL) }
  public func send(_ signal: Int32) { Foundation.kill(process.processIdentifier, signal) }

  /// Waits until standard output has a text, and gives what came until then.
  ///
  /// - Throws: if the program ends before.
  @discardableResult
  public func wait(for text: String) throws -> String {
    try wait("'\(text)'") { $0.contains(text) }
  }

  /// Waits until standard output matches a pattern, and gives what came until then.
  ///
  /// - Throws: if the program ends before.
  @discardableResult
  public func wait(for pattern: Regex<Substring>) throws -> String {
    try wait("the pattern") { $0.contains(pattern) }
  }

  private func wait(_ wanted: String, isSeen: (String) -> Bool) throws -> String {
    var seen = Data()
    while !isSeen(String(decoding: seen, as: UTF8.self)) {
      let more = output.fileHandleForReading.availableData
      guard !more.isEmpty else { throw Failure("the program ended without \(wanted)") }
      seen += more
    }
    return String(decoding: seen, as: UTF8.self)
  }

  /// Waits for the end of a program that prints little.
  public func wait() { process.waitUntilExit() }

  /// Waits for the end.
  ///
  /// - Parameter seconds: when it is killed, since it hangs.
  public func result(seconds: Double = 540) -> Result {
    let watchdog = DispatchWorkItem { self.kill() }
    DispatchQueue.global().asyncAfter(deadline: .now() + seconds, execute: watchdog)
    let said = Locked()
    let group = DispatchGroup()
    if let reader = errors?.fileHandleForReading {
      DispatchQueue.global().async(group: group) { said.data = reader.readDataToEndOfFile() }
    }
    let printed = output.fileHandleForReading.readDataToEndOfFile()
    group.wait()
    process.waitUntilExit()
    watchdog.cancel()
    let base: Int32 = process.terminationReason == .exit ? 0 : 128
    return Result(
      status: base + process.terminationStatus, data: printed,
      errors: String(decoding: said.data, as: UTF8.self))
  }

  private final class Locked: @unchecked Sendable {
    var data = Data()
  }

  /// Runs a program to its end.
  public static func run(
    _ words: [String], in folder: URL? = nil, environment: [String: String] = [:],
    inherits: Bool = true,
    input: String = "", errors: Errors = .merged, seconds: Double = 540
  ) throws -> Result {
    try Program(
      words, in: folder, environment: environment, inherits: inherits, input: input, errors: errors
    )
    .result(seconds: seconds)
  }

  /// What a program prints; its errors, too, if they are merged. No thread of Swift's pool waits
  /// for it.
  ///
  /// - Parameter seconds: when it is killed, since it hangs.
  /// - Throws: a `Failure` with what it said if its status is not 0.
  public static func output(
    of words: [String], in folder: URL? = nil, environment: [String: String] = [:],
    inherits: Bool = true, errors: Errors = .shown, seconds: Double = 540
  ) async throws -> Data {
    let program = try Program(
      words, in: folder, environment: environment, inherits: inherits, errors: errors)
    let result = await withCheckedContinuation { continuation in
      DispatchQueue.global().async {
        continuation.resume(returning: program.result(seconds: seconds))
      }
    }
    guard result.status == 0 else {
      throw Failure("\(words): \(result.status): \(result.output)\(result.errors)")
    }
    return result.data
  }
}
