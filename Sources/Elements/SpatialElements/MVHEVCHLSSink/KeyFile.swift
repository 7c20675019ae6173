// SPDX-License-Identifier: MPL-2.0

import GStreamer

/// The file that `encryption-key-file` names, which may change while segments are written.
///
/// Keys are in a file, since every user of a machine can read command lines.
struct KeyFile {
  /// The keys that it had when it could be used last; nil if segments are not encrypted.
  private(set) var keys: PresentationKeys?
  /// The content that the keys are from; nil if there is no file.
  private var content: [UInt8]?
  /// The reason why the file could not be used the last time, which the caller knows.
  private var problem: String?

  private static let maximumSize = 1 << 16

  /// Reads a file; nil or an empty name stands for none.
  ///
  /// - Throws: an ``ElementError`` that says which line is wrong.
  init(path: String?) throws(ElementError) {
    _ = try read(path ?? "")
  }

  /// Reads the file that the property names now, and returns whether it has other keys.
  ///
  /// - Throws: an ``ElementError`` if it cannot be used: once for each reason.
  mutating func isChanged(path: String?) throws(ElementError) -> Bool {
    let known = problem
    do {
      problem = nil
      return try read(path ?? "")
    } catch {
      problem = error.message
      guard error.message != known else { return false }
      throw error
    }
  }

  /// Reads a file, and returns whether it has other keys than before.
  private mutating func read(_ path: String) throws(ElementError) -> Bool {
    let content = try Self.content(path)
    guard content != self.content else { return false }
    let new = try content.map { content throws(ElementError) in try Self.keys(content, path) }
    if let new, let keys, new.reusesID(of: keys) {
      throw ElementError(
        .settings,
        "The key file '\(path)' has another key with the key-id of the one before: players would "
          + "keep that one.")
    }
    self.content = content
    guard new != keys else { return false }
    keys = new
    return true
  }

  private static func content(_ path: String) throws(ElementError) -> [UInt8]? {
    guard !path.isEmpty else { return nil }
    guard let bytes = try SmallFile.bytes(of: path, limit: maximumSize) else {
      throw ElementError(.notFound, "The key file '\(path)' does not exist.")
    }
    return bytes
  }

  private static func keys(
    _ content: [UInt8], _ path: String
  ) throws(ElementError) -> PresentationKeys {
    do throws(PresentationKeys.Problem) {
      return try PresentationKeys(parsing: String(decoding: content, as: UTF8.self))
    } catch {
      throw ElementError(.settings, "The key file '\(path)' cannot be used: \(error.text).")
    }
  }
}
