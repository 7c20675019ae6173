// SPDX-License-Identifier: MPL-2.0

#if canImport(Darwin)
  internal import Darwin
#else
  internal import Glibc
#endif

/// What the system's libx265 can do.
public enum X265 {
  /// Whether pictures may have several slices: with these, libx265 4.1 and 4.2 (builds 215 and 216, of
  /// Debian 13 and sid) hang or crash, in x265enc as well.
  public static let hasSlices = ![215, 216].contains { build in
    guard let library = dlopen("libx265.so.\(build)", RTLD_NOW | RTLD_LOCAL) else { return false }
    dlclose(library)
    return true
  }

  /// Whether options, with colons between, can be used.
  public static func takes(_ options: String) -> Bool {
    hasSlices || !options.split(separator: ":").contains { $0.hasPrefix("slices=") }
  }
}
