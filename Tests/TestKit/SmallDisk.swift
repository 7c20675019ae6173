// SPDX-License-Identifier: MPL-2.0

import Foundation

#if canImport(Glibc)
  import Glibc
#endif

/// A file system with little room, which goes with this object. Only root may mount one.
public final class SmallDisk: Sendable {
  public let path: String

  public static let isAllowed = geteuid() == 0

  /// A file system of some KiB, in a folder that need not be there.
  public init(kibibytes: Int, at path: String) throws {
    self.path = path
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    let mounted = try Program.run(
      ["mount", "-t", "tmpfs", "-o", "size=\(kibibytes)k", "tmpfs", path])
    guard mounted.status == 0 else { throw Failure("'\(path)': \(mounted.output)") }
  }

  deinit {
    _ = try? Program.run(["umount", "-l", path])
  }

  /// The names of its entries, sorted.
  public var names: [String] {
    ((try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []).sorted()
  }
}
