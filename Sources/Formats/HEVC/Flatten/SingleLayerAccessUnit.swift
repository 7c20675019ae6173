// SPDX-License-Identifier: MPL-2.0

/// An access unit of one layer, made of a layered one.
public struct SingleLayerAccessUnit: Sendable {
  /// The NAL units in order, parameter sets left out. Payloads are ranges of the bytes that the
  /// layered access unit was given in, which may be one before the last: see ``accessUnit``.
  public internal(set) var nalUnits: [RewrittenNALUnit]
  /// NAL unit header of the picture.
  public internal(set) var header: NALUnitHeader
  /// PicOrderCntVal of the picture in the single-layer stream; nil for a base layer taken out as
  /// it is, whose slices are not read.
  public internal(set) var pictureOrderCount: Int?
  /// `nuh_layer_id` that the picture had: 0 for the base layer.
  public internal(set) var layerID: Int
  /// Whether decoders output the picture (`pic_output_flag`).
  public internal(set) var isOutput: Bool
  /// The number of the layered access unit that the picture is of.
  public var accessUnit = 0
  /// The parameter sets that stand in front of the picture in a byte stream: at random access
  /// points and where they change.
  public internal(set) var inBandParameterSets: SingleLayerParameterSets?

  /// Type of the picture.
  public var type: NALUnitType { header.type }
  /// Decoding can begin here: what a container calls a sync sample.
  public var isRandomAccess: Bool { type.isIRAP }

  /// Size in bytes of what ``write(framing:source:into:)`` writes.
  public func byteCount(framing: NALUnitFraming) -> Int {
    let sets = framing == .annexB ? inBandParameterSets?.nalUnits ?? [] : []
    return sets.reduce(0) { $0 + 4 + $1.count }
      + nalUnits.reduce(0) { isLeftOut($1, framing) ? $0 : $0 + 4 + $1.byteCount }
  }

  /// Writes the access unit: as a byte stream with its parameter sets inside, or with prefixes of
  /// four bytes and without parameter sets and delimiters, as in samples of an `hvc1` track.
  ///
  /// - Parameters:
  ///   - framing: how the NAL units are told apart.
  ///   - source: the bytes that the layered access unit was given in.
  ///   - output: at least ``byteCount(framing:)`` bytes.
  /// - Precondition: `output` is large enough, and `source` is what was given.
  public func write(
    framing: NALUnitFraming, source: RawSpan, into output: UnsafeMutableRawBufferPointer
  ) {
    var sink = NALUnitSink(output, framing)
    var sets = framing == .annexB ? inBandParameterSets?.nalUnits ?? [] : []
    for unit in nalUnits where !isLeftOut(unit, framing) {
      if unit.header.type != .accessUnitDelimiter {
        for set in sets { sink.append(set) }
        sets = []
      }
      sink.append(unit, source: source)
    }
  }

  private func isLeftOut(_ unit: RewrittenNALUnit, _ framing: NALUnitFraming) -> Bool {
    framing != .annexB && unit.header.type == .accessUnitDelimiter
  }
}
