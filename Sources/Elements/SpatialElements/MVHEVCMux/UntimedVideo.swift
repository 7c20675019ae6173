// SPDX-License-Identifier: MPL-2.0

import GStreamer
import HEVC
import StereoVideo

import struct AVC.MVCDecoderConfiguration
import struct AVC.SequenceParameterSet

/// Video without presentation times, as parsers make it of files that are a bare stream: of H.265
/// and H.264 they know the order of decoding alone.
enum UntimedVideo {
  /// Returns why a stream that begins without presentation times cannot be written; nil if its
  /// pictures are shown in the order of decoding, so that decoding times do for both.
  static func refusal(of caps: Caps, first: Buffer, pad: String) -> ElementError? {
    let isH264 = caps.mediaType == "video/x-h264"
    guard (isH264 ? reordersH264(caps) : reordersH265(caps, first)) ?? true else { return nil }
    return ElementError(
      .format,
      "The pictures on \(pad) have no presentation timestamps, and they are not shown in the order "
        + "in which they are coded. "
        + (isH264
          ? "Take the video from a container, such as MP4 or Matroska."
          : "If they come from a file of H.265 alone, read it with mvhevcdemux in place of a "
            + "parser; otherwise, take the video from a container."),
      debug: "\(caps)")
  }

  /// Nil if the stream does not say.
  private static func reordersH265(_ caps: Caps, _ first: Buffer) -> Bool? {
    guard let input = try? LayeredInput(caps, recordIsOptional: true) else { return nil }
    let inside = try? first.withBytes { bytes in
      try input.framing.nalUnits(in: bytes.bytes).map { Array(bytes[$0]) }
    }
    let sets = (input.parameterSets + (inside ?? [])).filter {
      NALUnitHeader($0.span.bytes).map { $0.type == .sequenceParameterSet && $0.layerID == 0 }
        ?? false
    }
    let counts = sets.map { (try? HEVC.SequenceParameterSet(nalUnit: $0))?.dpb?.maxNumReorderPics }
    return counts.isEmpty ? nil : counts.contains { $0 != 0 }
  }

  /// Nil if the stream does not say.
  private static func reordersH264(_ caps: Caps) -> Bool? {
    guard let record = caps.first?.buffer("codec_data")?.bytes,
      let configuration = try? MVCDecoderConfiguration(.avcC, bytes: record)
    else { return nil }
    let sets = configuration.sequenceParameterSets.map {
      try? AVC.SequenceParameterSet(nalUnit: $0)
    }
    return sets.isEmpty ? nil : sets.contains { $0?.isReordered ?? true }
  }
}

extension AVC.SequenceParameterSet {
  /// `profile_idc` of Baseline and Constrained Baseline, which have no B slices (A.2.1).
  private static let baseline = 66

  /// Whether pictures may be shown in another order than that of decoding.
  fileprivate var isReordered: Bool {
    if profile == Self.baseline || orderCount == .decodingOrder { return false }
    return vui?.restriction.map { $0.reorderFrames > 0 } ?? true
  }
}
