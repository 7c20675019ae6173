// SPDX-License-Identifier: MPL-2.0

import ISOBMFF
import Reprojection
import StereoVideo

/// Reads the bytes as a `vexu` box, an `sv3d` box, lenses, text of Spherical Video V1, a Matroska
/// file, a camera path, text of tags and a file name, and writes the metadata found for each
/// container.
func readImmersive(_ bytes: [UInt8]) {
  var found: [ImmersiveMetadata] = []
  if let usage = try? VideoExtendedUsage(payload: bytes) {
    if let metadata = usage.immersiveMetadata(width: 640, height: 320) { found.append(metadata) }
    let updated = usage.updated(
      with: SpatialMetadata(heroEye: .left, projection: .equirectangular), packing: nil)
    _ = try? VideoExtendedUsage(payload: updated.payload)
  }
  var entry = VisualSampleEntry(codec: "hvc1", width: 640, height: 320)
  entry.add([OpaqueBox("sv3d", payload: bytes)])
  if let metadata = entry.sphericalVideo?.immersiveMetadata(.leftRight) { found.append(metadata) }
  if let metadata = SphericalVideoV1(text: bytes)?.immersiveMetadata { found.append(metadata) }
  if let video = matroskaVideo(bytes), let metadata = video.immersive { found.append(metadata) }
  if let collection = try? LensCollection(payload: bytes) {
    for lens in collection.lenses {
      guard let calibration = lens.calibration(width: 640, height: 320) else { continue }
      found.append(ImmersiveMetadata(.known(.parametric(calibration))))
    }
  }
  let text = String(decoding: bytes, as: UTF8.self)
  readTags(text)
  if let path = try? CameraPath(parsing: text) {
    for time in [0, 1, 1_500_000_000, 1 << 40, .max] as [Int64] {
      let view = path.view(at: time, otherwise: CameraView())
      precondition(view.orientation.isFinite && CameraView.fieldsOfView.contains(view.fieldOfView))
    }
  }
  for metadata in found {
    let apple = VideoExtendedUsage.make(metadata, pair: SpatialMetadata())
    if let box = apple.box { _ = try? VideoExtendedUsage(payload: box.payload) }
    let google = SphericalVideo.make(metadata, metadataSource: "fuzz")
    let text = SphericalVideoV1.make(metadata, width: 640, height: 320, software: "fuzz")
    _ = text.box?.immersiveMetadata
    _ = (apple.losses + google.losses + text.losses).map(\.description)
  }
}

/// Reads a text as tags, which must survive being written, and as a file name.
private func readTags(_ text: String) {
  if let bounds = SphereBounds(text: text) {
    precondition(SphereBounds(text: bounds.text) == bounds)
  }
  if let orientation = SphereOrientation(text: text) {
    precondition(SphereOrientation(text: orientation.text) == orientation)
  }
  if case .fisheye(let degrees) = FileNameLayout(path: text).projection {
    precondition((90...360).contains(degrees))
  }
}

/// Reads a Matroska file of these bytes, which must not request data outside the file.
private func matroskaVideo(_ bytes: [UInt8]) -> MatroskaVideo? {
  MatroskaVideo(fileSize: UInt64(bytes.count)) { range in
    precondition(range.upperBound <= UInt64(bytes.count))
    return Array(bytes[Int(range.lowerBound)..<Int(range.upperBound)])
  }
}
