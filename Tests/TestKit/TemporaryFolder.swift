// SPDX-License-Identifier: MPL-2.0

public import Foundation

/// A folder that is removed with this object.
public final class TemporaryFolder: Sendable {
  public let url = FileManager.default.temporaryDirectory.appending(
    path: "gst-spatial-\(UUID().uuidString)")

  public init() throws {
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
  }

  deinit {
    try? FileManager.default.removeItem(at: url)
  }

  public func path(_ name: String) -> String { url.appending(path: name).path }

  /// A file of this name with this text.
  public func write(_ text: String, to name: String) throws -> String {
    try Data(text.utf8).write(to: url.appending(path: name))
    return path(name)
  }

  /// The names of its entries, sorted.
  public var names: [String] {
    ((try? FileManager.default.contentsOfDirectory(atPath: url.path)) ?? []).sorted()
  }
}
