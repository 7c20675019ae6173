// SPDX-License-Identifier: MPL-2.0

public import StereoVideo

/// The parameter sets received so far for the base layer and the layer above it.
///
/// Pictures of the dependent layer look up their sets in their own layer first, then in the base
/// layer: some encoders number the sets of both layers in one id space, some in two.
public struct ParameterSetStore: Sendable {
  /// A parameter set and the NAL unit it was read from. A class, because sets are large and every
  /// slice refers to two of them.
  final class Stored<Set: Sendable>: Sendable {
    let nalUnit: [UInt8]
    let set: Set

    init(nalUnit: [UInt8], set: Set) {
      self.nalUnit = nalUnit
      self.set = set
    }
  }

  private(set) var vps = [Stored<VideoParameterSet>?](repeating: nil, count: 16)
  private(set) var sps = [[Stored<SequenceParameterSet>?]](
    repeating: Array(repeating: nil, count: 16), count: 2)
  private(set) var pps = [[Stored<PictureParameterSet>?]](
    repeating: Array(repeating: nil, count: 64), count: 2)

  /// Number of changes so far. Anything derived from the sets stays valid while this is unchanged.
  private(set) var generation = 0

  /// Creates an empty store.
  public init() {}

  /// Adds `nalUnit` if it is a VPS, SPS or PPS of layer 0 or 1; other NAL units are ignored.
  ///
  /// - Returns: Whether the store changed; false if the set is a repetition.
  /// - Throws: `SyntaxError` if the set cannot be read.
  public mutating func add(_ nalUnit: RawSpan) throws(SyntaxError) -> Bool {
    guard let header = NALUnitHeader(nalUnit), header.type.isParameterSet, header.layerID <= 1
    else { return false }
    if isRepetition(nalUnit, header) { return false }
    generation += 1
    let bytes = [UInt8](copying: nalUnit)
    let layer = Int(header.layerID)
    switch header.type {
    case .videoParameterSet:
      let set = try VideoParameterSet(nalUnit: bytes)
      vps[set.id] = Stored(nalUnit: bytes, set: set)
      reread(set)
    case .sequenceParameterSet:
      let set = try SequenceParameterSet(
        nalUnit: bytes, videoParameterSet: videoParameterSet(referredBy: bytes))
      sps[layer][set.id] = Stored(nalUnit: bytes, set: set)
    default:
      let set = try PictureParameterSet(nalUnit: bytes)
      pps[layer][set.id] = Stored(nalUnit: bytes, set: set)
    }
    return true
  }

  /// Returns the SPS with this id for pictures of `layer`; nil if it has not been received.
  public func sequenceParameterSet(_ id: Int, layer: Int) -> SequenceParameterSet? {
    storedSequenceParameterSet(id, layer: layer)?.set
  }

  func storedSequenceParameterSet(_ id: Int, layer: Int) -> Stored<SequenceParameterSet>? {
    guard 0..<16 ~= id else { return nil }
    return (layer > 0 ? sps[1][id] : nil) ?? sps[0][id]
  }

  /// Returns the PPS with this id for pictures of `layer`; nil if it has not been received.
  public func pictureParameterSet(_ id: Int, layer: Int) -> PictureParameterSet? {
    storedPictureParameterSet(id, layer: layer)?.set
  }

  func storedPictureParameterSet(_ id: Int, layer: Int) -> Stored<PictureParameterSet>? {
    guard 0..<64 ~= id else { return nil }
    return (layer > 0 ? pps[1][id] : nil) ?? pps[0][id]
  }

  /// Returns the PPS with this id for pictures of `layer` and the SPS it refers to.
  func activeSets(pps id: Int, layer: Int) throws(MissingParameterSet) -> ActiveSets {
    guard let pps = storedPictureParameterSet(id, layer: layer) else {
      throw MissingParameterSet(name: "PPS \(id)")
    }
    let spsID = pps.set.sequenceParameterSetID
    guard let sps = storedSequenceParameterSet(spsID, layer: layer) else {
      throw MissingParameterSet(name: "SPS \(spsID)")
    }
    return ActiveSets(pps: pps, sps: sps)
  }

  /// The parameter sets of a slice segment.
  struct ActiveSets {
    let pps: Stored<PictureParameterSet>
    let sps: Stored<SequenceParameterSet>
  }

  /// A parameter set that was referred to but not received.
  struct MissingParameterSet: Error {
    /// Kind and id, such as `PPS 3`.
    let name: String
  }

  /// Returns the VPS with this id; nil if it has not been received.
  public func videoParameterSet(_ id: Int) -> VideoParameterSet? {
    0..<16 ~= id ? vps[id]?.set : nil
  }

  /// Rereads the SPSs in the short form, which take values from the changed VPS. An SPS that cannot
  /// be read with the new VPS is removed.
  private mutating func reread(_ changed: VideoParameterSet) {
    for index in sps[1].indices {
      guard let stored = sps[1][index], stored.set.isMultilayerForm,
        stored.set.videoParameterSetID == changed.id
      else { continue }
      sps[1][index] =
        (try? SequenceParameterSet(nalUnit: stored.nalUnit, videoParameterSet: changed))
        .map { Stored(nalUnit: stored.nalUnit, set: $0) }
    }
  }

  private func videoParameterSet(referredBy sps: [UInt8]) -> VideoParameterSet? {
    guard sps.count > 2 else { return nil }
    return vps[Int(sps[2] >> 4)]?.set
  }

  private func isRepetition(_ nalUnit: RawSpan, _ header: NALUnitHeader) -> Bool {
    let layer = Int(header.layerID)
    switch header.type {
    case .videoParameterSet: return vps.contains { $0?.nalUnit.hasSameBytes(as: nalUnit) == true }
    case .sequenceParameterSet:
      return sps[layer].contains { $0?.nalUnit.hasSameBytes(as: nalUnit) == true }
    default: return pps[layer].contains { $0?.nalUnit.hasSameBytes(as: nalUnit) == true }
    }
  }
}

extension [UInt8] {
  /// Copies the bytes of `span`.
  package init(copying span: RawSpan) {
    self = span.withUnsafeBytes { Array($0) }
  }

  /// Whether the bytes are those of `span`.
  package func hasSameBytes(as span: RawSpan) -> Bool {
    count == span.byteCount && span.withUnsafeBytes { elementsEqual($0) }
  }
}
