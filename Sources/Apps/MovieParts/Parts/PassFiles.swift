// SPDX-License-Identifier: MPL-2.0

/// The encoder's statistics of a first pass: files whose paths begin with the one that it is given.
package enum PassFiles {
  /// The endings that their paths may have.
  package static let endings = ["left", "right"].flatMap { eye in
    ["", ".cutree", ".keyframes"].map { ".\(eye)\($0)" }
  }

  /// Returns the endings of those that are there.
  static func endings(after start: String) -> [String] {
    endings.filter { SmallFiles.size(of: start + $0) != nil }
  }
}
