// SPDX-License-Identifier: MPL-2.0

public import StereoVideo

/// The sample entry of a video track in `stsd` (ISO/IEC 14496-12 12.1.3, QuickTime File Format
/// "Video sample description").
public struct VisualSampleEntry: Equatable, Sendable {
  /// The type of the entry: `hvc1`, `avc1` and so on.
  public var codec: FourCC
  /// Size of the cropped coded picture in pixels; in MV-HEVC, of one view.
  public var width, height: UInt16
  /// A human-readable name, up to 31 bytes of UTF-8.
  public var compressorName = ""
  /// Bits per pixel: 24 for colour without alpha, whatever the bit depth of the codec.
  public var depth: UInt16 = 24
  /// The decoder configuration, in file order: `hvcC` and `lhvC` (ISO/IEC 14496-15 8.4.1, 9.5.3),
  /// `avcC` and the like.
  public var configuration: [OpaqueBox]
  /// Colour code points (`colr`); ICC profiles are in `otherBoxes`.
  public var colour: ColourInformation?
  /// Fields of interlaced video (`fiel`).
  public var fields: FieldInformation?
  /// Chroma sample location (`chrm`).
  public var chromaLocation: ChromaLocation?
  /// Pixel aspect ratio (`pasp`); nil for square pixels.
  public var pixelAspectRatio: PixelAspectRatio?
  /// Clean aperture (`clap`); nil for the whole picture.
  public var cleanAperture: CleanAperture?
  /// Mastering display colour volume (`mdcv`).
  public var masteringDisplay: MasteringDisplayColourVolume?
  /// Content light level (`clli`).
  public var contentLightLevel: ContentLightLevel?
  /// Frame packing according to Google's Spherical Video V2 (`st3d`).
  public var stereoscopicMode: StereoscopicMode?
  /// Projection according to Google's Spherical Video V2 (`sv3d`).
  public var sphericalVideo: SphericalVideo?
  /// Stereo and projection metadata of Apple (`vexu`).
  public var extendedUsage: VideoExtendedUsage?
  /// Horizontal field of view (`hfov`).
  public var horizontalFieldOfView: HorizontalFieldOfView?
  /// All other boxes of the entry, in file order.
  public var otherBoxes: [OpaqueBox] = []

  /// Creates an entry without optional boxes; the size is in pixels.
  public init(codec: FourCC, width: UInt16, height: UInt16, configuration: [OpaqueBox] = []) {
    self.codec = codec
    self.width = width
    self.height = height
    self.configuration = configuration
  }

  /// Creates an `hvc1` entry with the decoder configuration records of the base layer (`hvcC`) and,
  /// for a layered stream, of the other layers (`lhvC`).
  public init(width: UInt16, height: UInt16, hvcC: [UInt8], lhvC: [UInt8]? = nil) {
    self.init(codec: "hvc1", width: width, height: height)
    compressorName = "HEVC"
    fields = .progressive
    configuration.append(OpaqueBox("hvcC", payload: hvcC))
    if let lhvC {
      configuration.append(OpaqueBox("lhvC", payload: lhvC))
    }
  }

  /// Creates an `avc1` entry with the decoder configuration records of the base view (`avcC`,
  /// ISO/IEC 14496-15 5.3.3.1) and, for H.264 MVC, of the dependent view (`mvcC`).
  public init(width: UInt16, height: UInt16, avcC: [UInt8], mvcC: [UInt8]? = nil) {
    self.init(
      codec: "avc1", width: width, height: height,
      configuration: [OpaqueBox("avcC", payload: avcC)])
    compressorName = "AVC"
    if let mvcC { configuration.append(OpaqueBox("mvcC", payload: mvcC)) }
  }

  /// The configuration record of the base layer; nil if there is none.
  public var hvcC: [UInt8]? {
    configuration.first { $0.type == "hvcC" }?.payload
  }

  /// The configuration record of the layers above the base layer; nil if there is none.
  public var lhvC: [UInt8]? {
    configuration.first { $0.type == "lhvC" }?.payload
  }

  /// The configuration record of the dependent view of H.264 MVC (`mvcC`, ISO/IEC 14496-15 7.6.2);
  /// nil if there is none.
  public var mvcC: [UInt8]? {
    configuration.first { $0.type == "mvcC" }?.payload
  }

  /// The stereo camera metadata of `vexu` and `hfov`.
  public var spatialMetadata: SpatialMetadata {
    var metadata = extendedUsage?.metadata ?? SpatialMetadata()
    metadata.horizontalFieldOfView = horizontalFieldOfView
    return metadata
  }

