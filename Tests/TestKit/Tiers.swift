// SPDX-License-Identifier: MPL-2.0

public import Testing

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
