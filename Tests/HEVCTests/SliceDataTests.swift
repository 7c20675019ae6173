// SPDX-License-Identifier: MPL-2.0

import HEVC
import StereoVideo
import TestKit
import Testing

/// Where encryption finds the data of slices.
@Suite("Slice data") struct SliceDataTests {
  @Test("every slice has its data after its header; parameter sets come from the stream")
  func slices() throws {
    var finder = try SliceDataFinder(parameterSets: [])
    let stream = try Stream.slices.bytes(.left)
    let units = try NALUnitFraming.annexB.nalUnits(in: stream.span.bytes)
    let ranges = finder.ranges(in: stream.span.bytes, nalUnits: units) { Issue.record("\($0)") }
    let slices = units.filter { stream[$0.lowerBound] >> 1 & 63 < 32 }
    #expect(ranges.count == slices.count && ranges.count > 8)
    for (range, slice) in zip(ranges, slices) {
      #expect(range.upperBound == slice.upperBound)
      #expect((4...60).contains(range.lowerBound - slice.lowerBound), "\(range), \(slice)")
    }
  }

  @Test("of a slice whose header cannot be read, all but the first two bytes are data")
  func damaged() throws {
    var finder = try SliceDataFinder(parameterSets: [])
    let stream = try Stream.main8.bytes(.left)
    let units = try NALUnitFraming.annexB.nalUnits(in: stream.span.bytes)
    let slices = units.filter { stream[$0.lowerBound] >> 1 & 63 < 32 }
    var count = 0
    let ranges = finder.ranges(in: stream.span.bytes, nalUnits: slices) { _ in count += 1 }
    #expect(count == slices.count)
    #expect(ranges == slices.map { $0.lowerBound + 2..<$0.upperBound })
  }
}
