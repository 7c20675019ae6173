// SPDX-License-Identifier: MPL-2.0

import GStreamer
import HEVC
import ISOBMFF
import StereoVideo

/// The base eye of a layered stream, taken out as it is: a rendition that costs no encoding.
struct BaseEyeInput {
  /// Without what is said of a second eye.
  let sampleEntry: VisualSampleEntry
  private let framing: NALUnitFraming
  private var extractor = BaseLayerExtractor()

  /// - Parameter entry: of the layered stream.
  init(_ entry: VisualSampleEntry) throws {
    do {
      let record = try HEVCDecoderConfigurationRecord(bytes: entry.hvcC ?? [])
      framing = .lengthPrefixed(lengthSize: record.lengthSize)
      try extractor.add(parameterSets: record.nalUnits)
      var single = entry
      single.configuration = [
        OpaqueBox(
          "hvcC",
          payload: try HEVCDecoderConfigurationRecord(try extractor.currentParameterSets()).bytes)
      ]
      // A picture on a sphere stays there.
      let projection = entry.extendedUsage?.metadata.projection
      single.extendedUsage =
        projection.flatMap { $0 == .rectilinear ? nil : VideoExtendedUsage(monoscopic: $0) }
      single.horizontalFieldOfView = nil
      single.stereoscopicMode = nil
      sampleEntry = single
    } catch let error as ElementError {
      throw error
    } catch {
      throw ElementError(.format, "The codec_data of the video is damaged: \(error)")
    }
  }

  /// The base eye of an access unit.
  mutating func sample(_ buffer: Buffer) throws -> Buffer {
    let framing = framing
    let sample = try buffer.withBytes { bytes -> Buffer? in
      let span = RawSpan(_unsafeBytes: bytes)
      let unit = try extractor.extract(span, nalUnits: try framing.nalUnits(in: span))
      let output = NALUnitFraming.lengthPrefixed(lengthSize: 4)
      let sample = Buffer(size: unit.picture.byteCount(framing: output))
      try sample?.withMutableBytes {
        unit.picture.write(framing: output, source: span, into: $0)
      }
      return sample
    }
    guard let sample else { throw FlowReturn.error }
    return sample
  }
}
