// SPDX-License-Identifier: LGPL-2.1-or-later

/// Why a test cannot go on.
public struct Failure: Error, CustomStringConvertible {
  public let description: String

  public init(_ description: String) { self.description = description }
}
