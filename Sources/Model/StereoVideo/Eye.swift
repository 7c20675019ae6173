// SPDX-License-Identifier: MPL-2.0

/// One of the two eyes a stereo picture is made for.
public enum Eye: String, Sendable, CaseIterable, Codable {
  case left
  case right

  /// Both; made once, since streaming threads go through them for each picture.
  public static let allCases: [Eye] = [.left, .right]

  /// The other eye of the pair.
  public var other: Eye { self == .left ? .right : .left }
}

/// How a stereo pair was shot and is to be shown. A nil field is not known.
public struct SpatialMetadata: Equatable, Sendable {
  /// The eye to show where only one can be shown (`vexu/eyes/hero`).
  public var heroEye: Eye?
  /// What one eye's picture covers horizontally (`hfov`).
  public var horizontalFieldOfView: HorizontalFieldOfView?
  /// The distance between the two lenses' centres (`vexu/eyes/cams/blin`).
  public var baseline: Baseline?
  /// The shift of the two pictures against each other (`vexu/eyes/cmfy/dadj`).
  public var disparityAdjustment: DisparityAdjustment?
  /// How the pictures map onto the viewer's surroundings (`vexu/proj/prji`).
  public var projection: ProjectionKind?

  public init(
    heroEye: Eye? = nil, horizontalFieldOfView: HorizontalFieldOfView? = nil,
    baseline: Baseline? = nil, disparityAdjustment: DisparityAdjustment? = nil,
    projection: ProjectionKind? = nil
  ) {
    self.heroEye = heroEye
    self.horizontalFieldOfView = horizontalFieldOfView
    self.baseline = baseline
    self.disparityAdjustment = disparityAdjustment
    self.projection = projection
  }

  /// These fields, and those of `other` where this one has none.
  public func fillingGaps(from other: SpatialMetadata) -> SpatialMetadata {
    SpatialMetadata(
      heroEye: heroEye ?? other.heroEye,
      horizontalFieldOfView: horizontalFieldOfView ?? other.horizontalFieldOfView,
      baseline: baseline ?? other.baseline,
      disparityAdjustment: disparityAdjustment ?? other.disparityAdjustment,
      projection: projection ?? other.projection)
  }
}

/// A horizontal field of view, in thousandths of a degree as the `hfov` box holds it.
public struct HorizontalFieldOfView: Equatable, Sendable {
  public let thousandthsOfDegree: UInt32

  public init(thousandthsOfDegree: UInt32) {
    self.thousandthsOfDegree = thousandthsOfDegree
  }

  /// Above 0 and up to 360 degrees; nil outside.
  public init?(degrees: Double) {
    guard degrees > 0, degrees <= 360 else { return nil }
    thousandthsOfDegree = UInt32((degrees * 1000).rounded())
  }

  public var degrees: Double { Double(thousandthsOfDegree) / 1000 }
}

/// The distance between two lenses, in micrometres as the `blin` box holds it.
public struct Baseline: Equatable, Sendable {
  public let micrometres: UInt32

  public init(micrometres: UInt32) {
    self.micrometres = micrometres
  }

  /// From 0 to 4,294,967 millimetres; nil outside.
  public init?(millimetres: Double) {
    guard millimetres >= 0, millimetres <= 4_294_967 else { return nil }
    micrometres = UInt32((millimetres * 1000).rounded())
  }

  public var millimetres: Double { Double(micrometres) / 1000 }
}

/// A shift of the two eyes' pictures against each other, in ten-thousandths of the picture's
/// width as the `dadj` box holds it; positive values move the scene away from the viewer.
public struct DisparityAdjustment: Equatable, Sendable {
  public let tenThousandths: Int32

  public init(tenThousandths: Int32) {
    self.tenThousandths = tenThousandths
  }

  /// From -1 to 1, in picture widths; nil outside.
  public init?(pictureWidths: Double) {
    guard pictureWidths >= -1, pictureWidths <= 1 else { return nil }
    tenThousandths = Int32((pictureWidths * 10000).rounded())
  }

  public var pictureWidths: Double { Double(tenThousandths) / 10000 }
}
