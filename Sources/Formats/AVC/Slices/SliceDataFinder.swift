// SPDX-License-Identifier: MPL-2.0

internal import HEVC
package import StereoVideo

/// Finds the slice data of access units, without the slice headers: what the encryption of samples
/// covers (ISO/IEC 23001-7 9.5.2).
package struct SliceDataFinder: Sendable {
  private var sets = ParameterSetStore()

  /// Creates a finder for a stream with parameter sets from outside, such as those of its sample
  /// entry.
  ///
  /// - Throws: `SyntaxError` if one of them is damaged.
  package init(parameterSets: [[UInt8]]) throws(SyntaxError) {
    for unit in parameterSets { try sets.add(unit.span.bytes) }
  }

  /// Returns the ranges of an access unit that hold slice data, one for each slice. A byte that
  /// still has bits of the header counts as one of the header. If a header is damaged, everything
  /// after the NAL unit header counts, so that no picture stays clear.
  ///
  /// - Parameters:
  ///   - bytes: the access unit.
  ///   - nalUnits: the ranges of its NAL units, in order. Parameter sets among them are kept.
  ///   - problem: called for each slice header or parameter set that cannot be read.
  package mutating func ranges(
    in bytes: RawSpan, nalUnits: [Range<Int>], problem: (MVCError) -> Void
  ) -> [Range<Int>] {
    var ranges: [Range<Int>] = []
    for range in nalUnits {
      let unit = bytes.extracting(range)
      guard let header = NALUnitHeader(unit) else { continue }
      let isSlice = Self.sliceTypes.contains(header.type)
      var start = header.byteCount
      do throws(MVCError) {
        try readingSyntax { () throws(SyntaxError) in try sets.add(unit) }
        if isSlice { start = try dataOffset(in: unit) ?? start }
      } catch {
        problem(error)
      }
      guard isSlice else { continue }
      ranges.append(range.lowerBound + min(start, range.count)..<range.upperBound)
    }
    return ranges
  }

  private static let sliceTypes =
    [
      .slice, .idrSlice, .dataPartitionA, .dataPartitionB, .dataPartitionC, .auxiliarySlice,
      .sliceExtension, .depthSliceExtension,
    ] as Set<NALUnitType>

  /// Returns where the data of a slice begins; nil if that is not read.
  private mutating func dataOffset(in unit: RawSpan) throws(MVCError) -> Int? {
    let slice = try SliceHeader(nalUnit: unit, store: &sets)
    guard !slice.isRedundant else { return nil }
    return slice.rbsp.offsetInNALUnit(of: (slice.layout.tail.upperBound + 7) >> 3)
  }
}
