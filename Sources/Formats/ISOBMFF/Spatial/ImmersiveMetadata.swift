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

extension SphericalVideo {
  /// What the box says, if that is the whole sphere or the front half of it.
  public var kind: ProjectionKind? { immersiveMetadata(nil)?.projection.kind }

  /// What the box says, and `stereo` of the same entry; nil where the projection is not a known one.
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

  /// The boxes for an immersive movie, and what they have no place for; none where they have no code
  /// for the projection.
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
  /// How the pictures surround the viewer: by `vexu`, or else by `sv3d`, or else by the text of
  /// Spherical Video V1; nil where none of them says so.
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
  /// How the pictures surround the viewer: by `vexu`, or else by `sv3d`; nil where neither says so.
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
    // What one has no place for, the other may say.
    found.packing = found.packing ?? packing
    if found.pose == .front { found.pose = spherical?.pose ?? .front }
    return found
  }
}
