// SPDX-License-Identifier: MPL-2.0

#if canImport(Darwin)
  internal import Darwin
#else
  internal import Glibc
#endif

/// What the system's libx265 can do.
public enum X265 {
  /// Whether pictures may have several slices: with these, libx265 4.1 (build 215, of Debian 13) hangs or
  /// crashes, in x265enc as well.
  public static let hasSlices: Bool = {
    guard let library = dlopen("libx265.so.215", RTLD_NOW | RTLD_LOCAL) else { return true }
    dlclose(library)
    return false
  }()

  /// Whether options, with colons between, can be used.
  public static func takes(_ options: String) -> Bool {
    hasSlices || !options.split(separator: ":").contains { $0.hasPrefix("slices=") }
  }
}
