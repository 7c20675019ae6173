// SPDX-License-Identifier: MPL-2.0

internal import CGStreamer

/// Returns the MD5 of some bytes as hexadecimal digits, the form of golden files.
public func md5(_ bytes: [UInt8]) -> String {
  guard let text = g_compute_checksum_for_data(G_CHECKSUM_MD5, bytes, gsize(bytes.count)) else {
    return ""
  }
  defer { g_free(text) }
  return String(cString: text)
}
