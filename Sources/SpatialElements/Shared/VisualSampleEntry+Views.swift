// SPDX-License-Identifier: MPL-2.0

import GStreamer
import ISOBMFF
import MoviePlayer
import StereoVideo

extension SpatialMetadata {
  /// Those of a phone's camera, eyes as far apart as a person's: what makes a movie spatial for
  /// Apple's players where nothing is said.
  static let usual = SpatialMetadata(
    horizontalFieldOfView: HorizontalFieldOfView(thousandthsOfDegree: 63_400),
    baseline: Baseline(micrometres: 63_500),
    disparityAdjustment: DisparityAdjustment(tenThousandths: 0), projection: .rectilinear)
}

extension VisualSampleEntry {
  /// Adds what says how a track that is taken as it is holds the eyes: the boxes that it came with,
  /// as far as nobody says otherwise, or new ones if it holds both eyes.
  ///
  /// - Parameter metadata: what properties and tags say of the pair.
  mutating func addSpatialBoxes(_ caps: Caps, _ metadata: SpatialMetadata) {
    let packing = PackingLayout(multiviewCaps: caps)
    // What the boxes' maker left out, nobody here knows better.
    horizontalFieldOfView = metadata.horizontalFieldOfView ?? horizontalFieldOfView
    let isPackedByBoxes = stereoscopicMode?.packing != nil
    if isPackedByBoxes, let packing { stereoscopicMode = StereoscopicMode(packing) }
    if let usage = extendedUsage {
      extendedUsage = usage.updated(with: metadata, packing: packing)
    } else if isPackedByBoxes {
      guard stereoscopicMode == nil || metadata != SpatialMetadata() else { return }
      extendedUsage = VideoExtendedUsage(metadata, packing: packing)
    } else if packing != nil || hasLayeredViews {
      let metadata = metadata.fillingGaps(from: .usual)
      // Players outside of Apple's systems look for this one.
      stereoscopicMode = packing.flatMap { StereoscopicMode($0) }
      extendedUsage = VideoExtendedUsage(metadata, packing: packing)
      horizontalFieldOfView = metadata.horizontalFieldOfView
    }
  }
}
