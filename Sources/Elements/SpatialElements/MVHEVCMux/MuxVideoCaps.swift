// SPDX-License-Identifier: MPL-2.0

import GStreamer
import HEVC
import ISOBMFF
import MoviePlayer
import StereoEncoder
import StereoVideo

import struct AVC.MVCDecoderConfiguration
import struct AVC.MVCRecords

/// Sample entries of video tracks, from caps.
enum MuxVideoCaps {
  /// H.265 that is written unchanged: layered, frame-packed or plain.
  static var h265: Caps {
    Caps(
      "video/x-h265",
      ["stream-format": .strings(["hvc1", "hev1", "byte-stream"]), "alignment": "au"])
  }

  /// Coded video that is written unchanged: H.265, or H.264, which may be frame-packed.
  static let template: Caps = {
    let caps = h265.with()
    caps.append(
      "video/x-h264", [("stream-format", .strings(["avc", "avc3"])), ("alignment", "au")])
    return caps
  }()

  /// Returns the sample entry of a stream whose caps have its decoder configuration record.
  ///
  /// - Parameters:
  ///   - capsUpstream: the caps of the pads that the stream came through.
  ///   - first: the first buffer, which may have a second view's parameter sets.
  static func sampleEntry(
    _ caps: Caps, pad: String, capsUpstream: [Caps], first: Buffer?
  ) throws -> VisualSampleEntry {
    guard let structure = caps.first, let record = structure.buffer("codec_data") else {
      throw ElementError(
        .format, "The video on \(pad) has no codec_data; put a parser before the pad.",
        debug: "\(caps)")
    }
    // RTP says no size in caps; the parameter sets do.
    let coded = structure.int("width") == nil ? codedSize(record.bytes) : nil
    let size = try pictureSize(
      width: coded?.width ?? structure.int("width"),
      height: coded?.height ?? structure.int("height"), pad: pad)
    let isH264 = structure.name == "video/x-h264"
    let records = isH264 ? try mvcRecords(record.bytes, capsUpstream, first, pad: pad) : nil
    var entry =
      records.map {
        VisualSampleEntry(width: size.width, height: size.height, avcC: $0.avcC, mvcC: $0.mvcC)
      }
      ?? VisualSampleEntry(
        width: size.width, height: size.height, hvcC: record.bytes,
        lhvC: structure.buffer(LayeredCaps.layeredCodecData)?.bytes)
    // The parameter sets among the pictures stay there.
    if structure.string("stream-format") == "avc3" { entry.codec = "avc3" }
    describe(&entry, caps, pixelAspectRatio: structure.fraction("pixel-aspect-ratio"))
    return entry
  }

  /// Returns the sample entry of a stream with in-band parameter sets.
  static func sampleEntry(_ video: InBandVideo) throws -> VisualSampleEntry {
    var entry = try video.sampleEntry()
    describe(
      &entry, video.caps, pixelAspectRatio: video.caps.first?.fraction("pixel-aspect-ratio"))
    return entry
  }

  /// Returns the sample entry of layered video made from two eyes.
  static func sampleEntry(
    _ configuration: LayeredConfiguration, _ base: EyeStreamCaps
  ) throws -> VisualSampleEntry {
    let size = try pictureSize(
      width: configuration.width, height: configuration.height, pad: "left")
    var entry = VisualSampleEntry(
      width: size.width, height: size.height, hvcC: configuration.hvcC, lhvC: configuration.lhvC)
    describe(&entry, base.caps, pixelAspectRatio: base.pixelAspectRatio)
    return entry
  }

  /// Returns the records of H.264, which may have two views (MVC): that of the second view is in
  /// the caps, or made from the parameter sets in the first picture.
  private static func mvcRecords(
    _ block: [UInt8], _ capsUpstream: [Caps], _ first: Buffer?, pad: String
  ) throws -> MVCRecords {
    var records = MVCInput.records(block, upstream: capsUpstream)
    guard let framing = try? MVCDecoderConfiguration(.avcC, bytes: records.avcC).framing else {
      return records
    }
    try first?.withBytes {
      // The base view may have been extracted downstream of the caps that have the record.
      let isMVC = MVCRecords.hasDependentView(sample: $0.bytes, framing: framing)
      if MVCRecords(block).mvcC == nil, !isMVC { records.mvcC = nil }
      if isMVC { records.addRecord(fromSample: $0.bytes, framing: framing) }
    }
    guard records.hasSPS || records.mvcC == nil else {
      throw ElementError(
        .format,
        "The codec_data of \(pad) has no SPS of the base view, which h264parse loses in H.264 MVC; "
          + "leave it out, or read transport streams with mvctsdemux.")
    }
    return records
  }

  /// The size that the parameter sets of H.265 in a decoder configuration record say.
  private static func codedSize(_ record: [UInt8]) -> (width: Int, height: Int)? {
    guard let record = try? HEVCDecoderConfigurationRecord(bytes: record),
      let configuration = try? LayeredConfiguration(
        LayeredParameterSets(nalUnits: record.nalUnits))
    else { return nil }
    return (configuration.width, configuration.height)
  }

  private static func pictureSize(
    width: Int?, height: Int?, pad: String
  ) throws -> (width: UInt16, height: UInt16) {
    guard let width, let height, let width = UInt16(exactly: width),
      let height = UInt16(exactly: height)
    else {
      throw ElementError(
        .format, "The video on \(pad) has no size, or one above 65535, the maximum in movies.")
    }
    return (width, height)
  }

  /// Adds boxes from the caps: those of the movie that the stream comes from, if any; and colour,
  /// pixel aspect ratio and HDR10 metadata, if they differ from those boxes.
  private static func describe(
    _ entry: inout VisualSampleEntry, _ caps: Caps, pixelAspectRatio: Fraction?
  ) {
    let boxes = SampleEntryBoxes.read(caps.first)
    if let boxes {
      entry.fields = nil
      entry.add(boxes)
    }
    let said = VideoDescription(boxesOf: entry).adding(to: Caps("video/x-h265"))
    func isNews(_ field: String) -> Bool {
      guard let text = caps.first?.string(field) else { return false }
      return said.first?.string(field) != text
    }
    if isNews("colorimetry") { entry.colour = ColourInformation(caps) ?? entry.colour }
    if entry.colour?.fullRange == nil, boxes == nil || entry.colour != nil,
      entry.hvcC.flatMap({ HEVCDecoderConfigurationRecord.isFullRange($0) }) == true
    {
      // Only the stream has the range, and without `colr` players assume limited range.
      var colour = entry.colour ?? .unknown
      colour.fullRange = true
      entry.colour = colour
    }
    if let par = pixelAspectRatio,
      par != said.first?.fraction("pixel-aspect-ratio") ?? Fraction(1, 1),
      par.numerator > 0, par.denominator > 0
    {
      entry.pixelAspectRatio = PixelAspectRatio(
        horizontalSpacing: UInt32(par.numerator), verticalSpacing: UInt32(par.denominator))
    }
    if isNews("mastering-display-info"), let display = MasteringDisplayColourVolume(caps) {
      entry.masteringDisplay = display
    }
    if isNews("content-light-level"), let level = ContentLightLevel(caps) {
      entry.contentLightLevel = level
    }
  }
}
