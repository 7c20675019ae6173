internal import StereoVideo

extension VideoExtendedUsage {
  /// Reads everything behind a `vexu` box's header. Throws what is wrong with a box that is known.
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
      case "proj": projectionKind = try Self.code(in: &child, type: "prji") ?? projectionKind
      case "pack": viewPackingKind = try Self.code(in: &child, type: "pkin") ?? viewPackingKind
      default: break
      }
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
          guard camera.type == "blin" else { continue }
          _ = try camera.readVersion()
          baseline = Baseline(micrometres: try camera.read("baseline_value"))
        }
      case "cmfy":
        while var comfort = try child.nextBox() {
          guard comfort.type == "dadj" else { continue }
          _ = try comfort.readVersion()
          disparityAdjustment = DisparityAdjustment(
            tenThousandths: try comfort.read("disparity_adjustment"))
        }
      default:
        break
      }
    }
  }

  private static func code(
    in box: inout BoxReader, type: FourCC
  ) throws(ISOBMFFError) -> FourCC? {
    while var child = try box.nextBox() {
      guard child.type == type else { continue }
      _ = try child.readVersion()
      return try child.readFourCC("kind")
    }
    return nil
  }
}
