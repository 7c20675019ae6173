// SPDX-License-Identifier: MPL-2.0

internal import HEVC
internal import StereoVideo

/// A slice with the access unit's bytes that contain it. A class, since it is handed on often.
final class CodedSlice: Sendable {
  let header: SliceHeader
  let bytes: [UInt8]
  /// Range of the NAL unit in `bytes`.
  let range: Range<Int>

  init(header: SliceHeader, bytes: [UInt8], range: Range<Int>) {
    self.header = header
    self.bytes = bytes
    self.range = range
  }

  /// The whole NAL unit without emulation prevention.
  var wholeRBSP: RBSP {
    let bytes = bytes
    return RBSP(bytes.span.bytes.extracting(range))
  }
}

/// The slices of an access unit by view.
struct CodedAccessUnit: Sendable {
  /// The slices of the base picture, at least one.
  var base: [CodedSlice] = []
  /// The slices of the dependent picture; empty if there is none.
  var dependent: [CodedSlice] = []
  /// Why the dependent picture is missing; nil if it is not, or if there is none.
  var dependentError: MVCError?
  /// `inter_view_flag` of the base picture.
  var isInterViewReference = true
  /// The SEI NAL units of the base view that are kept.
  var sei: [[UInt8]] = []
}

/// Reads access units of both views.
struct AccessUnitReader: Sendable {
  /// The parameter sets received so far.
  var sets = ParameterSetStore()
  /// The eye of the base view, as far as the stream says it.
  private(set) var baseEye: Eye?
  /// The timing in the SPS of the latest base picture.
  private var timing: VideoUsabilityInformation.Timing?

  /// Frames a second; nil if unknown. A frame lasts two ticks (E.2.1).
  var frameRate: (numerator: Int, denominator: Int)? {
    guard let timing, timing.timeScale > 0, timing.unitsInTick > 0 else { return nil }
    return (timing.timeScale, 2 * timing.unitsInTick)
  }

  /// Reads an access unit.
  ///
  /// - Parameters:
  ///   - unit: the access unit of the base view's stream.
  ///   - other: that of the dependent view's stream, if it has one of its own.
  /// - Throws: ``MVCError`` if the base picture is damaged or not supported.
  mutating func read(
    _ unit: AccessUnit, _ other: AccessUnit?
  ) throws(MVCError) -> CodedAccessUnit {
    var result = CodedAccessUnit()
    var failure: MVCError?
    for range in unit.nalUnits {
      do throws(MVCError) {
        try read(unit.bytes, range, .base, &result)
      } catch {
        failure = failure ?? error
      }
    }
    for range in other?.nalUnits ?? [] {
      do throws(MVCError) {
        try read(other?.bytes ?? [], range, .dependent, &result)
      } catch {
        result.dependentError = result.dependentError ?? error
      }
    }
    if result.dependentError != nil { result.dependent = [] }
    if let failure { throw failure }
    timing = result.base.first?.header.sets.sps.vui?.timing
    return result
  }

  private mutating func read(
    _ bytes: [UInt8], _ range: Range<Int>, _ stream: MVCView, _ result: inout CodedAccessUnit
  ) throws(MVCError) {
    let nalUnit = bytes.span.bytes.extracting(range)
    guard let header = NALUnitHeader(nalUnit) else { return }
    switch header.type {
    case .sequenceParameterSet where stream == .dependent: break
    case .sequenceParameterSet, .pictureParameterSet, .subsetSequenceParameterSet:
      // Readers of slices find out whether they need a damaged one.
      try? sets.add(nalUnit, from: stream)
    case .sei:
      guard let information = SupplementalInformation(Array(bytes[range])) else { break }
      baseEye = information.baseEye ?? baseEye
      if stream == .base, result.base.isEmpty, let kept = information.flattened {
        result.sei.append(kept)
      }
    case .prefix:
      result.isInterViewReference = header.mvc?.isInterViewReference ?? true
    case .slice, .idrSlice, .dataPartitionA:
      guard stream == .base else { break }
      let slice = try SliceHeader(nalUnit: nalUnit, store: &sets)
      append(CodedSlice(header: slice, bytes: bytes, range: range), to: &result.base)
    case .sliceExtension:
      do throws(MVCError) {
        let slice = try SliceHeader(nalUnit: nalUnit, store: &sets)
        guard slice.header.mvc?.viewID == slice.sets.subset?.viewID else { break }
        append(CodedSlice(header: slice, bytes: bytes, range: range), to: &result.dependent)
      } catch {
        result.dependentError = result.dependentError ?? error
      }
    default: break
    }
  }

  /// Adds a slice to those of its picture; slices of another picture, which damage leaves, are
  /// dropped.
  private func append(_ slice: CodedSlice, to slices: inout [CodedSlice]) {
    guard !slice.header.isRedundant,
      slices.first.map({ $0.header.identity == slice.header.identity }) ?? true
    else { return }
    slices.append(slice)
  }
}
