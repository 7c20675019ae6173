// SPDX-License-Identifier: MPL-2.0

extension SphericalVideo {
  /// Reads the content of an `sv3d` box.
  init(_ box: BoxReader) throws(ISOBMFFError) {
    payload = box.opaque.payload
    metadataSource = ""
    pose = (0, 0, 0)
    var box = box
    while var child = try box.nextBox() {
      switch child.type {
      case "svhd":
        _ = try child.readVersion()
        metadataSource = child.readCString()
      case "proj":
        try readProjection(&child)
      default:
        break
      }
    }
  }

  private mutating func readProjection(_ box: inout BoxReader) throws(ISOBMFFError) {
    while var child = try box.nextBox() {
      switch child.type {
      case "prhd":
        _ = try child.readVersion()
        pose = (
          try child.read("pose_yaw_degrees"), try child.read("pose_pitch_degrees"),
          try child.read("pose_roll_degrees")
        )
      case "equi":
        _ = try child.readVersion()
        projection = .equirectangular(
          top: try child.read("projection_bounds_top"),
          bottom: try child.read("projection_bounds_bottom"),
          left: try child.read("projection_bounds_left"),
          right: try child.read("projection_bounds_right"))
      case "cbmp":
        _ = try child.readVersion()
        projection = .cubemap(
          layout: try child.read("layout"), padding: try child.read("padding"))
      case "mshp":
        projection = .mesh
      default:
        break
      }
    }
  }
}
