// SPDX-License-Identifier: MPL-2.0

/// How one eye's picture maps onto the viewer's surroundings, with everything needed to compute it.
public enum Projection: Hashable, Sendable {
  /// A flat picture, as an ordinary camera takes it.
  ///   - horizontalFieldOfView: in degrees, above 0 and below 180.
  case rectilinear(horizontalFieldOfView: Double)
  /// A part of the sphere's map, linear in longitude and latitude.
  case equirectangular(SphereBounds)
  case fisheye(FisheyeLens)
  case parametric(LensCalibration)
  /// - padding: pixels around each face that repeat what lies beyond its edges.
  case cubemap(CubemapLayout, padding: Int)
}
