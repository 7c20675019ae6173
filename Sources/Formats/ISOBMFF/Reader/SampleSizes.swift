// SPDX-License-Identifier: MPL-2.0

/// How many bytes each sample has: `stsz` or `stz2` (ISO/IEC 14496-12 8.7.3).
enum SampleSizes: Sendable {
  case uniform(UInt32, count: Int)
  case listed(SizeList)

  var count: Int {
    switch self {
    case .uniform(_, let count): count
    case .listed(let list): list.count
    }
  }

  func size(of sample: Int) -> UInt32 {
    switch self {
    case .uniform(let size, _): size
    case .listed(let list): list.size(of: sample)
    }
  }

  /// The bytes of the samples in the range together.
  func total(_ range: Range<Int>) -> UInt64 {
    switch self {
    case .uniform(let size, _):
      UInt64(clamping: range.count).multipliedReportingOverflow(by: UInt64(size)).partialValue
    case .listed(let list): list.total(range)
    }
  }

  /// A table of sizes, with remembered sums.
  struct SizeList: Sendable {
    private static let interval = 16

    private let table: BigEndianTable
    private let fieldBits: Int
    let count: Int
    private let sums: [UInt64]

    /// `fieldBits` is 4, 8, 16 or 32; with 4 each row of the table has two sizes.
    init(_ table: BigEndianTable, fieldBits: Int, count: Int) {
      self.table = table
      self.fieldBits = fieldBits
      self.count = count
      var sums: [UInt64] = []
      sums.reserveCapacity(count / Self.interval + 1)
      var sum: UInt64 = 0
      for sample in 0..<count {
        if sample % Self.interval == 0 {
          sums.append(sum)
        }
        sum += UInt64(Self.size(of: sample, in: table, fieldBits: fieldBits))
      }
      self.sums = sums
    }

    func size(of sample: Int) -> UInt32 {
      Self.size(of: sample, in: table, fieldBits: fieldBits)
    }

    func total(_ range: Range<Int>) -> UInt64 {
      // Most ranges lie in one chunk of samples, which are few.
      range.count <= Self.interval
        ? sum(range) : total(before: range.upperBound) &- total(before: range.lowerBound)
    }

    private func total(before sample: Int) -> UInt64 {
      let checkpoint = min(sample / Self.interval, sums.count - 1)
      guard checkpoint >= 0 else { return 0 }
      return sums[checkpoint]
        &+ sum(checkpoint * Self.interval..<max(sample, checkpoint * Self.interval))
    }

    /// The sizes one by one; those of no sample are 0.
    private func sum(_ range: Range<Int>) -> UInt64 {
      var sum: UInt64 = 0
      for index in range.clamped(to: 0..<count) { sum &+= UInt64(size(of: index)) }
      return sum
    }

    @inline(__always)
    private static func size(of sample: Int, in table: BigEndianTable, fieldBits: Int) -> UInt32 {
      switch fieldBits {
      case 32: table.number(sample)
      case 16: UInt32(table.number(sample, as: UInt16.self))
      case 8: UInt32(table.number(sample, as: UInt8.self))
      default:
        UInt32(table.number(sample / 2, as: UInt8.self) >> (sample.isMultiple(of: 2) ? 4 : 0)) & 15
      }
    }
  }
}
