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

/// Finds the word that was probably meant.
package enum Suggestion {
  /// The word with the fewest typing mistakes to the given one; nil if none is near.
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

  /// Case and the choice between `_` and `-` are no mistakes to count.
  private static func normalized(_ word: String) -> [UInt8] {
    word.utf8.map { byte in
      switch byte {
      case UInt8(ascii: "A")...UInt8(ascii: "Z"): byte + 32
      case UInt8(ascii: "_"): UInt8(ascii: "-")
      default: byte
      }
    }
  }

  /// Letters left out, added, changed, or two neighbours swapped; `limit` + 1 if it is more.
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
