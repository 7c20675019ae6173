// SPDX-License-Identifier: MPL-2.0

public import StereoVideo

extension VideoExtendedUsage {
  /// Returns the projection and packing that the box states; nil if it states no immersive
  /// projection.
  ///
  /// - Parameters:
  ///   - width: width of one eye's picture in pixels, for lenses without a reference size.
  ///   - height: height of one eye's picture in pixels, likewise.
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

  /// Returns the box for immersive video, and the metadata that it cannot hold; no box if it has no
  /// code for the projection.
  ///
  /// - Parameters:
  ///   - immersive: the projection and packing.
  ///   - metadata: stereo camera metadata; nil for monoscopic video.
  ///   - ownLenses: the lenses of a `prim` projection; nil to derive one from the projection's
  ///     calibration.
  public static func make(
    _ immersive: ImmersiveMetadata, pair metadata: SpatialMetadata?,
    lenses ownLenses: LensCollection? = nil
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
    var lenses = kind == .parametric ? ownLenses : nil
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

extension SphericalVideo {
  /// The projection kind of the box; nil if it covers neither the full sphere nor its front half.
  public var kind: ProjectionKind? { immersiveMetadata(nil)?.projection.kind }

  /// Returns the metadata of this box and of `stereo` in the same entry; nil if the projection is
  /// unknown.
  public func immersiveMetadata(_ stereo: StereoscopicMode?) -> ImmersiveMetadata? {
    let projection: ImmersiveProjection
    switch self.projection {
    case .equirectangular(let top, let bottom, let left, let right):
      let bounds = SphereBounds(top: top, bottom: bottom, left: left, right: right)
      guard bounds.leavesSomething else { return nil }
      projection = .known(.equirectangular(bounds))
    case .cubemap(let layout, let padding):
      guard layout == 0, let padding = Int(exactly: padding), padding <= 4096 else { return nil }
      projection = .known(.cubemap(.sphericalVideo, padding: padding))
    case .mesh: projection = .mesh
    case nil: return nil
    }
    func degrees(_ fixed: Int32) -> Double { Double(fixed) / 65536 }
    return ImmersiveMetadata(
      projection,
      pose: SphereOrientation(
        yaw: degrees(pose.yaw), pitch: degrees(pose.pitch), roll: degrees(pose.roll)),
      packing: stereo?.packing)
  }

  /// Returns the boxes for immersive video, and the metadata that they cannot hold; no boxes if
  /// they have no code for the projection.
  public static func make(
    _ immersive: ImmersiveMetadata, metadataSource: String
  ) -> (video: SphericalVideo?, stereo: StereoscopicMode?, losses: [ImmersiveLoss]) {
    var losses: [ImmersiveLoss] = []
    if immersive.initialView != .front { losses.append(.initialView(immersive.initialView)) }
    var stereo = StereoscopicMode.monoscopic
    if let packing = immersive.packing {
      if let mode = StereoscopicMode(packing) {
        stereo = mode
      } else {
        losses.append(.packing(packing))
      }
    }
    func degrees(_ value: Double) -> Int32? {
      value.isFinite ? Int32(exactly: (value * 65536).rounded()) : nil
    }
    var pose = (yaw: Int32(0), pitch: Int32(0), roll: Int32(0))
    if let yaw = degrees(immersive.pose.yaw), let pitch = degrees(immersive.pose.pitch),
      let roll = degrees(immersive.pose.roll)
    {
      pose = (yaw, pitch, roll)
    } else {
      losses.append(.pose(immersive.pose))
    }
    let projection: Projection
    switch immersive.projection {
    case .known(.equirectangular(let bounds)):
      projection = .equirectangular(
        top: bounds.top, bottom: bounds.bottom, left: bounds.left, right: bounds.right)
    case .known(.cubemap(.sphericalVideo, let padding)):
      guard let padding = UInt32(exactly: padding) else { fallthrough }
      projection = .cubemap(layout: 0, padding: padding)
    default:
      return (nil, nil, losses + [.projection(immersive.projection)])
    }
    return (
      SphericalVideo(projection, pose: pose, metadataSource: metadataSource), stereo, losses
    )
  }
}

extension Track {
  /// The projection and packing according to `vexu`, else `sv3d`, else the Spherical Video V1 text;
  /// nil if none of them states a projection.
  public var immersiveMetadata: ImmersiveMetadata? {
    guard case .video(let entry) = sampleEntries.first else { return nil }
    let text = self.sphericalVideoV1?.immersiveMetadata
    guard var found = entry.immersiveMetadata ?? text else { return nil }
    found.packing = found.packing ?? text?.packing
    if found.initialView == .front { found.initialView = text?.initialView ?? .front }
    return found
  }
}

extension VisualSampleEntry {
  /// The projection and packing according to `vexu` or else `sv3d`; nil if neither states a
  /// projection.
  public var immersiveMetadata: ImmersiveMetadata? {
    var (width, height) = (Int(width), Int(height))
    switch packing?.arrangement {
    case .sideBySide: width /= 2
    case .topBottom: height /= 2
    case .frameByFrame, nil: break
    }
    let spherical = sphericalVideo?.immersiveMetadata(stereoscopicMode)
    let apple = extendedUsage?.immersiveMetadata(width: width, height: height)
    guard var found = apple ?? spherical else { return nil }
    // Each complements what the other cannot state.
    found.packing = found.packing ?? packing
    if found.pose == .front { found.pose = spherical?.pose ?? .front }
    return found
  }
}
