// SPDX-License-Identifier: MPL-2.0

public import StereoVideo

/// The `vexu` box of a video sample entry: the eyes that a track holds, their camera metadata,
/// frame packing and projection (Apple, "ISO Base Media File Format and Apple HEVC Stereo Video").
///
/// The bytes of the box are kept, so that a box read from a file is written back unchanged.
public struct VideoExtendedUsage: Equatable, Sendable {
  /// Everything after the box's header.
  public internal(set) var payload: [UInt8]
  /// The eyes in the track (`eyes/stri`); nil if absent.
  public internal(set) var views: StereoViews?
  /// Hero eye (`eyes/hero`): 0 neither, 1 left, 2 right; nil if absent.
  public internal(set) var heroEyeIndicator: UInt8?
  /// Distance between the lenses (`eyes/cams/blin`).
  public internal(set) var baseline: Baseline?
  /// Horizontal disparity adjustment (`eyes/cmfy/dadj`).
  public internal(set) var disparityAdjustment: DisparityAdjustment?
  /// Projection (`proj/prji`): a code of `ProjectionKind`, or a newer one.
  public internal(set) var projectionKind: FourCC?
  /// The lenses of a `prim` projection (`lnsc` or `proj/lnsc`); nil if there are none that can be
  /// parsed.
  public internal(set) var lensCollection: LensCollection?
  /// Frame packing (`pack/pkin`): `side`, `over`, or a newer code.
  public internal(set) var viewPackingKind: FourCC?

  /// Creates the box of a stereo track, with both eyes present.
  ///
  /// Properties that are nil are omitted. `horizontalFieldOfView` has a separate box (`hfov`).
  /// Packing is written for side by side and top-bottom; frame by frame has no code.
  ///
  /// - Parameters:
  ///   - metadata: stereo camera metadata.
  ///   - packing: frame packing of the two eyes; nil if they do not share a frame.
  ///   - lenses: the lenses of a `prim` projection.
  public init(
    _ metadata: SpatialMetadata, packing: PackingLayout? = nil, lenses: LensCollection? = nil
  ) {
    var views: StereoViews = [.leftEye, .rightEye]
    if let packing, packing.rightViewFirst {
      views.insert(.reversed)
    }
    self.views = views
    heroEyeIndicator = metadata.heroEye.map { $0 == .left ? 1 : 2 }
    baseline = metadata.baseline
    disparityAdjustment = metadata.disparityAdjustment
    projectionKind = metadata.projection.flatMap { FourCC(exactly: $0.fourCC) }
    viewPackingKind =
      switch packing?.arrangement {
      case .sideBySide: "side"
      case .topBottom: "over"
      case .frameByFrame, nil: nil
      }
    lensCollection = lenses
    payload = []
    payload = writtenPayload(others: Self.others(lenses))
  }

  /// Creates the box of a monoscopic track: only its projection, without `eyes`.
  ///
  /// - Parameters:
  ///   - projection: the projection of the picture.
  ///   - lenses: the lenses of a `prim` projection.
  public init(monoscopic projection: ProjectionKind, lenses: LensCollection? = nil) {
    projectionKind = FourCC(exactly: projection.fourCC)
    lensCollection = lenses
    payload = []
    payload = writtenPayload(others: Self.others(lenses))
  }

  private static func others(_ lenses: LensCollection?) -> [String: [OpaqueBox]] {
    guard let lenses else { return [:] }
    return ["": [OpaqueBox("lnsc", payload: lenses.payload)]]
  }

  /// The stereo camera metadata of the box, without the field of view.
  public var metadata: SpatialMetadata {
    let heroEye: Eye? =
      switch heroEyeIndicator {
      case 1: .left
      case 2: .right
      default: nil
      }
    return SpatialMetadata(
      heroEye: heroEye, baseline: baseline, disparityAdjustment: disparityAdjustment,
      projection: projectionKind.flatMap { ProjectionKind(fourCC: $0.description) })
  }

  /// Frame packing of the two eyes; nil if the box states none.
  public var packing: PackingLayout? {
    let reversed = views?.contains(.reversed) ?? false
    return switch viewPackingKind {
    case "side": PackingLayout(.sideBySide, rightViewFirst: reversed)
    case "over": PackingLayout(.topBottom, rightViewFirst: reversed)
    default: nil
    }
  }
}

/// The views in a track: the `stri` box of `vexu/eyes` (Apple, "ISO Base Media File Format and
/// Apple HEVC Stereo Video").
public struct StereoViews: OptionSet, Sendable {
  /// The bits of `stri`.
  public let rawValue: UInt8

  /// Creates a set from the bits of `stri`.
  public init(rawValue: UInt8) {
    self.rawValue = rawValue
  }

  /// The left eye's view (has_left_eye_view).
  public static let leftEye = StereoViews(rawValue: 1)
  /// The right eye's view (has_right_eye_view).
  public static let rightEye = StereoViews(rawValue: 2)
  /// Views beyond the two eyes.
  public static let additional = StereoViews(rawValue: 4)
  /// The right eye comes first if two eyes share a frame; never set in MV-HEVC.
  public static let reversed = StereoViews(rawValue: 8)
}

