// SPDX-License-Identifier: MPL-2.0

internal import GStreamer

/// What a pad must be able to carry to be the one that a link means: caps, or any of a kind
/// (`audio/*`), which caps cannot say; several of them with `;` in between.
struct PadChoice {
  private let caps: Caps
  /// `audio/`
  private let kinds: [String]

  init(_ caps: Caps, kinds: [String] = []) {
    self.caps = caps
    self.kinds = kinds
  }

  /// Nil where the text is no caps.
  init?(_ text: String) {
    guard text.contains("/*") else {
      guard let caps = Caps(written: text) else { return nil }
      self.init(caps)
      return
    }
    let caps = Caps.empty
    var kinds: [String] = []
    for part in text.split(separator: ";").map({ $0.drop { $0 == " " } }) {
      let word = part.prefix { $0 != " " }
      if word.hasSuffix("/*"), word.utf8.dropLast(2).allSatisfy(Self.isLetter) {
        kinds.append(String(word.dropLast()))
      } else if let other = Caps(written: String(part)) {
        caps.append(other)
      } else {
        return nil
      }
    }
    self.init(caps, kinds: kinds)
  }

  private static func isLetter(_ byte: UInt8) -> Bool {
    byte | 0x20 >= UInt8(ascii: "a") && byte | 0x20 <= UInt8(ascii: "z")
  }

  func canIntersect(_ other: PadChoice) -> Bool {
    caps.canIntersect(other.caps) || holdsKind(other) || other.holdsKind(self)
      || kinds.contains(where: other.kinds.contains)
  }

  private func holdsKind(_ other: PadChoice) -> Bool {
    guard !kinds.isEmpty else { return false }
    return other.caps.isAny
      || other.caps.structures.contains { part in kinds.contains { part.name.hasPrefix($0) } }
  }

  func admits(_ caps: Caps) -> Bool { canIntersect(PadChoice(caps)) }
}

extension Caps {
  /// Caps that a person wrote. GStreamer takes names that begin with no letter for a programmer's
  /// mistake, and complains of them beside saying so.
  convenience init?(written text: String) {
    var isQuoted = false
    var isStart = true
    var depth = 0
    for character in text {
      if isStart, character != " ", character != "\t", character != "\n" {
        guard character.isLetter || character == "\"" else { return nil }
        isStart = false
      }
      switch character {
      case "\"": isQuoted.toggle()
      case "(", "[", "{", "<": depth += 1
      case ")", "]", "}", ">": depth -= 1
      case ";" where !isQuoted && depth == 0: isStart = true
      default: break
      }
    }
    self.init(parsing: text)
  }
}
