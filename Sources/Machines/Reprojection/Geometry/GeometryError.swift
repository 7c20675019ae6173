// SPDX-License-Identifier: MPL-2.0

/// Why a projection and a size make no picture.
public struct GeometryError: Error, Hashable, CustomStringConvertible {
  public let description: String

  init(_ description: String) { self.description = description }
}
