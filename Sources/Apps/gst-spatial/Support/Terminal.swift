// SPDX-License-Identifier: MPL-2.0

internal import Glibc

/// Standard output and standard error.
struct Terminal: Sendable {
  let descriptor: Int32

  static let output = Terminal(descriptor: STDOUT_FILENO)
  static let error = Terminal(descriptor: STDERR_FILENO)

  /// A person looks at it, and it understands escape sequences.
  var isInteractive: Bool {
    isatty(descriptor) != 0 && getenv("TERM").map { String(cString: $0) } != "dumb"
  }

  /// Colour is wanted (see no-color.org).
  var hasColor: Bool { isInteractive && getenv("NO_COLOR") == nil }

  /// Characters in a line, as of now; 80 where the terminal does not say.
  var columns: Int {
    var size = winsize()
    guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 80 }
    return Int(size.ws_col)
  }

  func write(_ text: String) {
    var bytes = Array(text.utf8)[...]
    while !bytes.isEmpty {
      let count = bytes.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { return }
      bytes = bytes.dropFirst(count)
    }
  }

  func line(_ text: String) { write(text + "\n") }
}
