// SPDX-License-Identifier: MPL-2.0

public import StereoVideo

/// Finds the slice data of access units, without the slice headers: what the encryption of samples
/// covers (ISO/IEC 23001-7 9.5.2).
public struct SliceDataFinder: Sendable {
  private var sets = ParameterSetStore()

  /// Creates a finder for a stream with parameter sets from outside, such as those of its sample
  /// entry.
  ///
  /// - Throws: `SyntaxError` if one of them is damaged.
  public init(parameterSets: [[UInt8]]) throws(SyntaxError) {
    for unit in parameterSets { _ = try sets.add(unit.span.bytes) }
  }

  /// Returns the ranges of an access unit that hold slice data, one for each slice segment of all
  /// layers. If a header is damaged or of a layer above the second, everything after the NAL unit
  /// header counts, so that no picture stays clear.
  ///
  /// - Parameters:
  ///   - bytes: the access unit.
  ///   - nalUnits: the ranges of its NAL units, in order. Parameter sets among them are kept.
  ///   - problem: called for each slice header or parameter set that cannot be read.
  public mutating func ranges(
    in bytes: RawSpan, nalUnits: [Range<Int>], problem: (SyntaxError) -> Void
  ) -> [Range<Int>] {
    var ranges: [Range<Int>] = []
    for range in nalUnits {
      let unit = bytes.extracting(range)
      guard let header = NALUnitHeader(unit) else { continue }
      var start = 2
      do throws(SyntaxError) {
        if header.type.isParameterSet { _ = try sets.add(unit) }
        guard header.type.isSliceSegment else { continue }
        if header.layerID <= 1 {
          start = try SliceSegmentHeader(nalUnit: unit, sets: sets, pair: layerSyntax).dataOffset
        }
      } catch {
        problem(error)
        guard header.type.isSliceSegment else { continue }
      }
      ranges.append(range.lowerBound + min(start, range.count)..<range.upperBound)
    }
    return ranges
  }

  /// The values of the VPS that slice headers of the second layer depend on. A stream has one VPS
  /// with two layers.
  private var layerSyntax: InterLayerSyntax {
    sets.vps.lazy.compactMap { $0.flatMap { InterLayerSyntax($0.set) } }.first
      ?? InterLayerSyntax()
  }
}
