// SPDX-License-Identifier: MPL-2.0

import Packager

/// Reads a media playlist, writes it and reads it again.
func readPlaylist(_ bytes: [UInt8]) {
  guard let playlist = try? MediaPlaylist(parsing: String(decoding: bytes, as: UTF8.self)) else {
    return
  }
  let text = playlist.text
  guard let again = try? MediaPlaylist(parsing: text) else {
    preconditionFailure("a written playlist cannot be parsed")
  }
  precondition(again.text == text)
}
