// SPDX-License-Identifier: MPL-2.0

import StereoVideo

/// What properties say of how a pair was shot; 0, `none` and nil stand for not said.
struct SpatialSettings {
  var heroEye = EyeChoice.none
  /// In degrees.
  var horizontalFieldOfView = 0.0
  /// In millimetres.
  var baseline = 0.0
  /// In picture widths; nil until it is set, since 0 says something.
  var disparityAdjustment: Double?
  var projection = ProjectionChoice.none

  var metadata: SpatialMetadata {
    SpatialMetadata(
      heroEye: heroEye.eye,
      horizontalFieldOfView: HorizontalFieldOfView(degrees: horizontalFieldOfView),
      baseline: baseline > 0 ? Baseline(millimetres: baseline) : nil,
      disparityAdjustment: disparityAdjustment.flatMap {
        DisparityAdjustment(pictureWidths: $0)
      },
      projection: projection.projection)
  }
}
