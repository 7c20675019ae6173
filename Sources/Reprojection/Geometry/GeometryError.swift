// SPDX-License-Identifier: LGPL-2.1-or-later

/// Why a projection and a size make no picture.
public struct GeometryError: Error, Hashable, CustomStringConvertible {
  public let description: String

  init(_ description: String) { self.description = description }
}
