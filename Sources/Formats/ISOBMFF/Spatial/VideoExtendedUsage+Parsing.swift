// SPDX-License-Identifier: MPL-2.0

internal import StereoVideo

extension VideoExtendedUsage {
  /// Reads everything behind a `vexu` box's header.
  ///
  /// - Throws: what is wrong with a box that is known, or which box would have to be known to
  ///   understand the others (`must`).
  public init(payload: [UInt8]) throws(ISOBMFFError) {
    try self.init(BoxReader(payload, type: "vexu", path: "vexu"))
  }

  /// Reads the content of a `vexu` box. Boxes in it that are not known are left in the payload.
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

  /// Lenses are where files have them: in `vexu` or in `proj`. What is wrong with them is no error:
  /// the layout of these boxes has been published in part only, and the bytes are kept.
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

  /// Throws where a `must` box lists a type that is not known here: whoever does not know it is
  /// not to use what the box around says.
  private static func requireKnown(
    _ must: inout BoxReader, _ known: [FourCC]
  ) throws(ISOBMFFError) {
    _ = try must.readVersion()
    while must.remaining >= 4 {
      let type = try must.readFourCC("required box type")
      guard known.contains(type) else {
        throw must.error("it takes to know \(type) to understand the others, which is unknown here")
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
