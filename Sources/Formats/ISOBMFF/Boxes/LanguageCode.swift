// SPDX-License-Identifier: MPL-2.0

/// The 15-bit form of an ISO 639-2 language code (ISO/IEC 14496-12 8.4.2).
enum LanguageCode {
  /// Three lower-case letters as five bits each; `und` for anything else.
  static func packed(_ language: String) -> UInt16 {
    let letters = Array(language.utf8)
    guard letters.count == 3, letters.allSatisfy({ (0x61...0x7A).contains($0) }) else {
      return 0x55C4
    }
    return letters.reduce(0) { $0 << 5 | UInt16($1 - 0x60) }
  }

  /// The three letters; `und` for QuickTime's numbered languages and anything that has none.
  static func letters(_ packed: UInt16) -> String {
    let letters = [10, 5, 0].map { UInt8(truncatingIfNeeded: packed >> UInt16($0)) & 0x1F }
    guard letters.allSatisfy({ (1...26).contains($0) }) else { return "und" }
    return String(decoding: letters.map { $0 + 0x60 }, as: UTF8.self)
  }
}
