// SPDX-License-Identifier: MPL-2.0

/// Finds the word that was probably meant.
package enum Suggestion {
  /// The word with the fewest typing mistakes to the given one; nil if none is near.
  package static func closest(to word: String, among words: some Collection<String>) -> String? {
    let typed = normalized(word)
    guard !typed.isEmpty, typed.count <= 64 else { return nil }
    let limit = max(1, min(3, typed.count / 3))
    var best: (distance: Int, word: String)?
    for candidate in words where candidate != word {
      let other = normalized(candidate)
      guard abs(other.count - typed.count) <= limit, other.count <= 64 else { continue }
      let distance = distance(typed, other, limit: min(limit, best?.distance ?? limit))
      guard distance <= limit else { continue }
      if let best, (best.distance, best.word) <= (distance, candidate) { continue }
      best = (distance, candidate)
    }
    return best?.word
  }

  /// Case and the choice between `_` and `-` are no mistakes to count.
  private static func normalized(_ word: String) -> [UInt8] {
    word.utf8.map { byte in
      switch byte {
      case UInt8(ascii: "A")...UInt8(ascii: "Z"): byte + 32
      case UInt8(ascii: "_"): UInt8(ascii: "-")
      default: byte
      }
    }
  }

  /// Letters left out, added, changed, or two neighbours swapped; `limit` + 1 if it is more.
  private static func distance(_ one: [UInt8], _ other: [UInt8], limit: Int) -> Int {
    var beforeLast = [Int](repeating: 0, count: other.count + 1)
    var last = Array(0...other.count)
    for i in 0..<one.count {
      var row = [i + 1]
      row.reserveCapacity(other.count + 1)
      for j in 0..<other.count {
        var cost = min(last[j + 1] + 1, row[j] + 1, last[j] + (one[i] == other[j] ? 0 : 1))
        if i > 0, j > 0, one[i] == other[j - 1], one[i - 1] == other[j] {
          cost = min(cost, beforeLast[j - 1] + 1)
        }
        row.append(cost)
      }
      guard row.contains(where: { $0 <= limit }) else { return limit + 1 }
      beforeLast = last
      last = row
    }
    return last[other.count]
  }
}