/// Frame packing of two eyes: the `st3d` box (Google, Spherical Video V2).
public struct StereoscopicMode: RawRepresentable, Hashable, Sendable {
  /// `stereo_mode` of the box.
  public let rawValue: UInt8

  /// Creates a mode from `stereo_mode`.
  public init(rawValue: UInt8) {
    self.rawValue = rawValue
  }

  /// One picture for both eyes.
  public static let monoscopic = StereoscopicMode(rawValue: 0)
  /// The left eye above the right one.
  public static let topBottom = StereoscopicMode(rawValue: 1)
  /// The left eye in the left half.
  public static let leftRight = StereoscopicMode(rawValue: 2)
  /// The projection's mesh defines where each eye is.
  public static let custom = StereoscopicMode(rawValue: 3)
  /// The right eye in the left half.
  public static let rightLeft = StereoscopicMode(rawValue: 4)

  /// Creates the mode for a layout; nil if `st3d` has none (frame by frame, right eye on top).
  public init?(_ layout: PackingLayout) {
    switch (layout.arrangement, layout.rightViewFirst) {
    case (.sideBySide, false): self = .leftRight
    case (.sideBySide, true): self = .rightLeft
    case (.topBottom, false): self = .topBottom
    default: return nil
    }
  }

  /// The layout of the mode; nil for monoscopic, custom and unknown modes.
  public var packing: PackingLayout? {
    switch self {
    case .topBottom: PackingLayout(.topBottom)
    case .leftRight: PackingLayout(.sideBySide)
    case .rightLeft: PackingLayout(.sideBySide, rightViewFirst: true)
    default: nil
    }
  }

  func write(to writer: inout BoxWriter) {
    writer.fullBox("st3d") { $0.write(rawValue) }
  }
}

extension VideoExtendedUsage {
  /// Parses a `vexu` box; `payload` is everything after its header.
  ///
  /// - Throws: ``ISOBMFFError`` if a known box is broken or an unknown one is required (`must`).
  public init(payload: [UInt8]) throws(ISOBMFFError) {
    try self.init(BoxReader(payload, type: "vexu", path: "vexu"))
  }

  /// Parses the content of a `vexu` box. Unknown boxes stay in the payload.
  init(_ box: BoxReader) throws(ISOBMFFError) {
    payload = box.opaque.payload
    var box = box
    while var child = try box.nextBox() {
      switch child.type {
      case "eyes": try readEyes(&child)
      case "proj":
        readLenses(in: child)
        projectionKind = try Self.code(in: &child, type: "prji", "lnsc") ?? projectionKind
      case "lnsc": lensCollection = lensCollection ?? (try? LensCollection(child))
      case "pack": viewPackingKind = try Self.code(in: &child, type: "pkin") ?? viewPackingKind
      case "must": try Self.requireKnown(&child, ["eyes", "proj", "pack", "lnsc"])
      default: break
      }
    }
  }

  /// Reads the lenses, which files have in `vexu` or in `proj`. Defects are ignored: the layout of
  /// these boxes is only partly published, and the bytes are kept anyway.
  private mutating func readLenses(in projection: BoxReader) {
    var projection = projection
    while lensCollection == nil, let child = try? projection.nextBox() {
      if child.type == "lnsc" { lensCollection = try? LensCollection(child) }
    }
  }

  private mutating func readEyes(_ eyes: inout BoxReader) throws(ISOBMFFError) {
    while var child = try eyes.nextBox() {
      switch child.type {
      case "stri":
        _ = try child.readVersion()
        views = StereoViews(rawValue: try child.read("stereo view indicators"))
      case "hero":
        _ = try child.readVersion()
        heroEyeIndicator = try child.read("hero_eye_indicator", as: UInt8.self)
      case "cams":
        while var camera = try child.nextBox() {
          if camera.type == "must" { try Self.requireKnown(&camera, ["blin"]) }
          guard camera.type == "blin" else { continue }
          _ = try camera.readVersion()
          baseline = Baseline(micrometres: try camera.read("baseline_value"))
        }
      case "cmfy":
        while var comfort = try child.nextBox() {
          if comfort.type == "must" { try Self.requireKnown(&comfort, ["dadj"]) }
          guard comfort.type == "dadj" else { continue }
          _ = try comfort.readVersion()
          disparityAdjustment = DisparityAdjustment(
            tenThousandths: try comfort.read("disparity_adjustment"))
        }
      case "must": try Self.requireKnown(&child, ["stri", "hero", "cams", "cmfy"])
      default:
        break
      }
    }
  }

  /// Throws if a `must` box lists an unknown type: a reader that does not know the type must not
  /// use the surrounding box.
  private static func requireKnown(
    _ must: inout BoxReader, _ known: [FourCC]
  ) throws(ISOBMFFError) {
    _ = try must.readVersion()
    while must.remaining >= 4 {
      let type = try must.readFourCC("required box type")
      guard known.contains(type) else {
        throw must.error("unsupported box \(type) is marked as required")
      }
    }
  }

