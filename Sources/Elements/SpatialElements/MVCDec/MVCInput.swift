// SPDX-License-Identifier: MPL-2.0

import AVC
import GStreamer
import HEVC
import StereoVideo

/// An H.264 stream that may have a second view, as described by its caps.
struct MVCInput {
  /// Streams in any framing and alignment; a byte stream needs no parser upstream. h264parse
  /// chooses the first format: in `codec_data`, it would lose an SPS whose id a subset SPS has,
  /// too.
  static let template = Caps(
    "video/x-h264", ["stream-format": .strings(["byte-stream", "avc", "avc3"])])

  let caps: Caps
  let framing: NALUnitFraming
  let alignment: MVCAlignment
  /// Parameter sets of `codec_data`, those of both views.
  let parameterSets: [[UInt8]]
  /// Why the record of the second view in `codec_data` is unreadable; nil if it is readable or
  /// absent.
  let recordProblem: String?
  /// The eye of the base view, if the container says it.
  let baseEye: Eye?

  /// Reads the caps.
  ///
  /// - Parameter capsUpstream: the caps of the pads that the stream came through.
  /// - Throws: an ``ElementError`` if the record in `codec_data` is damaged or missing.
  init(_ caps: Caps, capsUpstream: [Caps]) throws {
    self.caps = caps
    guard let structure = caps.first else { throw FlowReturn.notNegotiated }
    baseEye = Self.baseEye(of: caps)
    let named = structure.string("alignment")
    guard structure.string("stream-format") != "byte-stream" else {
      (framing, parameterSets, recordProblem) = (.annexB, [], nil)
      alignment = named == "au" ? .accessUnit : named == "nal" ? .nalUnit : .none
      return
    }
    alignment = named == "nal" ? .nalUnit : .accessUnit
    guard let record = structure.buffer("codec_data")?.bytes else {
      throw ElementError(
        .format, "The stream has length prefixes, but no codec_data.", debug: "\(caps)")
    }
    let records = Self.records(record, upstream: capsUpstream)
    do {
      let configuration = try Self.configuration(records.avcC)
      framing = configuration.framing
      let other = Result {
        try records.mvcC.map { try MVCDecoderConfiguration(.mvcC, bytes: $0) }
      }
      var sets = configuration.nalUnits
      switch other {
      case .success(let other):
        sets += other?.nalUnits ?? []
        recordProblem = nil
      case .failure(let error): recordProblem = "\(error)"
      }
      parameterSets = sets
    } catch {
      throw ElementError(.format, "The stream's codec_data is damaged: \(error).")
    }
  }

  /// Returns the eye of the base view by the caps; nil if they do not say it.
  static func baseEye(of caps: Caps) -> Eye? {
    guard let structure = caps.first, structure.string("multiview-mode") == "frame-by-frame" else {
      return nil
    }
    return structure.flagNames("multiview-flags").contains("right-view-first") ? .right : .left
  }

  /// Splits `codec_data`. h264parse drops the record of the second view, and may put a subset SPS
  /// into that of the base view, so that both have to be taken from the caps upstream of it.
  static func records(_ block: [UInt8], upstream: [Caps]) -> MVCRecords {
    var records = MVCRecords(block)
    func sets(_ records: MVCRecords) -> [[UInt8]]? {
      (try? configuration(records.avcC))?.sequenceParameterSets
    }
    for caps in upstream where records.mvcC == nil || !records.hasSPS {
      // What is farther upstream has been decoded, or is another stream.
      guard caps.mediaType == "video/x-h264" else { break }
      guard let block = caps.first?.buffer("codec_data") else { continue }
      let other = MVCRecords(block.bytes)
      if !records.hasSPS, other.hasSPS { records.avcC = other.avcC }
      guard sets(other) == sets(records) else { break }
      records.mvcC = other.mvcC
    }
    return records
  }

  /// Reads `avcC`, or the `mvcC` of a track with the second view alone: they differ in the reserved
  /// bits before the number of SPSs, all set in `avcC`.
  private static func configuration(
    _ record: [UInt8]
  ) throws(SyntaxError) -> MVCDecoderConfiguration {
    let position = 5
    let isFirst = record.count <= position || record[position] & 0x80 != 0
    return try MVCDecoderConfiguration(isFirst ? .avcC : .mvcC, bytes: record)
  }

  /// Whether a flattener for `other` can continue with this input. New parameter sets do not end
  /// a stream: a parser refines its caps, and may give the sets of one view at a time.
  func continues(_ other: MVCInput) -> Bool {
    framing == other.framing && alignment == other.alignment && baseEye == other.baseEye
  }

  /// Makes the caps of a plain stream, with all that a parser would find out: hardware decoders
  /// accept no stream without its profile and size.
  ///
  /// - Parameters:
  ///   - sps: the SPS of the plain stream; nil if unknown.
  ///   - frameRate: pictures a second; nil if unknown.
  ///   - baseEye: the eye that comes first if both eyes' pictures alternate; nil if they do not.
  func plainCaps(
    _ sps: AVC.SequenceParameterSet?, frameRate: Fraction?, baseEye: Eye?
  ) -> Caps {
    var plain = caps.with(
      ["stream-format": "byte-stream", "alignment": "au", "parsed": true],
      removing: [
        "codec_data", "profile", "level", "framerate", "multiview-mode", "multiview-flags",
        "views",
      ])
    if let sps {
      let (width, height) = sps.visibleSize
      plain =
        plain
        .with(["width": .int(Int32(clamping: width)), "height": .int(Int32(clamping: height))])
        .withH264ProfileLevel(of: sps.rbsp.dropFirst())
    }
    let rated = frameRate.map { plain.with(["framerate": .fraction($0)]) } ?? plain
    guard let baseEye else { return rated }
    return rated.withMultiview(.frameByFrame, baseEye == .right ? .rightViewFirst : [])
  }

  /// Returns the property `base-eye` of an element that reads these streams, stored at `path`.
  static func baseEye<Owner: HasSettings>(
    at path: WritableKeyPath<Owner.Settings, EyeChoice>
  ) -> Property<Owner> {
    .choice(
      "base-eye", nick: "Base eye",
      blurb: "Eye of the base view (none = as the container or the stream says, else left)",
      default: .none, at: path)
  }
}