  /// Frame packing according to `vexu` or else `st3d`; nil if the frame holds one view.
  public var packing: PackingLayout? {
    extendedUsage?.packing ?? stereoscopicMode?.packing
  }
}

extension VisualSampleEntry {
  /// Writes the entry. The order of the boxes is AVFoundation's; some readers reject `lhvC` before
  /// `hvcC`, and `st3d` must come before `clap` and `pasp`.
  func write(to writer: inout BoxWriter, container: MovieContainer) {
    writer.box(codec) {
      $0.write(zeros: 6)
      $0.write(UInt16(1))
      writePictureFields(to: &$0, container: container)
      for box in configuration where box.type == "hvcC" {
        $0.box(box)
      }
      for box in configuration where box.type != "hvcC" {
        $0.box(box)
      }
      writeExtensions(to: &$0, container: container)
      if container == .quickTime {
        // QuickTime ends the box list of a sample description with a zero.
        $0.write(UInt32(0))
      }
    }
  }

  private func writeExtensions(to writer: inout BoxWriter, container: MovieContainer) {
    colour?.write(to: &writer, container: container)
    fields?.write(to: &writer)
    chromaLocation?.write(to: &writer)
    stereoscopicMode?.write(to: &writer)
    sphericalVideo?.write(to: &writer)
    pixelAspectRatio?.write(to: &writer)
    cleanAperture?.write(to: &writer)
    masteringDisplay?.write(to: &writer)
    contentLightLevel?.write(to: &writer)
    extendedUsage?.write(to: &writer)
    if let horizontalFieldOfView {
      writer.box("hfov") { $0.write(horizontalFieldOfView.thousandthsOfDegree) }
    }
    for box in otherBoxes {
      writer.box(box)
    }
  }

  private func writePictureFields(to writer: inout BoxWriter, container: MovieContainer) {
    writer.write(zeros: 8)
    // QuickTime's temporal and spatial quality, "normal"; reserved in ISO base media.
    let quality: UInt32 = container == .quickTime ? 512 : 0
    writer.write(quality)
    writer.write(quality)
    writer.write(width)
    writer.write(height)
    writer.write(0x48_0000 as UInt32)
    writer.write(0x48_0000 as UInt32)
    writer.write(UInt32(0))
    writer.write(UInt16(1))
    let name = compressorName.utf8.prefix(31)
    writer.write(UInt8(clamping: name.count))
    writer.write(Array(name))
    writer.write(zeros: 31 - name.count)
    writer.write(depth)
    writer.write(Int16(-1))
  }
}

extension VisualSampleEntry {
  /// All boxes of the entry except its `configuration`, in MP4 form: the track's picture properties
  /// that are not needed for decoding.
  public var extensions: [OpaqueBox] {
    var writer = BoxWriter()
    writeExtensions(to: &writer, container: .mp4)
    return OpaqueBox.all(in: writer.bytes)
  }

  /// Adds boxes as if they had followed the entry's own boxes in the file.
  ///
  /// A broken box is not an error: it is kept unparsed.
  public mutating func add(_ boxes: [OpaqueBox]) {
    var reader = BoxReader(boxes.flatMap(\.bytes), type: codec, path: codec.description)
    var issues = IssueLog()
    readBoxes(of: &reader, issues: &issues)
  }
}

extension VisualSampleEntry {
  /// The types of decoder configuration boxes.
  private static let configurationTypes: Set<FourCC> = [
    "hvcC", "lhvC", "avcC", "mvcC", "av1C", "vpcC", "vvcC", "dvcC", "dvvC", "dvwC", "esds",
    "glbl", "jp2h",
  ]

  /// Parses a visual sample entry. Defects of its boxes are added to `issues`; the broken boxes are
  /// kept unparsed.
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

  /// Parses the remaining boxes of a reader.
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

  /// Parses a box; returns whether it was stored in a property. Only the first box of a type is.
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
  /// Nil for variants of `colr` other than `nclc` and `nclx`, such as ICC profiles.
  init?(_ box: inout BoxReader) throws(ISOBMFFError) {
    let type = try box.readFourCC("colour_type")
    guard type == "nclc" || type == "nclx" else { return nil }
    self.init(
      primaries: try box.read("colour_primaries"),
      transferCharacteristics: try box.read("transfer_characteristics"),
      matrixCoefficients: try box.read("matrix_coefficients"))
    // Some writers omit the flag.
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
