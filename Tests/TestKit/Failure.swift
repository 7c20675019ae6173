// SPDX-License-Identifier: MPL-2.0

/// Why a test cannot go on.
public struct Failure: Error, CustomStringConvertible {
  public let description: String

  public init(_ description: String) { self.description = description }
}
