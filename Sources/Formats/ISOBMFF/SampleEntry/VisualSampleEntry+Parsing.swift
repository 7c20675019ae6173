// SPDX-License-Identifier: MPL-2.0

internal import StereoVideo

extension VisualSampleEntry {
  /// The boxes that a decoder is configured by.
  private static let configurationTypes: Set<FourCC> = [
    "hvcC", "lhvC", "avcC", "mvcC", "av1C", "vpcC", "vvcC", "dvcC", "dvvC", "dvwC", "esds",
    "glbl", "jp2h",
  ]

  /// Reads a visual sample entry; what is wrong with one of its boxes is noted, and that box kept
  /// as it is.
  init(_ box: BoxReader, issues: inout IssueLog) throws(ISOBMFFError) {
    var box = box
    codec = box.type
    configuration = []
    try box.skip(8, "reserved and data_reference_index")
    try box.skip(16, "pre_defined and reserved")
    width = try box.read("width")
    height = try box.read("height")
    try box.skip(14, "resolution and frame_count")
    let name = try box.readBytes(32, "compressorname")
    let length = min(31, Int(name.first ?? 0))
    compressorName = String(decoding: name.dropFirst().prefix(length), as: UTF8.self)
    depth = try box.read("depth")
    try box.skip(2, "pre_defined")
    readBoxes(of: &box, issues: &issues)
  }

  /// Takes the boxes that are left in a reader.
  mutating func readBoxes(of box: inout BoxReader, issues: inout IssueLog) {
    while let child = issues.optional({ () throws(ISOBMFFError) in try box.nextBox() }) ?? nil {
      if Self.configurationTypes.contains(child.type) {
        configuration.append(child.opaque)
        continue
      }
      let isKnown = issues.optional { () throws(ISOBMFFError) in try read(child) } ?? false
      if !isKnown {
        otherBoxes.append(child.opaque)
      }
    }
  }

  /// Whether the box has a property of its own; only the first box of a type gets it.
  private mutating func read(_ child: BoxReader) throws(ISOBMFFError) -> Bool {
    var child = child
    switch child.type {
    case "colr" where colour == nil:
      colour = try ColourInformation(&child)
      return colour != nil
    case "fiel" where fields == nil:
      fields = FieldInformation(
        fieldCount: try child.read("field count"), detail: try child.read("field detail"))
    case "chrm" where chromaLocation == nil:
      chromaLocation = ChromaLocation(
        topField: try child.read("top field"), bottomField: try child.read("bottom field"))
    case "pasp" where pixelAspectRatio == nil:
      pixelAspectRatio = PixelAspectRatio(
        horizontalSpacing: try child.read("hSpacing"),
        verticalSpacing: try child.read("vSpacing"))
    case "clap" where cleanAperture == nil:
      cleanAperture = try CleanAperture(&child)
    case "mdcv" where masteringDisplay == nil:
      masteringDisplay = try MasteringDisplayColourVolume(&child)
    case "clli" where contentLightLevel == nil:
      contentLightLevel = try ContentLightLevel(&child)
    case "st3d" where stereoscopicMode == nil:
      _ = try child.readVersion()
      stereoscopicMode = StereoscopicMode(rawValue: try child.read("stereo_mode"))
    case "sv3d" where sphericalVideo == nil:
      sphericalVideo = try SphericalVideo(child)
    case "vexu" where extendedUsage == nil:
      extendedUsage = try VideoExtendedUsage(child)
    case "hfov" where horizontalFieldOfView == nil:
      horizontalFieldOfView = HorizontalFieldOfView(
        thousandthsOfDegree: try child.read("horizontal_field_of_view"))
    default:
      return false
    }
    return true
  }
}

extension ColourInformation {
  /// Nil for other forms of `colr` than `nclc` and `nclx`, such as ICC profiles.
  init?(_ box: inout BoxReader) throws(ISOBMFFError) {
    let type = try box.readFourCC("colour_type")
    guard type == "nclc" || type == "nclx" else { return nil }
    self.init(
      primaries: try box.read("colour_primaries"),
      transferCharacteristics: try box.read("transfer_characteristics"),
      matrixCoefficients: try box.read("matrix_coefficients"))
    // Writers exist that leave the flag out.
    fullRange =
      type == "nclx" && box.remaining > 0
      ? try box.read("full_range_flag", as: UInt8.self) & 0x80 != 0 : nil
  }
}

extension CleanAperture {
  init(_ box: inout BoxReader) throws(ISOBMFFError) {
    widthNumerator = try box.read("cleanApertureWidthN")
    widthDenominator = try box.read("cleanApertureWidthD")
    heightNumerator = try box.read("cleanApertureHeightN")
    heightDenominator = try box.read("cleanApertureHeightD")
    horizontalOffsetNumerator = try box.read("horizOffN")
    horizontalOffsetDenominator = try box.read("horizOffD")
    verticalOffsetNumerator = try box.read("vertOffN")
    verticalOffsetDenominator = try box.read("vertOffD")
  }
}