  private static func code(
    in box: inout BoxReader, type: FourCC, _ others: FourCC...
  ) throws(ISOBMFFError) -> FourCC? {
    var code: FourCC?
    while var child = try box.nextBox() {
      if child.type == "must" { try requireKnown(&child, [type] + others) }
      guard child.type == type, code == nil else { continue }
      _ = try child.readVersion()
      code = try child.readFourCC("kind")
    }
    return code
  }
}

extension VideoExtendedUsage {
  /// Paths of the boxes that contain others.
  private static let containers: Set<String> = ["eyes", "eyes/cams", "eyes/cmfy", "proj", "pack"]
  /// Paths of the boxes that properties of this type represent.
  private static let known: Set<String> = [
    "eyes/stri", "eyes/hero", "eyes/cams/blin", "eyes/cmfy/dadj", "proj/prji", "pack/pkin",
  ]

  /// Returns this box with the properties of `metadata` and `packing` that are not nil.
  ///
  /// If nothing changes, the bytes stay the same. Otherwise unknown boxes are kept, after the known
  /// ones.
  ///
  /// - Parameter lenses: the lenses of a `prim` projection, to replace the existing ones.
  public func updated(
    with metadata: SpatialMetadata, packing: PackingLayout?, lenses: LensCollection? = nil
  ) -> Self {
    let changes = VideoExtendedUsage(metadata, packing: packing)
    var new = self
    new.heroEyeIndicator = changes.heroEyeIndicator ?? heroEyeIndicator
    new.baseline = changes.baseline ?? baseline
    new.disparityAdjustment = changes.disparityAdjustment ?? disparityAdjustment
    new.projectionKind = changes.projectionKind ?? projectionKind
    if let packing, packing != self.packing {
      new.viewPackingKind = changes.viewPackingKind
      new.views = (views ?? []).union(changes.views ?? [])
      if !packing.rightViewFirst { new.views?.remove(.reversed) }
    }
    // Lenses of another projection no longer apply.
    let holdsLenses = new.projectionKind == projectionKind || new.projectionKind == "prim"
    new.lensCollection = holdsLenses ? lenses ?? lensCollection : nil
    guard new != self else { return self }
    var others: [String: [OpaqueBox]] = [:]
    Self.collectOthers(in: payload, path: "", into: &others)
    if !holdsLenses || new.lensCollection != lensCollection {
      for path in ["", "proj"] { others[path]?.removeAll { $0.type == "lnsc" } }
      if let lenses = new.lensCollection {
        others["", default: []].append(OpaqueBox("lnsc", payload: lenses.payload))
      }
    }
    new.payload = new.writtenPayload(others: others)
    return new
  }

  /// Collects the boxes that no property represents, by the path of the containing box.
  private static func collectOthers(
    in bytes: [UInt8], path: String, into others: inout [String: [OpaqueBox]]
  ) {
    for box in OpaqueBox.all(in: bytes) {
      let own = path.isEmpty ? box.type.description : "\(path)/\(box.type)"
      if containers.contains(own) {
        collectOthers(in: box.payload, path: own, into: &others)
      } else if !known.contains(own) {
        others[path, default: []].append(box)
      }
    }
  }

  func write(to writer: inout BoxWriter) {
    writer.box("vexu") { $0.write(payload) }
  }

  private func writtenPayload(others: [String: [OpaqueBox]]) -> [UInt8] {
    var writer = BoxWriter()
    func container(
      _ path: String, _ type: FourCC, isNeeded: Bool, in writer: inout BoxWriter,
      _ body: (inout BoxWriter) -> Void
    ) {
      guard isNeeded || others[path] != nil else { return }
      writer.box(type) {
        body(&$0)
        for box in others[path] ?? [] { $0.box(box) }
      }
    }
    let isPair =
      views != nil || heroEyeIndicator != nil || baseline != nil || disparityAdjustment != nil
    container("eyes", "eyes", isNeeded: isPair, in: &writer) { eyes in
      if let views { eyes.fullBox("stri") { $0.write(views.rawValue) } }
      if let heroEyeIndicator { eyes.fullBox("hero") { $0.write(heroEyeIndicator) } }
      container("eyes/cams", "cams", isNeeded: baseline != nil, in: &eyes) { cams in
        if let baseline { cams.fullBox("blin") { $0.write(baseline.micrometres) } }
      }
      container("eyes/cmfy", "cmfy", isNeeded: disparityAdjustment != nil, in: &eyes) { cmfy in
        if let disparityAdjustment {
          cmfy.fullBox("dadj") { $0.write(disparityAdjustment.tenThousandths) }
        }
      }
    }
    container("proj", "proj", isNeeded: projectionKind != nil, in: &writer) { proj in
      if let projectionKind { proj.fullBox("prji") { $0.write(projectionKind) } }
    }
    container("pack", "pack", isNeeded: viewPackingKind != nil, in: &writer) { pack in
      if let viewPackingKind { pack.fullBox("pkin") { $0.write(viewPackingKind) } }
    }
    for box in others[""] ?? [] { writer.box(box) }
    return writer.bytes
  }
}
