// SPDX-License-Identifier: MPL-2.0

public import StereoVideo

extension VideoExtendedUsage {
  /// What the box says of how the picture surrounds the viewer; nil where it says nothing of that.
  ///
  /// - Parameters:
  ///   - width: of one eye's picture in pixels, for lenses that do not say what they are for.
  ///   - height: the same.
  public func immersiveMetadata(width: Int, height: Int) -> ImmersiveMetadata? {
    let projection: ImmersiveProjection
    switch projectionKind.flatMap({ ProjectionKind(fourCC: $0.description) }) {
    case .equirectangular: projection = .known(.equirectangular(.full))
    case .halfEquirectangular: projection = .known(.equirectangular(.frontHalf))
    case .fisheye: projection = .appleImmersiveVideo
    case .parametric:
      let lens = lensCollection?.lens(role: "left") ?? lensCollection?.lenses.first
      let calibration = lens?.calibration(width: Double(width), height: Double(height))
      projection = calibration.map { .known(.parametric($0)) } ?? .parametric
    case .rectilinear, nil: return nil
    }
    return ImmersiveMetadata(projection, packing: packing)
  }

  /// The box for an immersive movie, and what it has no place for; no box where it has no code for
  /// the projection.
  ///
  /// - Parameters:
  ///   - immersive: how the picture surrounds the viewer.
  ///   - metadata: how a pair was shot; nil for one eye.
  ///   - lenses: of a projection of kind `prim`; nil to make one of what is known of it.
  public static func make(
    _ immersive: ImmersiveMetadata, pair metadata: SpatialMetadata?,
    lenses said: LensCollection? = nil
  ) -> (box: VideoExtendedUsage?, losses: [ImmersiveLoss]) {
    var losses: [ImmersiveLoss] = []
    if immersive.pose != .front { losses.append(.pose(immersive.pose)) }
    if immersive.initialView != .front { losses.append(.initialView(immersive.initialView)) }
    guard let kind = immersive.projection.kind else {
      if case .known(.equirectangular(let bounds)) = immersive.projection {
        losses.append(.bounds(bounds))
      } else {
        losses.append(.projection(immersive.projection))
      }
      return (nil, losses)
    }
    var lenses = kind == .parametric ? said : nil
    if lenses == nil, case .known(.parametric(let calibration)) = immersive.projection {
      guard let lens = Lens(calibration, role: "mono") else {
        return (nil, losses + [.projection(immersive.projection)])
      }
      lenses = LensCollection([lens])
    }
    guard var metadata else {
      return (VideoExtendedUsage(monoscopic: kind, lenses: lenses), losses)
    }
    metadata.projection = kind
    if immersive.packing?.arrangement == .frameByFrame, let packing = immersive.packing {
      losses.append(.packing(packing))
    }
    return (VideoExtendedUsage(metadata, packing: immersive.packing, lenses: lenses), losses)
  }
}
