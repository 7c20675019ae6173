// SPDX-License-Identifier: MPL-2.0

public import StereoVideo

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
