// SPDX-License-Identifier: MPL-2.0

internal import HEVC
internal import ISOBMFF
internal import StereoVideo

/// Whether Apple's devices show a movie as spatial: as a stereo movie whose geometry they know.
///
/// They want one track of MV-HEVC with a field of view, a baseline and a disparity adjustment,
/// even one of 0; of pictures that surround the viewer, a projection in the place of the latter two.
/// What is only advisable is told, too.
public struct SpatialVerdict: Equatable, Sendable {
  /// Boxes and fields that are missing, and what they are for: a line each, for people.
  public private(set) var missing: [String] = []
  /// What newer systems may want: a line each, for people.
  public private(set) var advice: [String] = []
  /// Whether they show it around the viewer, with one eye or two: what they know as the Apple
  /// Projected Media Profile.
  public private(set) var isImmersive = false

  /// Whether nothing is missing.
  public var isSpatial: Bool { missing.isEmpty }

  package init(_ facts: MovieFacts) {
    let projection = facts.entry?.extendedUsage?.projectionKind
    let hasLenses = facts.entry?.extendedUsage?.lensCollection != nil
    isImmersive = ["equi", "hequ"].contains(projection) || projection == "prim" && hasLenses
    if !isImmersive, facts.video?.immersiveMetadata != nil {
      advice.append(
        "'vexu/proj/prji', the projection, for which there are 180 and 360 degrees and lenses")
    }
    guard facts.stereo == .layered, let entry = facts.entry else {
      missing.append(Self.reasonAgainst(facts))
      return
    }
    if facts.byteStream != nil {
      missing.append("a movie around the stream (QuickTime), which says how the pair was shot")
      return
    }
    if entry.codec != "hvc1" {
      missing.append("the sample entry 'hvc1' (it is '\(entry.codec)')")
    }
    if !facts.hasReferenceDisplays {
      missing.append("the SEI message that says which view is for which eye, in 'hvcC'")
    }
    let usage = entry.extendedUsage
    if usage?.views?.isSuperset(of: [.leftEye, .rightEye]) != true {
      missing.append("'vexu/eyes/stri' with both eyes")
    }
    if entry.horizontalFieldOfView == nil { missing.append("'hfov': the horizontal field of view") }
    let baseline = "'vexu/eyes/cams/blin': the distance of the lenses"
    if isImmersive {
      if usage?.baseline == nil { advice.append(baseline) }
      return
    }
    if usage?.baseline == nil { missing.append(baseline) }
    if usage?.disparityAdjustment == nil {
      missing.append("'vexu/eyes/cmfy/dadj': the disparity adjustment, even if it is 0")
    }
    if usage?.projectionKind == nil, advice.isEmpty {
      advice.append("'vexu/proj/prji', the projection: newer systems look for it")
    }
  }

  private static func reasonAgainst(_ facts: MovieFacts) -> String {
    guard let entry = facts.entry else { return "a video track" }
    if case .packed = facts.stereo {
      return "a layer for each eye (MV-HEVC): both eyes share each frame"
    }
    if entry.lhvC != nil {
      return "a VPS with two views: \(facts.layers?.warning ?? "'hvcC' cannot be read")"
    }
    return "a second eye: the video is plain '\(entry.codec)' without 'lhvC'"
  }
}
