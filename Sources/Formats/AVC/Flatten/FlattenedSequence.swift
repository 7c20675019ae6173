// SPDX-License-Identifier: MPL-2.0

internal import StereoVideo

/// The constants of a coded video sequence of a flattened stream, and its SPS.
struct FlattenedSequence: Sendable {
  /// Number of bits of `pic_order_cnt_lsb`.
  static let orderCountBits = 16
  /// The largest decoded picture buffer of H.264, in frames.
  static let maximumFrames = 16

  let numbering: MVCNumbering
  /// `log2_max_frame_num_minus4` + 4
  let log2MaxFrameNum: Int
  /// `max_num_ref_frames`
  let maxNumRefFrames: Int
  /// `max_num_reorder_frames`
  private let reorderFrames: Int
  /// `max_dec_frame_buffering`
  private let frameBuffering: Int
  private let level: Level

  /// Plans a sequence of both views.
  ///
  /// - Parameters:
  ///   - base: SPS of the base view.
  ///   - dependent: SPS of the dependent view; nil if it is not known yet.
  init(
    base: SequenceParameterSet, dependent: SequenceParameterSet?, numbering: MVCNumbering
  ) {
    self.numbering = numbering
    // Both views share the numbers, and base pictures that only the other view refers to take some.
    log2MaxFrameNum = min(max(base.log2MaxFrameNum + 2, 8), 16)
    // Of the two more, one is for a base picture that only the other view refers to, and one for a
    // picture whose removal waits for the next reference picture.
    let others = dependent?.maxNumRefFrames ?? base.maxNumRefFrames
    maxNumRefFrames = min(base.maxNumRefFrames + others + 2, Self.maximumFrames)
    let size = base.format.widthInMBs * base.format.heightInMBs
    let baseLevel = Level.level(base.level)
    let restriction = base.vui?.restriction
    let needed = 2 * (restriction?.frameBuffering ?? baseLevel.frames(size: size)) + 1
    frameBuffering = max(maxNumRefFrames, min(needed, Self.maximumFrames))
    reorderFrames = min(
      2 * (restriction?.reorderFrames ?? baseLevel.frames(size: size)), frameBuffering)
    level = Level.lowest(
      size: size, frames: frameBuffering, macroblockRate: 2 * baseLevel.macroblockRate)
  }

  /// Returns the SPS: that of the base view, `source`, with what is planned here.
  ///
  /// Scaling lists are left to the PPSs, since those of the views may differ.
  func nalUnit(_ source: SequenceParameterSet) -> [UInt8] {
    var writer = BitWriter()
    writeBeginning(source, to: &writer)
    writer.ue(log2MaxFrameNum - 4)
    writer.ue(0)
    writer.ue(Self.orderCountBits - 4)
    writer.ue(maxNumRefFrames)
    writer.flag(false)
    writer.ue(source.format.widthInMBs - 1)
    writer.ue(source.format.heightInMapUnits - 1)
    writer.flag(source.format.isFrameOnly)
    if !source.format.isFrameOnly { writer.flag(source.format.isMBAFF) }
    writer.flag(source.format.direct8x8Inference)
    writer.copy(source.cropping, of: source.rbsp)
    writer.flag(true)
    writeVUI(source, to: &writer)
    writer.trailingBits()
    return RewrittenUnit.nalUnit(.sequenceParameterSet, writer)
  }

  /// Writes the fields from `profile_idc` to the scaling lists.
  private func writeBeginning(_ source: SequenceParameterSet, to writer: inout BitWriter) {
    // Both views' pictures are decodable by the profile of the base view with the tools of High,
    // which all decoders of interlaced and progressive streams have.
    let profile = [110, 122, 244, 44].contains(source.profile) ? source.profile : 100
    writer.u(profile, 8)
    writer.u(0, 8)
    writer.u(level.idc, 8)
    writer.ue(0)
    writer.ue(source.format.chromaFormat)
    if source.format.chromaFormat == 3 { writer.flag(false) }
    writer.ue(source.format.bitDepthLumaMinus8)
    writer.ue(source.format.bitDepthChromaMinus8)
    writer.flag(source.format.bypassesTransform)
    writer.flag(false)
  }

  private func writeVUI(_ source: SequenceParameterSet, to writer: inout BitWriter) {
    if let vui = source.vui {
      writer.copy(vui.description, of: source.rbsp)
    } else {
      writer.u(0, 4)
    }
    writer.flag(source.vui?.timing != nil)
    if let timing = source.vui?.timing {
      writer.u(timing.unitsInTick, 32)
      writer.u(min(2 * timing.timeScale, 0xFFFF_FFFF), 32)
      writer.flag(timing.isFixed)
    }
    // No HRD, no pic_struct; then the bitstream restriction.
    writer.u(0, 3)
    writer.flag(true)
    writer.flag(true)
    for value in [0, 0, 16, 16, reorderFrames, frameBuffering] { writer.ue(value) }
  }
}
