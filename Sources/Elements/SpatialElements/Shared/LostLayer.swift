// SPDX-License-Identifier: MPL-2.0

import GStreamer
import HEVC
import StereoVideo

/// The second layer of video whose parameter sets have not come with it: demuxers and parsers that
/// know a single layer leave them out, but pass on its slices.
enum LostLayer {
  static let remedy =
    "Elements that know a single layer, such as qtdemux and h265parse, leave them out: put "
    + "mvhevcdemux in their place."

  /// Whether the caps of a stream with a record say nothing of layers that its VPS names, so that
  /// only its pictures tell whether it has them.
  static func isPossible(in caps: Caps) -> Bool {
    guard caps.first?.buffer(LayeredCaps.layeredCodecData) == nil,
      caps.first?.buffer("codec_data") != nil, let input = try? LayeredInput(caps)
    else { return false }
    return input.parameterSets.contains {
      NALUnitHeader($0.span.bytes)?.type == .videoParameterSet
        && (try? VideoParameterSet(nalUnit: $0)).map { $0.maxLayersMinus1 > 0 } ?? false
    }
  }

  /// Returns why a stream cannot be written, whose second layer could not be decoded; nil if it can
  /// be, or if the first picture does not have that layer.
  static func refusal(of caps: Caps, first: Buffer?, pad: String) -> ElementError? {
    guard let first, let missing = missingSet(caps, first) else { return nil }
    return ElementError(
      .format,
      "The second eye of the video on \(pad) cannot be decoded: \(missing) has not been received. "
        + remedy,
      debug: "\(caps)")
  }

  /// Returns the parameter set that the first picture's second layer lacks.
  private static func missingSet(_ caps: Caps, _ first: Buffer) -> String? {
    var splitter = EyeSplitter()
    guard let input = try? LayeredInput(caps, recordIsOptional: true),
      (try? splitter.add(parameterSets: input.parameterSets)) != nil
    else { return nil }
    return try? first.withBytes { bytes in
      let span = RawSpan(_unsafeBytes: bytes)
      let units = try input.framing.nalUnits(in: span)
      do throws(FlattenError) {
        if case .missingParameterSet(let what) = try splitter.dependentEye(span, nalUnits: units)
          .failure
        {
          return what
        }
      } catch .missingParameterSet(let what) {
        return what
      } catch {}
      return nil
    }
  }
}
