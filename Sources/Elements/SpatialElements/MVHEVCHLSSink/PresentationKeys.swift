// SPDX-License-Identifier: MPL-2.0

import GStreamer
import ISOBMFF
import Packager

/// The keys of a presentation and how players get them, as a ``KeyFile`` has them: one key, or one
/// for video and another for audio. Each line is a name and its values, with spaces between them,
/// after the word `audio` if it is for audio alone; lines that begin with `#` are comments.
struct PresentationKeys: ContentEncrypting, Equatable {
  /// A key, and how players get it.
  struct Key {
    /// 16 bytes.
    let bytes: [UInt8]
    /// Identifier and initialization vector, and the places of the key.
    let content: ContentKey
  }

  /// The reason why a file cannot be used, as part of a sentence.
  struct Problem: Error {
    let text: String
  }

  private let key: Key
  /// Nil if audio has the same one.
  private let audioKey: Key?
  /// The text of the file, for comparisons.
  private let lines: [Lines]

  /// Vectors that the file does not give are others each time.
  static func == (one: PresentationKeys, other: PresentationKeys) -> Bool {
    one.lines == other.lines
  }

  func encryptor(of rendition: Rendition) throws -> any SampleEncrypting<Buffer> {
    let entry = rendition.track.sampleEntry
    if case .audio = entry, let audioKey { return try SampleEncryptor(entry, audioKey) }
    return try SampleEncryptor(entry, key)
  }

  /// Whether an identifier stood for another key before.
  func reusesID(of older: PresentationKeys) -> Bool {
    let old = [older.key, older.audioKey].compactMap(\.self)
    return [key, audioKey].compactMap(\.self).contains { new in
      old.contains {
        $0.content.protection.keyID == new.content.protection.keyID && $0.bytes != new.bytes
      }
    }
  }

  /// Reads the content of a file.
  init(parsing text: String) throws(Problem) {
    var (all, audio) = (Lines(prefix: ""), Lines(prefix: "audio "))
    for (index, line) in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
      .enumerated()
    {
      var words = line.split(whereSeparator: \.isWhitespace).map(String.init)
      guard let first = words.first, !first.hasPrefix("#") else { continue }
      do throws(Problem) {
        if first == "audio" {
          words.removeFirst()
          try audio.take(words)
        } else {
          try all.take(words)
        }
      } catch {
        throw Problem(text: "line \(index + 1): \(error.text)")
      }
    }
    key = try all.key
    audioKey = audio == Lines(prefix: "audio ") ? nil : try audio.key
    lines = [all, audio]
    if let audioKey, audioKey.content.protection.keyID == key.content.protection.keyID {
      throw Problem(text: "'audio key-id' is that of the other key")
    }
  }
}

/// The lines of one key.
private struct Lines: Equatable {
  /// The word that each line begins with.
  let prefix: String
  /// The lines that there may be once.
  private var single: [String: [UInt8]] = [:]
  private var deliveries: [KeyDelivery] = []
  private var systems: [[UInt8]] = []

  init(prefix: String) { self.prefix = prefix }

  typealias Problem = PresentationKeys.Problem

  /// Takes the words of a line, without the prefix.
  mutating func take(_ words: [String]) throws(Problem) {
    let values = words.dropFirst()
    switch words.first {
    case let name? where ["key", "key-id", "iv"].contains(name):
      guard values.count == 1, let bytes = Self.bytes(words[1]) else {
        throw Problem(text: "\(prefix)\(name) has to be 32 hexadecimal digits")
      }
      guard single.updateValue(bytes, forKey: name) == nil else {
        throw Problem(
          text: "\(prefix)\(name) is there twice; there may be one for all renditions, and "
            + "another one for audio")
      }
    case "hls-key":
      guard (1...3).contains(values.count) else {
        throw Problem(
          text: "\(prefix)hls-key has to be an address, and optionally a KEYFORMAT and "
            + "KEYFORMATVERSIONS")
      }
      deliveries.append(
        KeyDelivery(
          uri: words[1], format: values.count > 1 ? words[2] : nil,
          versions: values.count > 2 ? words[3] : nil))
    case "pssh":
      guard values.count == 1, let system = Self.systemBox(words[1]) else {
        throw Problem(text: "\(prefix)pssh has to be a box pssh in base64")
      }
      systems.append(system)
    default:
      // What stands there may be the key, which is for no log.
      throw Problem(
        text: "it has to begin with key, key-id, iv, hls-key or pssh"
          + (prefix.isEmpty ? ", or with audio and one of these" : " after \(prefix)"))
    }
  }

  /// The key that the lines describe.
  var key: PresentationKeys.Key {
    get throws(Problem) {
      guard let key = single["key"] else { throw Problem(text: "it has no line '\(prefix)key'") }
      // One that is not given is another one in each run, which initialization segments say.
      let vector = single["iv"] ?? (0..<16).map { _ in UInt8.random(in: .min ... .max) }
      guard let keyID = single["key-id"],
        let protection = TrackProtection(keyID: keyID, initializationVector: vector)
      else { throw Problem(text: "it has no line '\(prefix)key-id'") }
      guard !deliveries.isEmpty else {
        throw Problem(
          text: "it has no line '\(prefix)hls-key', which tells players where they get the key")
      }
      return PresentationKeys.Key(
        bytes: key, content: ContentKey(protection, deliveries: deliveries, systems: systems))
    }
  }

  /// Reads 16 bytes in hexadecimal digits, also in the form of a UUID; nil for any other text.
  private static func bytes(_ text: String) -> [UInt8]? {
    let digits = text.filter { $0 != "-" }.compactMap(\.hexDigitValue)
    guard digits.count == 32, digits.count == text.count(where: { $0 != "-" }) else { return nil }
    return stride(from: 0, to: 32, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
  }

  /// Reads a box `pssh` in base64 (RFC 4648 4), and returns its content; nil if it is none.
  private static func systemBox(_ text: String) -> [UInt8]? {
    let alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
    let values = Dictionary(uniqueKeysWithValues: zip(alphabet, 0...))
    var bytes: [UInt8] = []
    var (group, bits) = (0, 0)
    for character in text.prefix(while: { $0 != "=" }) {
      guard let value = values[character] else { return nil }
      (group, bits) = ((group << 6 | value) & 0xFFFF, bits + 6)
      guard bits >= 8 else { continue }
      bits -= 8
      bytes.append(UInt8(truncatingIfNeeded: group >> bits))
    }
    let boxes = OpaqueBox.all(in: bytes)
    // Version, flags, the system's UUID and the size of its data.
    guard boxes.count == 1, boxes[0].type == "pssh", boxes[0].payload.count >= 24 else {
      return nil
    }
    return boxes[0].bytes.count == bytes.count ? boxes[0].payload : nil
  }
}
