// SPDX-License-Identifier: MPL-2.0

internal import HEVC
internal import StereoVideo

/// Extracts the base view as a byte stream. NAL units stay as they are.
struct BaseViewExtractor: Sendable {
  /// Parameter sets from outside the stream.
  private var sets: [[UInt8]] = []
  /// PPSs that came after the base picture, for the dependent view: without that, they would begin
  /// the next access unit (7.4.1.2.3), so they go there.
  private var carried: [[UInt8]] = []
  /// Whether the next picture needs the sets from outside.
  private var needsSets = true

  /// Adds a parameter set from outside the stream.
  mutating func add(parameterSet: [UInt8]) {
    guard let header = NALUnitHeader(parameterSet.span.bytes),
      !header.type.belongsToDependentView
    else { return }
    // A later set replaces an earlier one with its id.
    sets.removeAll { $0 == parameterSet }
    sets.append(parameterSet)
    needsSets = true
  }

  /// Forgets what has been sent: the next picture is sent with the sets from outside.
  mutating func reset() { (needsSets, carried) = (true, []) }

  /// Returns the base view's part of an access unit; nil if it has none.
  mutating func extract(_ unit: AccessUnit) -> FlattenedStream.Frame? {
    var frame = FlattenedStream.Frame(view: .base)
    var hasPicture = false
    frame.bytes.reserveCapacity(unit.bytes.count)
    if needsSets { for set in sets { RewrittenUnit.append(set, to: &frame.bytes) } }
    for range in unit.nalUnits {
      guard let header = NALUnitHeader(unit.bytes.span.bytes.extracting(range)),
        !header.type.belongsToDependentView
      else { continue }
      if header.type == .pictureParameterSet, hasPicture {
        carried.append(Array(unit.bytes[range]))
        continue
      }
      if header.type != .accessUnitDelimiter {
        for set in carried { RewrittenUnit.append(set, to: &frame.bytes) }
        carried = []
      }
      hasPicture = hasPicture || header.type.isBaseSlice
      frame.isRandomAccess = frame.isRandomAccess || header.type == .idrSlice
      frame.bytes += [0, 0, 0, 1]
      frame.bytes += unit.bytes[range]
    }
    guard hasPicture else { return nil }
    needsSets = false
    return frame
  }
}

/// Extracts the dependent view of a stream in which it has no inter-view references: NAL unit type
/// 20 becomes 1 or 5, and the subset SPS an SPS. Slice headers stay as they are.
struct DependentViewExtractor: Sendable {
  /// The parameter sets as sent, by the id of the PPS.
  private var sent: [Int: (sps: [UInt8], pps: [UInt8])] = [:]

  /// Forgets what has been sent: the next picture is sent with its parameter sets.
  mutating func reset() { sent = [:] }

  /// Returns the dependent picture of an access unit.
  ///
  /// - Parameter store: the parameter sets received so far.
  /// - Throws: ``MVCError/interViewPrediction``.
  mutating func extract(
    _ pair: PicturePair, _ store: ParameterSetStore
  ) throws(MVCError) -> FlattenedStream.Frame? {
    guard let picture = pair.dependent else { return nil }
    guard !picture.refers(to: pair.base.frame) else { throw .interViewPrediction }
    var frame = FlattenedStream.Frame(view: .dependent)
    frame.isRandomAccess = picture.head.isIDR
    if frame.isRandomAccess { sent = [:] }
    RewrittenUnit.append(
      RewrittenUnit.delimiter(picture.slices.map(\.header.kind)), to: &frame.bytes)
    for slice in picture.slices { sendSets(slice.header, store, &frame) }
    for slice in picture.slices {
      let header = slice.header.header
      let type = header.isIDR ? NALUnitType.idrSlice : .slice
      let payload = slice.coded.range.dropFirst(header.byteCount)
      frame.bytes += [0, 0, 0, 1, UInt8(header.refIDC << 5) | type.rawValue]
      frame.bytes += slice.coded.bytes[payload.startIndex..<slice.coded.range.upperBound]
    }
    return frame
  }

  private mutating func sendSets(
    _ slice: SliceHeader, _ store: ParameterSetStore, _ frame: inout FlattenedStream.Frame
  ) {
    let id = slice.sets.pps.id
    guard let sets = store.nalUnits(pps: id, for: .dependent) else { return }
    guard sent[id].map({ $0 != sets }) ?? true else { return }
    if !sent.values.contains(where: { $0.sps == sets.sps }) {
      RewrittenUnit.append(Self.plain(slice.sets.sps), to: &frame.bytes)
    }
    RewrittenUnit.append(sets.pps, to: &frame.bytes)
    sent[id] = sets
  }

  /// Returns the SPS that is the first part of a subset SPS, with the profile High.
  private static func plain(_ sps: SequenceParameterSet) -> [UInt8] {
    var writer = BitWriter()
    writer.u(100, 8)
    writer.u(0, 8)
    writer.u(sps.level, 8)
    writer.copy(sps.data, of: sps.rbsp)
    writer.trailingBits()
    return RewrittenUnit.nalUnit(.sequenceParameterSet, writer)
  }
}
