// SPDX-License-Identifier: MPL-2.0

import ISOBMFF

/// Recovers an interrupted recording and checks that the result lies inside the file.
func recoverMovie(_ bytes: [UInt8]) {
  var recovery = MovieRecovery(fileSize: UInt64(bytes.count))
  while let step = try? recovery.next() {
    switch step {
    case .needBytes(let range):
      precondition(!range.isEmpty && range.upperBound <= UInt64(bytes.count))
      recovery.supply(
        Array(bytes[Int(range.lowerBound)..<Int(range.upperBound)]), at: range.lowerBound)
    case .recovered(let movie):
      precondition(movie.tail.offset <= UInt64(bytes.count))
      precondition(!movie.tracks.isEmpty)
      return
    }
  }
}
