// SPDX-License-Identifier: MPL-2.0

import ISOBMFF
import Testing

/// What sample tables can ask for is bounded by the size of the file.
struct SampleBudgetTests {
  private let record = SampleRecord(
    offset: 40, size: 10, decodeTime: 0, presentationTime: 0, duration: 1, isSync: true)

  @Test("every byte may be read at most sixteen times")
  func bytes() throws {
    var budget = SampleBudget()
    for _ in 0..<16 { try budget.count(1000, at: record, ofTrack: 0, fileSize: 1000) }
    #expect(budget.byteCount == 16_000)
    let error = #expect(throws: ISOBMFFError.self) {
      try budget.count(1, at: record, ofTrack: 2, fileSize: 1000)
    }
    #expect(error?.path == "moov/trak[2]")
    #expect(error?.offset == 40)
    #expect(error?.reason.contains("17 samples of 16001 bytes") == true)
  }

  @Test("a file has no more samples than bytes, empty ones too")
  func samples() throws {
    var budget = SampleBudget()
    for _ in 0..<100 { try budget.count(0, at: record, ofTrack: 0, fileSize: 100) }
    #expect(throws: ISOBMFFError.self) {
      try budget.count(0, at: record, ofTrack: 0, fileSize: 100)
    }
  }

  @Test("sizes beyond 64 bits in all are refused, in a file of any size")
  func overflow() throws {
    var budget = SampleBudget()
    try budget.count(.max, at: record, ofTrack: 0, fileSize: .max)
    try budget.count(.max, at: record, ofTrack: 0, fileSize: .max)
    #expect(budget.byteCount == .max)
    #expect(throws: ISOBMFFError.self) {
      try budget.count(.max, at: record, ofTrack: 0, fileSize: 1 << 40)
    }
  }
}
