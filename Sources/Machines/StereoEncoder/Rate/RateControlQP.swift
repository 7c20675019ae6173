// SPDX-License-Identifier: MPL-2.0

import CX265
import HEVC

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// What the rate control of x265 chose for a picture: a QP before what adaptive quantization and
/// `PictureQP.offset` add.
struct RateControlQP: Equatable, Sendable {
  /// The QP that the picture was coded with, from 0 to `PictureQP.highest`.
  let used: Double
  /// By how much it is above what it would have been but for the video buffer, from 0.
  let raise: Double
}

/// Finds out the QPs of pictures that x265 codes at a constant rate factor with a video buffer.
///
/// The slice header has the QP that a picture begins with, rounded and at most 51. x265 raises it
/// if the buffer asks for that, from one row of blocks to the next, and beyond 51. How far it
/// did so is in the rate factor that it says it coded the picture at.
struct RateControlQPReader {
  private let rateFactor: Double
  /// What x265 adds to the rate factor of I and of B pictures.
  private let intraOffset: Double
  private let bipredictiveOffset: Double
  /// With it, QP and rate factor are always equally far apart: how complex a picture is changes the
  /// QPs of its blocks alone.
  private let hasCUTree: Bool
  private var sets = ParameterSetStore()
  /// By how much QPs are above the rate factor; nil before the first picture.
  private var distance: Double?
  /// The QP of the last picture that others refer to.
  private var referenceQP = 0.0

  /// The highest QP of H.265, as x265 writes it at any bit depth.
  private static let highestWritten = 51.0

  /// - Parameter parameters: what x265 has made of them.
  init(_ parameters: X265Parameters) {
    let values = parameters.values
    rateFactor = values.rfConstant
    intraOffset = -6 * log2(values.ipFactor)
    bipredictiveOffset = 6 * log2(values.pbFactor)
    hasCUTree = values.cuTree != 0
  }

  /// Takes the next picture in coding order; nil if its slice header cannot be read.
  mutating func read(_ coded: X265Encoder.CodedPicture) -> RateControlQP? {
    guard let written = writtenQP(coded.units) else { return nil }
    let typeOffset = offset(of: coded.type)
    let raise = coded.rateFactor - rateFactor - typeOffset
    var used = written
    // x265 says what it was told to use, unless the buffer made a difference of more than half a
    // QP.
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
    // Of other types, the rate factor also has what the pictures that they refer to were raised by.
    return RateControlQP(used: used, raise: isRaised && coded.type == .p ? max(raise, 0) : 0)
  }

  private func offset(of type: X265Encoder.PictureType) -> Double {
    switch type {
    case .idr, .i: intraOffset
    case .b, .referencedB: bipredictiveOffset
    case .p, .auto: 0
    }
  }

  /// That of the first slice.
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
