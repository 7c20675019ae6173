// SPDX-License-Identifier: MPL-2.0

/// What is wrong with the parts of a file that can be done without.
struct IssueLog {
  /// The first of them; a broken file may have millions.
  private(set) var issues: [ISOBMFFError] = []

  private static let maximumCount = 64

  mutating func add(_ issue: ISOBMFFError) {
    if issues.count < Self.maximumCount {
      issues.append(issue)
    }
  }

  /// The result of `body`, or nil with the error noted.
  @discardableResult
  mutating func optional<Value>(
    _ body: () throws(ISOBMFFError) -> Value
  ) -> Value? {
    do throws(ISOBMFFError) {
      return try body()
    } catch {
      add(error)
      return nil
    }
  }
}
