// SPDX-License-Identifier: MPL-2.0

/// One eye of a stereo pair.
public enum Eye: String, Sendable, CaseIterable, Codable {
  case left
  case right

  /// Both eyes. Stored, because streaming threads iterate over them for each picture.
  public static let allCases: [Eye] = [.left, .right]

  /// The other eye of the pair.
  public var other: Eye { self == .left ? .right : .left }
}

/// How a stereo pair was captured and should be displayed. Nil fields are unknown.
public struct SpatialMetadata: Equatable, Sendable {
  /// The eye to show if only one can be shown (`vexu/eyes/hero`).
  public var heroEye: Eye?
  /// Horizontal field of view of one eye's picture (`hfov`).
  public var horizontalFieldOfView: HorizontalFieldOfView?
  /// Distance between the centres of the two lenses (`vexu/eyes/cams/blin`).
  public var baseline: Baseline?
  /// Horizontal shift of the two pictures relative to each other (`vexu/eyes/cmfy/dadj`).
  public var disparityAdjustment: DisparityAdjustment?
  /// How the pictures map onto the viewer's surroundings (`vexu/proj/prji`).
  public var projection: ProjectionKind?

  /// Creates metadata; nil fields are unknown.
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

  /// Returns these fields, with missing ones taken from `other`.
  public func fillingGaps(from other: SpatialMetadata) -> SpatialMetadata {
    SpatialMetadata(
      heroEye: heroEye ?? other.heroEye,
      horizontalFieldOfView: horizontalFieldOfView ?? other.horizontalFieldOfView,
      baseline: baseline ?? other.baseline,
      disparityAdjustment: disparityAdjustment ?? other.disparityAdjustment,
      projection: projection ?? other.projection)
  }
}

/// A horizontal field of view in thousandths of a degree, as stored in the `hfov` box.
public struct HorizontalFieldOfView: Equatable, Sendable {
  /// The field of view in thousandths of a degree.
  public let thousandthsOfDegree: UInt32

  /// Creates a field of view from the value of an `hfov` box.
  public init(thousandthsOfDegree: UInt32) {
    self.thousandthsOfDegree = thousandthsOfDegree
  }

  /// Creates a field of view from degrees, above 0 and up to 360; nil otherwise.
  public init?(degrees: Double) {
    guard degrees > 0, degrees <= 360 else { return nil }
    thousandthsOfDegree = UInt32((degrees * 1000).rounded())
  }

  /// The field of view in degrees.
  public var degrees: Double { Double(thousandthsOfDegree) / 1000 }
}

/// The distance between two lenses in micrometres, as stored in the `blin` box.
public struct Baseline: Equatable, Sendable {
  /// The distance in micrometres.
  public let micrometres: UInt32

  /// Creates a baseline from the value of a `blin` box.
  public init(micrometres: UInt32) {
    self.micrometres = micrometres
  }

  /// Creates a baseline from millimetres, 0 to 4,294,967; nil otherwise.
  public init?(millimetres: Double) {
    guard millimetres >= 0, millimetres <= 4_294_967 else { return nil }
    micrometres = UInt32((millimetres * 1000).rounded())
  }

  /// The distance in millimetres.
  public var millimetres: Double { Double(micrometres) / 1000 }
}

/// A horizontal shift of the two eyes' pictures relative to each other, in ten-thousandths of the
/// picture width, as stored in the `dadj` box. Positive values move the scene away from the viewer.
public struct DisparityAdjustment: Equatable, Sendable {
  /// The shift in ten-thousandths of the picture width.
  public let tenThousandths: Int32

  /// Creates a shift from the value of a `dadj` box.
  public init(tenThousandths: Int32) {
    self.tenThousandths = tenThousandths
  }

  /// Creates a shift from picture widths, -1 to 1; nil otherwise.
  public init?(pictureWidths: Double) {
    guard pictureWidths >= -1, pictureWidths <= 1 else { return nil }
    tenThousandths = Int32((pictureWidths * 10000).rounded())
  }

  /// The shift in picture widths.
  public var pictureWidths: Double { Double(tenThousandths) / 10000 }
}
