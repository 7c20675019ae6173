// SPDX-License-Identifier: MPL-2.0

import GStreamer
import StereoVideo

/// Which eye a buffer shows: the custom meta `GstStereoViewMeta`. It has no tags, so that encoders,
/// decoders and filters carry it along.
enum StereoViewMeta {
  static let meta = CustomMeta("GstStereoViewMeta")

  /// Describes a buffer that nobody else holds.
  ///
  /// - Parameters:
  ///   - viewID: the ViewId of Annex F.
  ///   - layerID: nuh_layer_id.
  static func set(
    eye: Eye?, viewID: Int32?, layerID: Int32?, on buffer: borrowing some BufferAccess & ~Copyable
  ) {
    if let eye { meta.set("eye", eye == .left ? "left" : "right", on: buffer) }
    if let viewID { meta.set(["view-id": .int(viewID)], on: buffer) }
    if let layerID { meta.set(["layer-id": .int(layerID)], on: buffer) }
  }
}
