// SPDX-License-Identifier: MPL-2.0

import GStreamer
import HEVC
import ISOBMFF
import StereoVideo

/// Coded video with in-band parameter sets, as in a byte stream. They are removed, since a movie
/// has them in its sample entry, and NAL units get length prefixes.
///
/// Both layers of layered video arrive in the same buffer.
struct InBandVideo {
  let caps: Caps
  private let pad: String
  private let framing: NALUnitFraming
  private let sets: LayeredParameterSets
  /// The NAL units in the sample entry, which samples do not repeat.
  private let recorded: Set<[UInt8]>

  /// Whether caps are those of a stream with in-band parameter sets, or with those of both layers
  /// in the base layer's record: `rtph265depay` puts all that come into one.
  static func isIn(_ caps: Caps) -> Bool {
    guard caps.first?.string("stream-format") == "hvc1" else {
      return ["byte-stream", "hev1"].contains(caps.first?.string("stream-format"))
    }
    guard caps.first?.buffer(LayeredCaps.layeredCodecData) == nil,
      let record = caps.first?.buffer("codec_data")?.bytes,
      let configuration = try? StreamConfiguration(hvcC: record)
    else { return false }
    return configuration.parameterSets.contains {
      NALUnitHeader($0.span.bytes).map { $0.layerID > 0 } ?? false
    }
  }

  /// Reads the parameter sets from the first buffer and from the configuration record that the caps
  /// may have.
  ///
  /// - Throws: an ``ElementError`` if parameter sets of the base layer are missing.
  init(_ caps: Caps, first: Buffer?, pad: String) throws {
    let input = try LayeredInput(caps, recordIsOptional: true)
    if let problem = input.layeredRecordProblem {
      throw ElementError(.format, "The dependent layer's record (lhvC) is damaged: \(problem).")
    }
    self.caps = caps
    self.pad = pad
    framing = input.framing
    let inside =
      try first?.withBytes { bytes -> [[UInt8]] in
        let span = RawSpan(_unsafeBytes: bytes)
        return try input.framing.nalUnits(in: span).map { range in
          span.extracting(range).withUnsafeBytes { Array($0) }
        }
      } ?? []
    sets = LayeredParameterSets(nalUnits: input.parameterSets + inside)
    guard !sets.videoParameterSet.isEmpty, !sets.baseSequenceParameterSets.isEmpty,
      !sets.basePictureParameterSets.isEmpty
    else {
      throw ElementError(
        .format,
        "The video on \(pad) does not begin with its parameter sets and cannot be decoded from "
          + "there; start at a keyframe, or repeat the parameter sets before each keyframe.")
    }
    recorded = Set(sets.nalUnits.filter { !$0.isEmpty })
  }

  /// Returns a sample entry with the decoder configuration records and the picture size.
  func sampleEntry() throws -> VisualSampleEntry {
    do {
      let vps = try VideoParameterSet(nalUnit: sets.videoParameterSet)
      let configuration = try LayeredConfiguration(sets)
      guard let width = UInt16(exactly: configuration.width),
        let height = UInt16(exactly: configuration.height)
      else { throw FlowReturn.notNegotiated }
      return VisualSampleEntry(
        width: width, height: height, hvcC: configuration.hvcC,
        lhvC: vps.maxLayersMinus1 > 0 ? configuration.lhvC : nil)
    } catch {
      throw ElementError(
        .format, "The parameter sets of the video on \(pad) are damaged.", debug: "\(error)")
    }
  }

  /// Returns a buffer as a sample of the movie.
  func sample(_ buffer: Buffer) throws -> Buffer {
    let sample = try buffer.withBytes { bytes -> Buffer? in
      let span = RawSpan(_unsafeBytes: bytes)
      var kept: [Range<Int>] = []
      var size = 0
      for range in try framing.nalUnits(in: span) where try isKept(span.extracting(range)) {
        kept.append(range)
        size += 4 + range.count
      }
      let sample = Buffer(size: size)
      try sample?.withMutableBytes { output in
        var position = 0
        for range in kept {
          output.storeBytes(
            of: UInt32(clamping: range.count).bigEndian, toByteOffset: position, as: UInt32.self)
          position += 4
          UnsafeMutableRawBufferPointer(rebasing: output[position..<position + range.count])
            .copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[range]))
          position += range.count
        }
      }
      return sample
    }
    guard let sample else { throw FlowReturn.error }
    return sample
  }

  /// Whether a buffer has parameter sets that are not in the sample entry.
  func isChanged(by buffer: Buffer) -> Bool {
    let isChanged = try? buffer.withBytes { bytes in
      let span = RawSpan(_unsafeBytes: bytes)
      return try framing.nalUnits(in: span).contains { range in
        guard let header = NALUnitHeader(span.extracting(range)) else { return false }
        return header.type.isParameterSet && header.layerID <= 1
          && !isRecorded(span.extracting(range))
      }
    }
    return isChanged ?? false
  }

  private func isKept(_ unit: RawSpan) throws -> Bool {
    guard let header = NALUnitHeader(unit) else { return false }
    switch header.type {
    case .accessUnitDelimiter: return false
    case .prefixSEI: return !isRecorded(unit)
    case let type where type.isParameterSet && header.layerID <= 1:
      guard isRecorded(unit) else {
        throw ElementError(
          .format,
          "The parameter sets of the video on \(pad) changed mid-stream; a movie track has only "
            + "one set.")
      }
      return false
    default: return true
    }
  }

  private func isRecorded(_ unit: RawSpan) -> Bool {
    recorded.contains(unit.withUnsafeBytes { Array($0) })
  }
}
