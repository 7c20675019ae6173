// SPDX-License-Identifier: MPL-2.0

public import StereoVideo

/// What the samples of a video track are: a sample entry of `stsd` (ISO/IEC 14496-12 12.1.3,
/// QuickTime File Format "Video sample description").
public struct VisualSampleEntry: Equatable, Sendable {
  /// The type of the entry: `hvc1`, `avc1` and so on.
  public var codec: FourCC
  /// The size of the coded picture that is meant to be shown, in pixels: one eye's in MV-HEVC.
  public var width, height: UInt16
  /// A name for people, up to 31 bytes of UTF-8.
  public var compressorName = ""
  /// Bits per pixel: 24 for colour without alpha, whatever the bit depth of the codec.
  public var depth: UInt16 = 24
  /// What the decoder needs before the first sample, in the file's order: `hvcC` and `lhvC`
  /// (ISO/IEC 14496-15 8.4.1, 9.5.3), `avcC` and the like.
  public var configuration: [OpaqueBox]
  /// `colr` of code points; ICC profiles are among `otherBoxes`.
  public var colour: ColourInformation?
  /// `fiel`.
  public var fields: FieldInformation?
  /// `chrm`.
  public var chromaLocation: ChromaLocation?
  /// `pasp`; square pixels without it.
  public var pixelAspectRatio: PixelAspectRatio?
  /// `clap`; the whole picture without it.
  public var cleanAperture: CleanAperture?
  /// `mdcv`.
  public var masteringDisplay: MasteringDisplayColourVolume?
  /// `clli`.
  public var contentLightLevel: ContentLightLevel?
  /// `st3d`.
  public var stereoscopicMode: StereoscopicMode?
  /// `sv3d`.
  public var sphericalVideo: SphericalVideo?
  /// `vexu`.
  public var extendedUsage: VideoExtendedUsage?
  /// `hfov`.
  public var horizontalFieldOfView: HorizontalFieldOfView?
  /// Every other box of the entry, in the file's order.
  public var otherBoxes: [OpaqueBox] = []

  public init(codec: FourCC, width: UInt16, height: UInt16, configuration: [OpaqueBox] = []) {
    self.codec = codec
    self.width = width
    self.height = height
    self.configuration = configuration
  }

  /// An `hvc1` entry with the decoder configuration records of the base layer (`hvcC`) and, in a
  /// layered stream, of the others (`lhvC`).
  public init(width: UInt16, height: UInt16, hvcC: [UInt8], lhvC: [UInt8]? = nil) {
    self.init(codec: "hvc1", width: width, height: height)
    compressorName = "HEVC"
    fields = .progressive
    configuration.append(OpaqueBox("hvcC", payload: hvcC))
    if let lhvC {
      configuration.append(OpaqueBox("lhvC", payload: lhvC))
    }
  }

  /// An `avc1` entry with the decoder configuration record (`avcC`, ISO/IEC 14496-15 5.3.3.1).
  public init(width: UInt16, height: UInt16, avcC: [UInt8]) {
    self.init(
      codec: "avc1", width: width, height: height,
      configuration: [OpaqueBox("avcC", payload: avcC)])
    compressorName = "AVC"
  }

  /// The record of the base layer, or nil without one.
  public var hvcC: [UInt8]? {
    configuration.first { $0.type == "hvcC" }?.payload
  }

  /// The record of the layers above the base layer, or nil without one.
  public var lhvC: [UInt8]? {
    configuration.first { $0.type == "lhvC" }?.payload
  }

  /// How the pair was shot, as far as `vexu` and `hfov` say it.
  public var spatialMetadata: SpatialMetadata {
    var metadata = extendedUsage?.metadata ?? SpatialMetadata()
    metadata.horizontalFieldOfView = horizontalFieldOfView
    return metadata
  }

  /// How two eyes share a frame, by `vexu` or else by `st3d`; nil where neither says that they do.
  public var packing: PackingLayout? {
    extendedUsage?.packing ?? stereoscopicMode?.packing
  }
}

extension VisualSampleEntry {
  /// The children stand in the order of AVFoundation's files; readers exist that refuse `lhvC`
  /// before `hvcC`, and `st3d` has to come before `clap` and `pasp`.
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
        // QuickTime ends a sample description's list of boxes with a zero.
        $0.write(UInt32(0))
      }
    }
  }

  func writeExtensions(to writer: inout BoxWriter, container: MovieContainer) {
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
  /// Every box of the entry but its `configuration`, as MP4 has them: what a track says of its
  /// pictures beyond what decodes them.
  public var extensions: [OpaqueBox] {
    var writer = BoxWriter()
    writeExtensions(to: &writer, container: .mp4)
    return OpaqueBox.all(in: writer.bytes)
  }

  /// Adds boxes as if the entry had been read with them behind its own.
  ///
  /// What is wrong with one of them is no error: that box is kept as it is.
  public mutating func add(_ boxes: [OpaqueBox]) {
    var reader = BoxReader(boxes.flatMap(\.bytes), type: codec, path: codec.description)
    var issues = IssueLog()
    readBoxes(of: &reader, issues: &issues)
  }
}

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
