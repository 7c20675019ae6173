// SPDX-License-Identifier: MPL-2.0

/// The search for the end of a file about which its source says nothing: what can be read of it.
struct FileSizeSearch: Sendable {
  private var low: UInt64 = 0
  private var high: UInt64 = 1 << 16
  private var isGrowing = true

  /// The byte that has to be looked for next; nil where the size is known.
  var probe: UInt64? {
    if isGrowing { return high - 1 }
    return low < high ? low + (high - low) / 2 : nil
  }

  /// In bytes, once nothing is left to look for.
  var size: UInt64 { low }

  /// Takes whether the file has the byte that was looked for.
  mutating func take(isThere: Bool) {
    if isGrowing {
      if isThere { (low, high) = (high, high * 2) }
      isGrowing = isThere && high < 1 << 62
    } else if let middle = probe {
      if isThere { low = middle + 1 } else { high = middle }
    }
  }
}
