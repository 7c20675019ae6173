// SPDX-License-Identifier: MPL-2.0

/// What is wrong with a file, and where.
public struct ISOBMFFError: Error, Equatable, Sendable {
  /// The box by its ancestors: `moov/trak[0]/mdia/minf/stbl/stsz`.
  public let path: String
  /// Where the box begins, in bytes from the file's start.
  public let offset: UInt64
  /// What was expected and what was found.
  public let reason: String

  public init(path: String, offset: UInt64, reason: String) {
    self.path = path
    self.offset = offset
    self.reason = reason
  }
}

extension ISOBMFFError: CustomStringConvertible {
  public var description: String {
    "\(path.isEmpty ? "file" : path): \(reason) (at byte \(offset))"
  }
}

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
