// SPDX-License-Identifier: MPL-2.0

/// A defect of a file, and its location.
public struct ISOBMFFError: Error, Equatable, Sendable {
  /// The path of the box: `moov/trak[0]/mdia/minf/stbl/stsz`.
  public let path: String
  /// Offset of the box in the file, in bytes.
  public let offset: UInt64
  /// The difference between the expected and the actual content.
  public let reason: String

  /// Creates an error for the box at `path`.
  public init(path: String, offset: UInt64, reason: String) {
    self.path = path
    self.offset = offset
    self.reason = reason
  }
}

extension ISOBMFFError: CustomStringConvertible {
  /// The path, the reason and the byte offset, in one line.
  public var description: String {
    "\(path.isEmpty ? "file" : path): \(reason) (at byte \(offset))"
  }
}

/// Recoverable defects of a file.
struct IssueLog {
  /// The first issues, at most `maximumCount`; a broken file may have millions.
  private(set) var issues: [ISOBMFFError] = []

  private static let maximumCount = 64

  mutating func add(_ issue: ISOBMFFError) {
    if issues.count < Self.maximumCount {
      issues.append(issue)
    }
  }

  /// Returns the result of `body`, or nil after recording its error.
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
