// SPDX-License-Identifier: MPL-2.0

public import StereoVideo

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
