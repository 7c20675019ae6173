// SPDX-License-Identifier: MPL-2.0

/// The reason why a test cannot continue.
public struct Failure: Error, CustomStringConvertible {
  public let description: String

  public init(_ description: String) { self.description = description }
}
