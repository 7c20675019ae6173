// SPDX-License-Identifier: MPL-2.0

public import StereoVideo

/// A NAL unit of a woven or flattened stream: rewritten bytes, followed by unchanged bytes of the
/// source.
public struct RewrittenNALUnit: Hashable, Sendable {
  /// `nal_unit_header()`
  public var header: NALUnitHeader
  /// The bytes before the payload; empty for an unchanged NAL unit.
  public var beginning: [UInt8]
  /// The remaining bytes, as a range of the source's bytes.
  public var payload: Range<Int>

  /// Size of the NAL unit in bytes.
  public var byteCount: Int { beginning.count + payload.count }

  /// Creates a NAL unit from its parts.
  public init(header: NALUnitHeader, beginning: [UInt8] = [], payload: Range<Int> = 0..<0) {
    self.header = header
    self.beginning = beginning
    self.payload = payload
  }
}

/// An access unit of two layers.
public struct WovenAccessUnit: Sendable {
  /// A NAL unit and the eye whose bytes contain its payload.
  public struct Unit: Sendable {
    /// The NAL unit.
    public var nalUnit: RewrittenNALUnit
    /// The eye whose bytes ``RewrittenNALUnit/payload`` refers to.
    public var eye: Eye
  }

  /// The NAL units in order, without parameter sets.
  public internal(set) var nalUnits: [Unit]
  /// The parameter sets that apply to this access unit.
  public internal(set) var parameterSets: LayeredParameterSets
  /// Whether they differ from those of the preceding access unit; true for the first.
  public internal(set) var parameterSetsChanged: Bool
  /// NAL unit header of the base picture.
  public internal(set) var header: NALUnitHeader
  /// NAL unit type of the dependent picture.
  public internal(set) var dependentType: NALUnitType
  /// PicOrderCntVal of both pictures.
  public internal(set) var pictureOrderCount: Int

  /// NAL unit type of the base picture.
  public var type: NALUnitType { header.type }
  /// Whether decoding can start here: a sync sample in ISO base media files.
  public var isRandomAccess: Bool { type.isIRAP }
  /// Whether other pictures of the same temporal sub-layer may refer to one of these pictures.
  public var isReference: Bool {
    !type.isSubLayerNonReference || !dependentType.isSubLayerNonReference
  }

  /// Whether ``write(framing:left:right:into:)`` writes the parameter sets before the picture.
  public var hasInBandParameterSets: Bool { isRandomAccess || parameterSetsChanged }
}

extension WovenAccessUnit {
  /// Returns the number of bytes that ``write(framing:left:right:into:)`` writes.
  public func byteCount(framing: NALUnitFraming) -> Int {
    switch framing {
    case .annexB:
      let sets = hasInBandParameterSets ? parameterSets.nalUnits : []
      return sets.reduce(0) { $0 + 4 + $1.count }
        + nalUnits.reduce(0) { $0 + 4 + $1.nalUnit.byteCount }
    case .lengthPrefixed:
      return nalUnits.reduce(0) {
        $1.nalUnit.header.type == .accessUnitDelimiter ? $0 : $0 + 4 + $1.nalUnit.byteCount
      }
    }
  }

  /// Writes the access unit.
  ///
  /// As a byte stream, it has in-band parameter sets before random access points and when they
  /// change. With length prefixes, which have 4 bytes, parameter sets and access unit delimiters
  /// are left out, as in samples of an `hvc1` track.
  ///
  /// - Parameters:
  ///   - framing: how the NAL units are delimited.
  ///   - left: the bytes of the left eye's access unit.
  ///   - right: the bytes of the right eye's access unit.
  ///   - output: at least ``byteCount(framing:)`` bytes.
  /// - Precondition: `output` is large enough, and `left` and `right` have the bytes that were
  ///   woven.
  public func write(
    framing: NALUnitFraming, left: RawSpan, right: RawSpan,
    into output: UnsafeMutableRawBufferPointer
  ) {
    var sink = NALUnitSink(output, framing)
    var sets = framing == .annexB && hasInBandParameterSets ? parameterSets.nalUnits : []
    for unit in nalUnits {
      let isDelimiter = unit.nalUnit.header.type == .accessUnitDelimiter
      if isDelimiter, framing != .annexB { continue }
      if !isDelimiter {
        // A delimiter is the first NAL unit of its access unit.
        for set in sets { sink.append(set) }
        sets = []
      }
      sink.append(unit.nalUnit, source: unit.eye == .left ? left : right)
    }
  }
}
