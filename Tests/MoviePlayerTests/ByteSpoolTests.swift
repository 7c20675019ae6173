// SPDX-License-Identifier: MPL-2.0

import MoviePlayer
import TestKit
import Testing

struct ByteSpoolTests {
  @Test("bytes stay the same, in slices of all sizes, even after the spool is freed")
  func content() throws {
    var dice = Dice(5)
    var kept: [(ByteSlice, UInt8, Int)] = []
    do {
      var spool = try ByteSpool()
      for size in [1, 4096, 3 << 20, 15 << 20, 17 << 20, 1, 0] {
        let value = UInt8(dice.next(below: 256))
        let slice = ByteSlice([UInt8](repeating: value, count: size))
        kept.append((try spool.append(slice), value, size))
      }
    }
    for (slice, value, size) in kept {
      #expect(slice.count == size)
      #expect(slice.withBytes { $0.allSatisfy { $0 == value } })
    }
  }

  @Test("data beyond the limit is not kept")
  func limit() throws {
    var spool = try ByteSpool(limit: 1 << 25)
    let slice = ByteSlice([UInt8](repeating: 1, count: 9 << 20))
    _ = try spool.append(slice)
    _ = try spool.append(slice)
    #expect(throws: ByteSpool.Failure.self) {
      for _ in 0..<3 { _ = try spool.append(slice) }
    }
  }
}
