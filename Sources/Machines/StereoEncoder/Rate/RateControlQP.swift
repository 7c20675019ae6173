// SPDX-License-Identifier: MPL-2.0

import CX265
import HEVC

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// The QP that x265's rate control chose for a picture, before adaptive quantization and
/// `PictureQP.offset`.
struct RateControlQP: Equatable, Sendable {
  /// The QP that the picture was coded with, from 0 to `PictureQP.highest`.
  let used: Double
  /// How far the video buffer has raised it, from 0.
  let raise: Double
}

/// Determines the QPs of pictures that x265 encodes at a constant rate factor with a video buffer.
///
/// The slice header contains the QP that a picture begins with, rounded and at most 51. If the
/// buffer requires it, x265 raises the QP from one row of blocks to the next, and beyond 51. The
/// rate factor that x265 reports for the picture shows how far it did so.
struct RateControlQPReader {
  private let rateFactor: Double
  /// x265's offsets from the rate factor for I and B pictures.
  private let intraOffset: Double
  private let bipredictiveOffset: Double
  /// Whether cutree is on. QP and rate factor are then always equally far apart: the complexity of
  /// a picture changes only the QPs of its blocks.
  private let hasCUTree: Bool
  private var sets = ParameterSetStore()
  /// How far QPs are above the rate factor; nil before the first picture.
  private var distance: Double?
  /// The QP of the last picture that others refer to.
  private var referenceQP = 0.0

  /// The highest QP of H.265, as x265 writes it at any bit depth.
  private static let highestWritten = 51.0

  /// - Parameter parameters: as adjusted by x265.
  init(_ parameters: X265Parameters) {
    let values = parameters.values
    rateFactor = values.rfConstant
    intraOffset = -6 * log2(values.ipFactor)
    bipredictiveOffset = 6 * log2(values.pbFactor)
    hasCUTree = values.cuTree != 0
  }

  /// Returns the QP of the next picture in coding order; nil if its slice header cannot be read.
  mutating func read(_ coded: X265Encoder.CodedPicture) -> RateControlQP? {
    guard let written = writtenQP(coded.units) else { return nil }
    let typeOffset = offset(of: coded.type)
    let raise = coded.rateFactor - rateFactor - typeOffset
    var used = written
    // x265 reports the rate factor that it was given, unless the buffer changed the QP by more than
    // half a step.
    let isRaised = abs(raise) > 0.01
    if isRaised, hasCUTree {
      used = max(written, distance.map { coded.rateFactor + $0 } ?? 0)
    } else if isRaised {
      used = written < Self.highestWritten ? written : PictureQP.highest
    } else if written < Self.highestWritten {
      if distance == nil || coded.type == .p { distance = written - rateFactor }
    } else {
      used = max(written, referenceQP + typeOffset)
    }
    used = min(used, PictureQP.highest)
    if coded.type != .b { referenceQP = used }
    // The rate factors of other types also include the raises of the pictures they refer to.
    return RateControlQP(used: used, raise: isRaised && coded.type == .p ? max(raise, 0) : 0)
  }

  private func offset(of type: X265Encoder.PictureType) -> Double {
    switch type {
    case .idr, .i: intraOffset
    case .b, .referencedB: bipredictiveOffset
    case .p, .auto: 0
    }
  }

  /// Returns the QP in the header of the first slice.
  private mutating func writtenQP(_ units: CodedUnits) -> Double? {
    let bytes = units.bytes.span.bytes
    for range in units.nalUnits {
      let unit = bytes.extracting(range)
      guard let type = NALUnitHeader(unit)?.type else { return nil }
      if type.isParameterSet {
        _ = try? sets.add(unit)
      } else if type.isSliceSegment {
        return (try? SliceSegmentHeader(nalUnit: unit, sets: sets)).map { Double($0.qp) }
      }
    }
    return nil
  }
}
