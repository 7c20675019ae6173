// SPDX-License-Identifier: MPL-2.0

import GStreamer
import ISOBMFF
import MoviePlayer
import StereoVideo

extension SpatialMetadata {
  /// Default metadata for anything unspecified. For flat pictures it is the field of view of a
  /// phone's camera and the distance of human eyes, which make a movie spatial for Apple's players.
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

  func fillingGapsWithDefaults() -> SpatialMetadata { fillingGaps(from: .usual(for: projection)) }
}

extension VisualSampleEntry {
  /// Adds the boxes that describe the eyes in a track whose samples are stored as received: the
  /// original boxes, unless properties or tags override them, or new ones if the track holds both
  /// eyes or is immersive.
  ///
  /// - Parameters:
  ///   - metadata: spatial metadata of the pair, from properties and tags.
  ///   - sphere: spherical metadata, from properties and tags.
  /// - Returns: descriptions of the metadata that is lost.
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
      // Properties or tags override the boxes.
      sphericalVideo = nil
      horizontalFieldOfView = SpatialMetadata.usual(for: .rectilinear).horizontalFieldOfView
    }
    // Nothing to add if the box says the same.
    if let kind = sphericalVideo?.kind, kind == metadata.projection { metadata.projection = nil }
    // A value that the original boxes leave out is not made up here.
    horizontalFieldOfView = metadata.horizontalFieldOfView ?? horizontalFieldOfView
    let isPackedByBoxes = stereoscopicMode?.packing != nil
    if isPackedByBoxes, let packing { stereoscopicMode = StereoscopicMode(packing) }
    if let usage = extendedUsage {
      extendedUsage = usage.updated(with: metadata, packing: packing)
    } else if isPackedByBoxes {
      guard stereoscopicMode == nil || metadata != SpatialMetadata() else { return [] }
      extendedUsage = VideoExtendedUsage(metadata, packing: packing)
    } else if mvcC != nil {
      // No player takes MVC for a spatial movie, so nothing is made up.
      extendedUsage = VideoExtendedUsage(metadata)
    } else if packing != nil || hasLayeredViews {
      let metadata = metadata.fillingGapsWithDefaults()
      // Players outside Apple's systems look for this box.
      stereoscopicMode = packing.flatMap { StereoscopicMode($0) }
      extendedUsage = VideoExtendedUsage(metadata, packing: packing)
      horizontalFieldOfView = metadata.horizontalFieldOfView
    }
    return []
  }

  /// Whether the existing boxes already contain this metadata.
  private func says(_ immersive: ImmersiveMetadata, _ lenses: LensCollection?) -> Bool {
    guard let own = immersiveMetadata, own.pose == immersive.pose else { return false }
    // Tags have bounds as decimal numbers, so they are compared with a tolerance.
    if let kind = own.projection.kind {
      let hasLenses = lenses == nil || lenses == extendedUsage?.lensCollection
      return kind == immersive.projection.kind && (kind != .parametric || hasLenses)
    }
    guard case .known(.equirectangular(let bounds)) = own.projection,
      case .known(.equirectangular(let wanted)) = immersive.projection
    else { return own.projection == immersive.projection }
    return bounds.isNear(wanted)
  }

  /// Describes how the pictures surround the viewer, for Apple's players (`vexu`, `hfov`) and for
  /// others (`sv3d`, `st3d`), which show one eye of layered pictures.
  ///
  /// - Parameters:
  ///   - metadata: spatial metadata of the pair.
  ///   - lenses: lens calibration of a parametric picture.
  /// - Returns: descriptions of the metadata that is lost.
  mutating func surround(
    _ immersive: ImmersiveMetadata, _ metadata: SpatialMetadata, _ lenses: LensCollection?
  ) -> [String] {
    let isLayered = hasLayeredViews
    let isPair = immersive.packing != nil || isLayered
    var metadata = metadata
    metadata.projection = immersive.projection.kind
    let said = metadata
    if metadata.projection != nil { metadata = metadata.fillingGapsWithDefaults() }
    let lenses = metadata.projection == .parametric ? lenses : nil
    let apple = VideoExtendedUsage.make(immersive, pair: isPair ? metadata : nil, lenses: lenses)
    let others = SphericalVideo.make(immersive, metadataSource: ProjectVersion.name)
    if let usage = extendedUsage, metadata.projection != nil || usage.projectionKind == nil {
      extendedUsage = usage.updated(with: said, packing: immersive.packing, lenses: lenses)
    } else {
      if let usage = extendedUsage {
        // The box contains a projection that no longer applies.
        metadata = metadata.fillingGaps(from: usage.metadata)
        metadata.projection = nil
      }
      extendedUsage =
        apple.box ?? (isPair ? VideoExtendedUsage(metadata, packing: immersive.packing) : nil)
    }
    horizontalFieldOfView = metadata.horizontalFieldOfView
    sphericalVideo = others.video
    stereoscopicMode = isLayered ? nil : others.stereo
    // The initial view is stored in the track instead.
    let hasPlace = SphericalVideoV1(around: immersive) != nil
    let losses: [String] = apple.losses.compactMap { loss in
      if case .initialView = loss, hasPlace { return nil }
      return others.losses.contains(loss) ? "\(loss)" : "for readers of Apple's vexu: \(loss)"
    }
    let lacksLenses =
      immersive.projection == .parametric && extendedUsage?.lensCollection == nil
    return losses + (lacksLenses ? ["the lenses are lost"] : [])
  }
}

extension SphericalVideoV1 {
  /// Makes the box for programs that read nothing newer; nil unless the picture covers the whole
  /// sphere.
  init?(around immersive: ImmersiveMetadata) {
    guard immersive.projection.kind == .equirectangular,
      let box = Self.make(immersive, width: 1, height: 1, software: ProjectVersion.name).box
    else { return nil }
    self = box
  }
}

extension ElementImplementation {
  /// Posts a warning about spherical metadata that the boxes cannot store.
  func warn(of losses: [String]) {
    guard !losses.isEmpty else { return }
    postWarning(
      ElementError(
        .mux, "The movie cannot store all spherical metadata: \(losses.joined(separator: "; "))."))
  }
}
