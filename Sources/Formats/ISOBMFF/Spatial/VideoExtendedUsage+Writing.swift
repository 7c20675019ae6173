// SPDX-License-Identifier: MPL-2.0

public import StereoVideo

extension VideoExtendedUsage {
  /// The boxes that hold others, by their path.
  private static let containers: Set<String> = ["eyes", "eyes/cams", "eyes/cmfy", "proj", "pack"]
  /// The boxes that fields of this type stand for.
  private static let known: Set<String> = [
    "eyes/stri", "eyes/hero", "eyes/cams/blin", "eyes/cmfy/dadj", "proj/prji", "pack/pkin",
  ]

  /// This box with what `metadata` and `packing` say, and as it is of what they do not.
  ///
  /// Where they say nothing new, the bytes are the same. Else all boxes that are not known are
  /// kept, behind those that are.
  ///
  /// - Parameter lenses: of a projection of kind `prim`, which replace those that there are.
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
    // Those of another projection hold no more.
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

  /// Boxes that no field stands for, by the path of the box that they are in.
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

  func writtenPayload(others: [String: [OpaqueBox]]) -> [UInt8] {
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
