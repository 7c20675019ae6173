// SPDX-License-Identifier: MPL-2.0

import GStreamer
import ISOBMFF
import Packager

/// The file that `encryption-key-file` names: the key of a presentation, and how players get it.
/// Each line is a name and its values, with spaces between them; lines that begin with `#` are
/// comments.
///
/// A key is in a file, since every user of a machine can read command lines.
struct KeyFile {
  /// The key, 16 bytes.
  let key: [UInt8]
  /// Identifier and initialization vector, and the places of the key.
  let content: ContentKey

  private static let maximumSize = 1 << 16

  /// Reads a file.
  ///
  /// - Throws: an ``ElementError`` that says which line is wrong.
  init(path: String) throws {
    guard let bytes = try SmallFile.bytes(of: path, limit: Self.maximumSize) else {
      throw ElementError(.notFound, "The key file '\(path)' does not exist.")
    }
    do throws(Problem) {
      try self.init(parsing: String(decoding: bytes, as: UTF8.self))
    } catch {
      throw ElementError(.settings, "The key file '\(path)' cannot be used: \(error.text).")
    }
  }

  /// The reason why a file cannot be used, as part of a sentence.
  struct Problem: Error {
    let text: String
  }

  /// Reads the content of a file.
  init(parsing text: String) throws(Problem) {
    /// The lines that there may be once.
    var single: [String: [UInt8]] = [:]
    var deliveries: [KeyDelivery] = []
    var systems: [[UInt8]] = []
    for (index, line) in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
      .enumerated()
    {
      let words = line.split(whereSeparator: \.isWhitespace).map(String.init)
      guard let name = words.first, !name.hasPrefix("#") else { continue }
      let values = Array(words.dropFirst())
      func problem(_ text: String) -> Problem { Problem(text: "line \(index + 1): \(text)") }
      switch name {
      case "key", "key-id", "iv":
        guard values.count == 1, let bytes = Self.bytes(values[0]) else {
          throw problem("\(name) has to be 32 hexadecimal digits")
        }
        guard single.updateValue(bytes, forKey: name) == nil else {
          throw problem("\(name) is there twice; all renditions have one key")
        }
      case "hls-key":
        guard let uri = values.first, values.count <= 3 else {
          throw problem(
            "hls-key has to be an address, and optionally a KEYFORMAT and KEYFORMATVERSIONS")
        }
        deliveries.append(
          KeyDelivery(
            uri: uri, format: values.count > 1 ? values[1] : nil,
            versions: values.count > 2 ? values[2] : nil))
      case "pssh":
        guard values.count == 1, let system = Self.systemBox(values[0]) else {
          throw problem("pssh has to be a box pssh in base64")
        }
        systems.append(system)
      default:
        // What stands there may be the key, which is for no log.
        throw problem("it has to begin with key, key-id, iv, hls-key or pssh")
      }
    }
    guard let key = single["key"] else { throw Problem(text: "it has no line 'key'") }
    // One that is not given is another one in each run, which initialization segments say.
    let vector = single["iv"] ?? (0..<16).map { _ in UInt8.random(in: .min ... .max) }
    guard let keyID = single["key-id"],
      let protection = TrackProtection(keyID: keyID, initializationVector: vector)
    else { throw Problem(text: "it has no line 'key-id'") }
    guard !deliveries.isEmpty else {
      throw Problem(text: "it has no line 'hls-key', which tells players where they get the key")
    }
    self.key = key
    content = ContentKey(protection, deliveries: deliveries, systems: systems)
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
