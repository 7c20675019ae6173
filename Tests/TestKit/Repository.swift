// SPDX-License-Identifier: MPL-2.0

public import Foundation

/// Where things are in the source tree.
public enum Repository {
  public static let url = URL(filePath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent()

  /// A ready pipeline.
  public static func pipeline(_ name: String) -> String {
    url.appending(path: "pipelines/\(name).yaml").path
  }

  /// The folder of the built plugin, the built command and the built examples: that of the plugin
  /// in GST_PLUGIN_PATH, which may be a link.
  public static let built: URL? = {
    let folders = ProcessInfo.processInfo.environment["GST_PLUGIN_PATH"] ?? ""
    return folders.split(separator: ":")
      .map { URL(filePath: String($0)).appending(path: "libgstspatial.so") }
      .first { FileManager.default.fileExists(atPath: $0.path) }?
      .resolvingSymlinksInPath().deletingLastPathComponent()
  }()
}

/// Foreign movies; they are not part of the repository.
public enum ForeignMedia {
  public static let url = Repository.url.deletingLastPathComponent().appending(path: "shared/media")

  public static let isThere = FileManager.default.fileExists(
    atPath: url.appending(path: "golden.json").path)

  public static func path(_ name: String) -> String { url.appending(path: name).path }
}
