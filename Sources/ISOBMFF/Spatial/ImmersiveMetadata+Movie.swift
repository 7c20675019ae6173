// SPDX-License-Identifier: MPL-2.0

public import StereoVideo

extension Track {
  /// How the pictures surround the viewer: by `vexu`, or else by `sv3d`, or else by the text of
  /// Spherical Video V1; nil where none of them says so.
  public var immersiveMetadata: ImmersiveMetadata? {
    guard case .video(let entry) = sampleEntries.first else { return nil }
    var (width, height) = (Int(entry.width), Int(entry.height))
    switch entry.packing?.arrangement {
    case .sideBySide: width /= 2
    case .topBottom: height /= 2
    case .frameByFrame, nil: break
    }
    let text = SphericalVideoV1(otherBoxes)?.immersiveMetadata
    let spherical = entry.sphericalVideo?.immersiveMetadata(entry.stereoscopicMode)
    let apple = entry.extendedUsage?.immersiveMetadata(width: width, height: height)
    guard var found = apple ?? spherical ?? text else { return nil }
    // What one has no place for, another may say.
    found.packing = found.packing ?? entry.packing ?? text?.packing
    if found.pose == .front { found.pose = spherical?.pose ?? .front }
    if found.initialView == .front { found.initialView = text?.initialView ?? .front }
    return found
  }
}
