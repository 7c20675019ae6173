// SPDX-License-Identifier: MPL-2.0

internal import GStreamer

/// The formats that select a pad for a link: caps, or any format of a media type (`audio/*`), which
/// caps cannot express; alternatives are separated by `;`.
struct PadFilter {
  private let caps: Caps
  /// `audio/`
  private let kinds: [String]

  init(_ caps: Caps, kinds: [String] = []) {
    self.caps = caps
    self.kinds = kinds
  }

  /// Nil if the text is not valid caps.
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

  func canIntersect(_ other: PadFilter) -> Bool {
    caps.canIntersect(other.caps) || admitsMediaType(other) || other.admitsMediaType(self)
      || kinds.contains(where: other.kinds.contains)
  }

  private func admitsMediaType(_ other: PadFilter) -> Bool {
    guard !kinds.isEmpty else { return false }
    return other.caps.isAny
      || other.caps.structures.contains { part in kinds.contains { part.name.hasPrefix($0) } }
  }

  func admits(_ caps: Caps) -> Bool { canIntersect(PadFilter(caps)) }
}

extension Caps {
  /// Parses caps written by a user. GStreamer treats names that do not begin with a letter as
  /// programming errors and logs criticals for them, so they are rejected first.
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
