// SPDX-License-Identifier: MPL-2.0

/// Something to tell the writer of a pipeline file.
public struct Diagnostic: Sendable, Equatable {
  public enum Severity: String, Sendable, Comparable {
    /// Nothing can run until it is mended.
    case error
    /// Likely not what was meant.
    case warning

    public static func < (one: Self, other: Self) -> Bool { one == .error && other == .warning }
  }

  /// A second place that explains the first.
  public struct Note: Sendable, Equatable {
    public let message: String
    public let location: SourceLocation?

    public init(message: String, location: SourceLocation?) {
      self.message = message
      self.location = location
    }
  }

  public let severity: Severity
  /// What is wrong, in one line, without a full stop.
  public let message: String
  /// Where it is wrong; nil for what is not in a file.
  public let location: SourceLocation?
  /// What to do about it, or what was probably meant.
  public let help: String?
  public let notes: [Note]

  public init(
    _ severity: Severity, _ message: String, at location: SourceLocation?, help: String? = nil,
    notes: [Note] = []
  ) {
    self.severity = severity
    self.message = message
    self.location = location
    self.help = help
    self.notes = notes
  }
}

/// What was found in a stage, in the order of the files.
public struct Diagnostics: Sendable {
  public let all: [Diagnostic]

  public init(_ all: [Diagnostic]) {
    self.all = all
  }

  public var errors: [Diagnostic] { all.filter { $0.severity == .error } }
  public var hasErrors: Bool { all.contains { $0.severity == .error } }

  public static func + (one: Self, other: Self) -> Self { Self(one.all + other.all) }
}

/// Collects diagnostics while a stage runs.
final class Reporter {
  private var found: [Diagnostic] = []
  /// All errors, those beyond the limit too.
  private(set) var errorCount = 0
  private var omitted = 0
  /// Comparing words costs time in proportion to the words; a file of thousands of mistakes gets
  /// suggestions for the first of them only.
  private var comparisonsLeft = 300_000

  /// A stage never reports more than this; the first ones are kept.
  private static let limit = 1000

  var hasErrors: Bool { errorCount > 0 }

  func error(
    _ message: String, at location: SourceLocation?, help: String? = nil,
    notes: [Diagnostic.Note] = []
  ) {
    report(.error, message, location, help, notes)
  }

  func warning(
    _ message: String, at location: SourceLocation?, help: String? = nil,
    notes: [Diagnostic.Note] = []
  ) {
    report(.warning, message, location, help, notes)
  }

  private func report(
    _ severity: Diagnostic.Severity, _ message: String, _ location: SourceLocation?,
    _ help: String?, _ notes: [Diagnostic.Note]
  ) {
    if severity == .error { errorCount += 1 }
    // Errors are never crowded out by warnings: one place is kept for the first of them.
    guard found.count < Self.limit || (severity == .error && errorCount == 1) else {
      omitted += 1
      return
    }
    found.append(
      Diagnostic(severity, message, at: location, help: help, notes: notes))
  }

  /// "did you mean 'x'?" for the likeliest of the words, if one is likely.
  func didYouMean(_ word: String, among words: some Collection<String>) -> String? {
    suggestion(for: word, among: words).map { "did you mean '\($0)'?" }
  }

  func suggestion(for word: String, among words: some Collection<String>) -> String? {
    guard words.count <= comparisonsLeft else { return nil }
    comparisonsLeft -= words.count
    return Suggestion.closest(to: word, among: words)
  }

  /// Everything found, by place; what stands in one place keeps its order.
  func diagnostics() -> Diagnostics {
    var order: [ObjectIdentifier: Int] = [:]
    for case let location? in found.map(\.location) {
      let count = order.count
      order[ObjectIdentifier(location.file), default: count] += 0
    }
    let keyed = found.enumerated().map { index, diagnostic in
      let file = diagnostic.location.flatMap { order[ObjectIdentifier($0.file)] } ?? -1
      let (line, column) = (diagnostic.location?.line ?? 0, diagnostic.location?.column ?? 0)
      return (key: (file, line, column, index), diagnostic)
    }
    var sorted = keyed.sorted { $0.key < $1.key }.map(\.1)
    if omitted > 0 {
      sorted.append(
        Diagnostic(
          hasErrors ? .error : .warning, "\(omitted) more are not shown", at: nil))
    }
    return Diagnostics(sorted)
  }
}
