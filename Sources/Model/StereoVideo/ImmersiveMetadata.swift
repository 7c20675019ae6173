// SPDX-License-Identifier: MPL-2.0

/// How a movie's pictures surround the viewer, independent of the container.
public struct ImmersiveMetadata: Hashable, Sendable {
  /// How pixels map to directions.
  public var projection: ImmersiveProjection
  /// Rotation of the picture; positive yaw is counter-clockwise (`prhd` of Spherical Video V2).
  public var pose: SphereOrientation
  /// The direction a viewer should look in first.
  public var initialView: SphereOrientation
  /// How both eyes share a frame; nil for one eye, or for eyes in separate pictures.
  public var packing: PackingLayout?

  /// Creates metadata for a projection.
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

/// A projection as containers describe it. Some leave the parameters needed to compute it to other
/// boxes or to applications.
public enum ImmersiveProjection: Hashable, Sendable {
  /// A projection with all its parameters.
  case known(Projection)
  /// A triangle mesh, kept as it is.
  case mesh
  /// A projection with lens parameters that are missing or unreadable.
  case parametric
  /// Apple Immersive Video, whose parameters are in separate metadata.
  case appleImmersiveVideo

  /// The kind in `prji` terms; nil if it has none. Bounds only need to match the full sphere or its
  /// front half to within pixel rounding.
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

/// Metadata that a container cannot store and that is lost when a movie is written to it.
@nonexhaustive
public enum ImmersiveLoss: Hashable, Sendable {
  /// The projection.
  case projection(ImmersiveProjection)
  /// The part of the sphere.
  case bounds(SphereBounds)
  /// The rotation of the picture.
  case pose(SphereOrientation)
  /// The initial view.
  case initialView(SphereOrientation)
  /// The fraction of a degree of the initial view.
  case initialViewFraction(SphereOrientation)
  /// The packing of both eyes in a frame.
  case packing(PackingLayout)
}

extension ImmersiveLoss: CustomStringConvertible {
  /// Message for the user: what is lost and, if known, what to do.
  public var description: String {
    switch self {
    case .projection(.mesh): "the mesh of the projection is lost"
    case .projection: "cannot represent the projection; reproject to equirectangular"
    case .bounds(let bounds):
      "cannot represent a part of the sphere with \(percent(bounds.leftPart)) cut off at the left, "
        + "\(percent(bounds.rightPart)) at the right, \(percent(bounds.topPart)) at the top and "
        + "\(percent(bounds.bottomPart)) at the bottom; reproject to "
        + "half-equirectangular"
    case .pose(let pose): "the pose is lost: \(text(pose))"
    case .initialView(let view): "the initial view is lost: \(text(view))"
    case .initialViewFraction(let view):
      "the initial view is rounded to whole degrees: \(text(view))"
    case .packing: "cannot represent how the eyes share the frame"
    }
  }

  private func percent(_ part: Double) -> String { "\((part * 1000).rounded() / 10)%" }

  private func text(_ view: SphereOrientation) -> String {
    "yaw \(view.yaw), pitch \(view.pitch), roll \(view.roll) degrees"
  }
}
