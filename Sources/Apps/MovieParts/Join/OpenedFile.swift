// SPDX-License-Identifier: MPL-2.0

internal import Glibc

/// A file that is open for reading from its beginning to its end, as long as this object lives.
final class OpenedFile: Sendable {
  let descriptor: Int32

  init?(_ path: String) {
    descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
    posix_fadvise(descriptor, 0, 0, POSIX_FADV_SEQUENTIAL)
  }

  deinit { if descriptor >= 0 { close(descriptor) } }
}
