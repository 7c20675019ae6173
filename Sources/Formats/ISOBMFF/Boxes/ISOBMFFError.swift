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
