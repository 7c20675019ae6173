// SPDX-License-Identifier: MPL-2.0

import GStreamer
import ISOBMFF
import MoviePlayer
import StereoVideo

extension SpatialMetadata {
  /// What is written where nothing is said. Of flat pictures it is a phone's camera, and eyes as far
  /// apart as a person's: what makes a movie spatial for Apple's players.
  static func usual(for projection: ProjectionKind?) -> SpatialMetadata {
    let degrees: Double? =
      switch projection {
      case .equirectangular: 360
      case .halfEquirectangular: 180
      case .fisheye, .parametric: nil
      case .rectilinear, nil: 63.4
      }
    var usual = SpatialMetadata(
      horizontalFieldOfView: degrees.flatMap(HorizontalFieldOfView.init(degrees:)),
      projection: projection ?? .rectilinear)
    if usual.projection == .rectilinear {
      usual.baseline = Baseline(micrometres: 63_500)
      usual.disparityAdjustment = DisparityAdjustment(tenThousandths: 0)
    }
    return usual
  }

  func fillingGapsAsUsual() -> SpatialMetadata { fillingGaps(from: .usual(for: projection)) }
}

extension VisualSampleEntry {
  /// Adds what says how a track that is taken as it is holds the eyes: the boxes that it came with,
  /// as far as nobody says otherwise, or new ones if it holds both eyes or surrounds the viewer.
  ///
  /// - Parameters:
  ///   - metadata: what properties and tags say of the pair.
  ///   - sphere: what they say of how it surrounds the viewer.
  /// - Returns: what is lost of that, in sentences.
  mutating func addSpatialBoxes(
    _ caps: Caps, _ metadata: SpatialMetadata, _ sphere: SphereTags
  ) -> [String] {
    let packing = PackingLayout(multiviewCaps: caps)
    if var immersive = sphere.immersiveMetadata(metadata.projection),
      !says(immersive, sphere.lenses)
    {
      immersive.packing = packing
      return surround(immersive, metadata, sphere.lenses)
    }
    var metadata = metadata
    if metadata.projection == .rectilinear, immersiveMetadata?.projection.kind != nil {
      // Somebody knows better than the boxes.
      sphericalVideo = nil
      horizontalFieldOfView = SpatialMetadata.usual(for: .rectilinear).horizontalFieldOfView
    }
    // Where that says the same, it is said already.
    if let kind = sphericalVideo?.kind, kind == metadata.projection { metadata.projection = nil }
    // What the boxes' maker left out, nobody here knows better.
    horizontalFieldOfView = metadata.horizontalFieldOfView ?? horizontalFieldOfView
    let isPackedByBoxes = stereoscopicMode?.packing != nil
    if isPackedByBoxes, let packing { stereoscopicMode = StereoscopicMode(packing) }
    if let usage = extendedUsage {
      extendedUsage = usage.updated(with: metadata, packing: packing)
    } else if isPackedByBoxes {
      guard stereoscopicMode == nil || metadata != SpatialMetadata() else { return [] }
      extendedUsage = VideoExtendedUsage(metadata, packing: packing)
    } else if packing != nil || hasLayeredViews {
      let metadata = metadata.fillingGapsAsUsual()
      // Players outside of Apple's systems look for this one.
      stereoscopicMode = packing.flatMap { StereoscopicMode($0) }
      extendedUsage = VideoExtendedUsage(metadata, packing: packing)
      horizontalFieldOfView = metadata.horizontalFieldOfView
    }
    return []
  }

  /// Whether the boxes have it already.
  private func says(_ immersive: ImmersiveMetadata, _ lenses: LensCollection?) -> Bool {
    guard let own = immersiveMetadata, own.pose == immersive.pose else { return false }
    // Tags have bounds as decimal numbers.
    if let kind = own.projection.kind {
      let hasLenses = lenses == nil || lenses == extendedUsage?.lensCollection
      return kind == immersive.projection.kind && (kind != .parametric || hasLenses)
    }
    guard case .known(.equirectangular(let bounds)) = own.projection,
      case .known(.equirectangular(let wanted)) = immersive.projection
    else { return own.projection == immersive.projection }
    return bounds.isNear(wanted)
  }

  /// Says how the pictures surround the viewer, to Apple's players (`vexu`, `hfov`) and to others
  /// (`sv3d`, `st3d`); of layered pictures, the latter show one eye.
  ///
  /// - Parameters:
  ///   - metadata: how a pair was shot.
  ///   - lenses: what a parametric picture was shot with.
  /// - Returns: what is lost, in sentences.
  mutating func surround(
    _ immersive: ImmersiveMetadata, _ metadata: SpatialMetadata, _ lenses: LensCollection?
  ) -> [String] {
    let isLayered = hasLayeredViews
    let isPair = immersive.packing != nil || isLayered
    var metadata = metadata
    metadata.projection = immersive.projection.kind
    let said = metadata
    if metadata.projection != nil { metadata = metadata.fillingGapsAsUsual() }
    let lenses = metadata.projection == .parametric ? lenses : nil
    let apple = VideoExtendedUsage.make(immersive, pair: isPair ? metadata : nil, lenses: lenses)
    let others = SphericalVideo.make(immersive, metadataSource: ProjectVersion.name)
    if let usage = extendedUsage, metadata.projection != nil || usage.projectionKind == nil {
      extendedUsage = usage.updated(with: said, packing: immersive.packing, lenses: lenses)
    } else {
      if let usage = extendedUsage {
        // It has a projection that no longer holds.
        metadata = metadata.fillingGaps(from: usage.metadata)
        metadata.projection = nil
      }
      extendedUsage =
        apple.box ?? (isPair ? VideoExtendedUsage(metadata, packing: immersive.packing) : nil)
    }
    horizontalFieldOfView = metadata.horizontalFieldOfView
    sphericalVideo = others.video
    stereoscopicMode = isLayered ? nil : others.stereo
    // The initial view has a place in the track.
    let hasPlace = SphericalVideoV1(around: immersive) != nil
    let losses: [String] = apple.losses.compactMap { loss in
      if case .initialView = loss, hasPlace { return nil }
      return others.losses.contains(loss) ? "\(loss)" : "players of Apple's vexu: \(loss)"
    }
    let lacksLenses =
      immersive.projection == .parametric && extendedUsage?.lensCollection == nil
    return losses + (lacksLenses ? ["the lenses are lost"] : [])
  }
}

extension SphericalVideoV1 {
  /// What programs that know nothing newer read; nil unless the picture is the whole sphere.
  init?(around immersive: ImmersiveMetadata) {
    guard immersive.projection.kind == .equirectangular,
      let box = Self.make(immersive, width: 1, height: 1, software: ProjectVersion.name).box
    else { return nil }
    self = box
  }
}

extension ElementImplementation {
  /// Says what boxes have no place for of how pictures surround the viewer.
  func warn(of losses: [String]) {
    guard !losses.isEmpty else { return }
    postWarning(
      ElementError(
        .mux, "How the pictures surround the viewer: \(losses.joined(separator: "; "))."))
  }
}
