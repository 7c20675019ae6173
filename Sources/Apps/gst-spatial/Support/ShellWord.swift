// SPDX-License-Identifier: MPL-2.0

/// Words of a line that a shell reads.
enum ShellWord {
  /// A text as one word, in quotation marks where it needs them.
  static func quoted(_ text: String) -> String {
    let isPlain =
      !text.isEmpty
      && text.utf8.allSatisfy { byte in
        byte | 0x20 >= 0x61 && byte | 0x20 <= 0x7A || byte >= 0x30 && byte <= 0x39
          || "/_.-=+:,".utf8.contains(byte)
      }
    return isPlain ? text : "'" + text.replacing("'", with: "'\\''") + "'"
  }
}
