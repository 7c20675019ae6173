// SPDX-License-Identifier: MPL-2.0

import Packager

/// Reads a media playlist, and what it is written as again.
func readPlaylist(_ bytes: [UInt8]) {
  guard let playlist = try? MediaPlaylist(parsing: String(decoding: bytes, as: UTF8.self)) else {
    return
  }
  let text = playlist.text
  guard let again = try? MediaPlaylist(parsing: text) else {
    preconditionFailure("what was written cannot be read")
  }
  precondition(again.text == text)
}
