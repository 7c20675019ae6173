// SPDX-License-Identifier: MPL-2.0

public import StereoVideo

/// The `vexu` box of a video sample entry: which eyes a track holds, how they were shot, how
/// they share a frame and how they are projected (Apple, "ISO Base Media File Format and Apple
/// HEVC Stereo Video").
///
/// The box's bytes are kept as they are, so that one read from a file is written back unchanged.
public struct VideoExtendedUsage: Equatable, Sendable {
  /// Everything behind the box's header.
  public internal(set) var payload: [UInt8]
  /// `eyes/stri`, or nil without one.
  public internal(set) var views: StereoViews?
  /// `eyes/hero`: 0 neither eye, 1 left, 2 right; nil without one.
  public internal(set) var heroEyeIndicator: UInt8?
  /// `eyes/cams/blin`.
  public internal(set) var baseline: Baseline?
  /// `eyes/cmfy/dadj`.
  public internal(set) var disparityAdjustment: DisparityAdjustment?
  /// `proj/prji`: one of `ProjectionKind`'s codes, or one that is newer than this type.
  public internal(set) var projectionKind: FourCC?
  /// `lnsc` or `proj/lnsc`: the lenses of a projection of kind `prim`; nil where there are none
  /// that can be read.
  public internal(set) var lensCollection: LensCollection?
  /// `pack/pkin`: `side`, `over`, or a newer one.
  public internal(set) var viewPackingKind: FourCC?

  /// A stereo track's box: both eyes present, and what is known of them.
  ///
  /// Every field that is nil is left out. `horizontalFieldOfView` has a box of its own (`hfov`).
  /// Packing is written for side by side and top-bottom; frame by frame has no code.
  ///
  /// - Parameters:
  ///   - metadata: how the pair was shot.
  ///   - packing: how both eyes share a frame; nil where they do not.
  ///   - lenses: of a projection of kind `prim`.
  public init(
    _ metadata: SpatialMetadata, packing: PackingLayout? = nil, lenses: LensCollection? = nil
  ) {
    var views: StereoViews = [.leftEye, .rightEye]
    if let packing, packing.rightViewFirst {
      views.insert(.reversed)
    }
    self.views = views
    heroEyeIndicator = metadata.heroEye.map { $0 == .left ? 1 : 2 }
    baseline = metadata.baseline
    disparityAdjustment = metadata.disparityAdjustment
    projectionKind = metadata.projection.flatMap { FourCC(exactly: $0.fourCC) }
    viewPackingKind =
      switch packing?.arrangement {
      case .sideBySide: "side"
      case .topBottom: "over"
      case .frameByFrame, nil: nil
      }
    lensCollection = lenses
    payload = []
    payload = writtenPayload(others: Self.others(lenses))
  }

  /// The box of a picture that is no pair: its projection alone, without `eyes`.
  ///
  /// - Parameters:
  ///   - projection: how the picture surrounds the viewer.
  ///   - lenses: of a projection of kind `prim`.
  public init(monoscopic projection: ProjectionKind, lenses: LensCollection? = nil) {
    projectionKind = FourCC(exactly: projection.fourCC)
    lensCollection = lenses
    payload = []
    payload = writtenPayload(others: Self.others(lenses))
  }

  private static func others(_ lenses: LensCollection?) -> [String: [OpaqueBox]] {
    guard let lenses else { return [:] }
    return ["": [OpaqueBox("lnsc", payload: lenses.payload)]]
  }

  /// What the box says of how the pair was shot, without the field of view.
  public var metadata: SpatialMetadata {
    let heroEye: Eye? =
      switch heroEyeIndicator {
      case 1: .left
      case 2: .right
      default: nil
      }
    return SpatialMetadata(
      heroEye: heroEye, baseline: baseline, disparityAdjustment: disparityAdjustment,
      projection: projectionKind.flatMap { ProjectionKind(fourCC: $0.description) })
  }

  /// How the two eyes share a frame; nil where the box does not say that they do.
  public var packing: PackingLayout? {
    let reversed = views?.contains(.reversed) ?? false
    return switch viewPackingKind {
    case "side": PackingLayout(.sideBySide, rightViewFirst: reversed)
    case "over": PackingLayout(.topBottom, rightViewFirst: reversed)
    default: nil
    }
  }
}
