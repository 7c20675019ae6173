// SPDX-License-Identifier: MPL-2.0

import ISOBMFF

extension MovieWriter {
  /// Appends a sample and its bytes.
  mutating func append(
    _ sample: SampleDescription, _ bytes: [UInt8], to track: TrackID, file: inout [UInt8]
  ) throws {
    try append(sample, to: track)
    file += bytes
  }

  /// The whole file, from the header and sample bytes so far.
  func complete(_ file: [UInt8]) throws -> [UInt8] {
    let tail = try finish()
    var file = file + tail.index
    let start = Int(tail.patch.offset)
    file.replaceSubrange(start..<start + tail.patch.bytes.count, with: tail.patch.bytes)
    return file
  }
}
