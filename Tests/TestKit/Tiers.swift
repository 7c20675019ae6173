// SPDX-License-Identifier: MPL-2.0

import Foundation
public import Testing

/// Which tests run.
public enum Tier {
  /// The tier that `scripts/test` runs: `check`, `test` or `all`.
  public static let current = ProcessInfo.processInfo.environment["GST_SPATIAL_TIER"] ?? "all"
}

/// What a test needs, which decides the tier that it belongs to. `make check` runs the tests that
/// have none of these tags.
extension Tag {
  /// Other people's programs judge: FFmpeg, exiftool, a browser. In `make test`.
  @Tag public static var judge: Self

  /// The built plugin or command, or another process. In `make test`.
  @Tag public static var process: Self

  /// The system's clock. In `make test`.
  @Tag public static var realTime: Self

  /// Much material, or many rounds. In `make test`.
  @Tag public static var long: Self

  /// A campaign or a soak at full size. In `make test-all` alone.
  @Tag public static var exhaustive: Self
}
