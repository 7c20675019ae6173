// SPDX-License-Identifier: MPL-2.0

/// How a movie's pictures surround the viewer, whatever container says it.
public struct ImmersiveMetadata: Hashable, Sendable {
  public var projection: ImmersiveProjection
  /// How the picture is turned: yaw counts counter-clockwise (`prhd` of Spherical Video V2).
  public var pose: SphereOrientation
  /// Where a viewer is to look first.
  public var initialView: SphereOrientation
  /// How two eyes share a frame; nil for one eye, or for eyes that are apart.
  public var packing: PackingLayout?

  public init(
    _ projection: ImmersiveProjection, pose: SphereOrientation = .front,
    initialView: SphereOrientation = .front, packing: PackingLayout? = nil
  ) {
    self.projection = projection
    self.pose = pose
    self.initialView = initialView
    self.packing = packing
  }
}

/// A projection as containers say it: some leave to the movie's other boxes, or to programs, what
/// one would have to know to compute it.
public enum ImmersiveProjection: Hashable, Sendable {
  case known(Projection)
  /// A mesh of triangles, which is kept as it is.
  case mesh
  /// Lens parameters that are missing or cannot be read.
  case parametric
  /// Apple Immersive Video, whose figures stand in metadata of its own.
  case appleImmersiveVideo

  /// The whole sphere, or the front half of it, to within what pixel counts leave.
  public var kind: ProjectionKind? {
    switch self {
    case .known(.rectilinear): .rectilinear
    case .known(.equirectangular(let bounds)):
      bounds.isNear(.full)
        ? .equirectangular : bounds.isNear(.frontHalf) ? .halfEquirectangular : nil
    case .known(.parametric), .parametric: .parametric
    case .appleImmersiveVideo: .fisheye
    case .known(.fisheye), .known(.cubemap), .mesh: nil
    }
  }
}

/// What a container has no place for, and is lost where a movie is written in it.
public enum ImmersiveLoss: Hashable, Sendable {
  case projection(ImmersiveProjection)
  case bounds(SphereBounds)
  case pose(SphereOrientation)
  case initialView(SphereOrientation)
  /// Parts of a degree.
  case initialViewFraction(SphereOrientation)
  case packing(PackingLayout)
}

extension ImmersiveLoss: CustomStringConvertible {
  public var description: String {
    switch self {
    case .projection(.mesh): "the mesh of the projection is lost"
    case .projection: "the projection has no name there; reproject to equirectangular"
    case .bounds(let bounds):
      "a part of the sphere with \(percent(bounds.leftPart)) cut off at the left, "
        + "\(percent(bounds.rightPart)) at the right, \(percent(bounds.topPart)) at the top and "
        + "\(percent(bounds.bottomPart)) at the bottom has no name there; reproject to "
        + "half-equirectangular"
    case .pose(let pose): "the pose is lost: \(text(pose))"
    case .initialView(let view): "the initial view is lost: \(text(view))"
    case .initialViewFraction(let view):
      "the initial view is rounded to whole degrees: \(text(view))"
    case .packing: "how the eyes share the frame is lost: there is no code for it"
    }
  }

  private func percent(_ part: Double) -> String { "\((part * 1000).rounded() / 10)%" }

  private func text(_ view: SphereOrientation) -> String {
    "yaw \(view.yaw), pitch \(view.pitch), roll \(view.roll) degrees"
  }
}
