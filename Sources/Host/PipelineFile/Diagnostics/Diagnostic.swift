// SPDX-License-Identifier: MPL-2.0

/// An error or warning about a pipeline file.
public struct Diagnostic: Sendable, Equatable {
  /// The severity of a diagnostic.
  public enum Severity: String, Sendable, Comparable {
    /// The pipeline cannot run until it is fixed.
    case error
    /// Probably a mistake, but the pipeline can run.
    case warning

    /// Orders errors before warnings.
    public static func < (one: Self, other: Self) -> Bool { one == .error && other == .warning }
  }

  /// A message about a second location that explains the first.
  public struct Note: Sendable, Equatable {
    /// The message, in one line without a full stop.
    public let message: String
    /// The location in the file; nil if there is none.
    public let location: SourceLocation?

    /// Creates a note.
    public init(message: String, location: SourceLocation?) {
      self.message = message
      self.location = location
    }
  }

  /// Whether this is an error or a warning.
  public let severity: Severity
  /// The problem, in one line without a full stop.
  public let message: String
  /// The location of the problem; nil if it is not in a file.
  public let location: SourceLocation?
  /// How to fix it, or what was probably meant.
  public let help: String?
  /// Further locations that explain the problem.
  public let notes: [Note]

  /// Creates a diagnostic.
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

/// The diagnostics of a stage, in file order.
public struct Diagnostics: Sendable {
  /// All errors and warnings.
  public let all: [Diagnostic]

  /// Creates a list of diagnostics.
  public init(_ all: [Diagnostic]) {
    self.all = all
  }

  /// The errors, without the warnings.
  public var errors: [Diagnostic] { all.filter { $0.severity == .error } }
  /// Whether there is at least one error.
  public var hasErrors: Bool { all.contains { $0.severity == .error } }

  /// Concatenates the diagnostics of two stages.
  public static func + (one: Self, other: Self) -> Self { Self(one.all + other.all) }
}

/// Collects diagnostics while a stage runs.
final class Reporter {
  private var found: [Diagnostic] = []
  /// Number of errors, including those beyond the limit.
  private(set) var errorCount = 0
  private var omitted = 0
  /// Number of word comparisons left: they take time, so in a file with thousands of mistakes only
  /// the first get suggestions.
  private var comparisonsLeft = 300_000

  /// Maximum number of diagnostics of a stage; the first ones are kept.
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
    // Warnings must not crowd out errors: the first error is always kept.
    guard found.count < Self.limit || (severity == .error && errorCount == 1) else {
      omitted += 1
      return
    }
    found.append(
      Diagnostic(severity, message, at: location, help: help, notes: notes))
  }

  /// Returns "did you mean 'x'?" for the most similar of the words; nil if none is similar.
  func didYouMean(_ word: String, among words: some Collection<String>) -> String? {
    suggestion(for: word, among: words).map { "did you mean '\($0)'?" }
  }

  func suggestion(for word: String, among words: some Collection<String>) -> String? {
    guard words.count <= comparisonsLeft else { return nil }
    comparisonsLeft -= words.count
    return Suggestion.closest(to: word, among: words)
  }

  /// Returns all diagnostics sorted by location; those at the same location keep their order.
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

/// Finds the word that was probably meant.
package enum Suggestion {
  /// Returns the word with the smallest edit distance to `word`; nil if none is close.
  package static func closest(to word: String, among words: some Collection<String>) -> String? {
    let typed = normalized(word)
    guard !typed.isEmpty, typed.count <= 64 else { return nil }
    let limit = max(1, min(3, typed.count / 3))
    var best: (distance: Int, word: String)?
    for candidate in words where candidate != word {
      let other = normalized(candidate)
      guard abs(other.count - typed.count) <= limit, other.count <= 64 else { continue }
      let distance = distance(typed, other, limit: min(limit, best?.distance ?? limit))
      guard distance <= limit else { continue }
      if let best, (best.distance, best.word) <= (distance, candidate) { continue }
      best = (distance, candidate)
    }
    return best?.word
  }

  /// Normalizes a word: case and `_` instead of `-` do not count as differences.
  private static func normalized(_ word: String) -> [UInt8] {
    word.utf8.map { byte in
      switch byte {
      case UInt8(ascii: "A")...UInt8(ascii: "Z"): byte + 32
      case UInt8(ascii: "_"): UInt8(ascii: "-")
      default: byte
      }
    }
  }

  /// Returns the number of letters omitted, added, changed or swapped with a neighbour; `limit` + 1
  /// if larger.
  private static func distance(_ one: [UInt8], _ other: [UInt8], limit: Int) -> Int {
    var beforeLast = [Int](repeating: 0, count: other.count + 1)
    var last = Array(0...other.count)
    for i in 0..<one.count {
      var row = [i + 1]
      row.reserveCapacity(other.count + 1)
      for j in 0..<other.count {
        var cost = min(last[j + 1] + 1, row[j] + 1, last[j] + (one[i] == other[j] ? 0 : 1))
        if i > 0, j > 0, one[i] == other[j - 1], one[i - 1] == other[j] {
          cost = min(cost, beforeLast[j - 1] + 1)
        }
        row.append(cost)
      }
      guard row.contains(where: { $0 <= limit }) else { return limit + 1 }
      beforeLast = last
      last = row
    }
    return last[other.count]
  }
}
