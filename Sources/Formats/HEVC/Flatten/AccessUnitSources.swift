// SPDX-License-Identifier: MPL-2.0

/// What a caller keeps of access units until all of their pictures have come out of a
/// ``Flattener``: their bytes, and what they are stamped with.
public struct AccessUnitSources<Source> {
  private var sources: [(number: Int, source: Source)] = []

  /// Nothing kept.
  public init() {}

  /// Keeps what belongs to the access unit `number`.
  public mutating func keep(_ source: Source, as number: Int) {
    sources.append((number, source))
  }

  /// What belongs to the access unit `number`; nil where it is not kept.
  public subscript(number: Int) -> Source? {
    sources.last { $0.number == number }?.source
  }

  /// What is kept, in the order in which it came.
  public var all: [Source] { sources.map(\.source) }

  /// Drops what belongs to the access units in front of `number`.
  public mutating func drop(before number: Int) {
    sources.removeAll { $0.number < number }
  }

  /// Drops everything.
  public mutating func removeAll() { sources = [] }
}

extension AccessUnitSources: Sendable where Source: Sendable {}
