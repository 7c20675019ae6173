// SPDX-License-Identifier: MPL-2.0

import AVC
import StereoVideo

/// Writes parameter sets and slice headers bit by bit, for streams that no encoder at hand makes.
/// Pictures are 16x16, and their slice data are arbitrary: nothing here decodes them.
struct MVCStreamBuilder {
  /// The fields of an SPS that tests change.
  struct Sequence {
    var profile = 100
    var id = 0
    var log2MaxFrameNumMinus4 = 0
    var orderCountType = 0
    var log2MaxLSBMinus4 = 4
    var cycle: [Int] = []
    var referenceFrames = 2
    var allowsGaps = false
    var widthInMBsMinus1 = 0
    var isFrameOnly = true
    var cpbCount: Int?
    /// Numbers of anchor and other references of each list, of the second view.
    var views: (count: Int, references: [Int])?

    /// The SPS, or the subset SPS if there are views.
    var nalUnit: [UInt8] {
      var writer = BitWriter()
      writer.u(profile, 8)
      writer.u(0, 8)
      writer.u(30, 8)
      writer.ue(id)
      if profile >= 100 || profile == 83 {
        // chroma_format_idc to seq_scaling_matrix_present_flag
        for value in [1, 0, 0] { writer.ue(value) }
        writer.u(0, 2)
      }
      writer.ue(log2MaxFrameNumMinus4)
      writer.ue(orderCountType)
      if orderCountType == 0 { writer.ue(log2MaxLSBMinus4) }
      if orderCountType == 1 {
        writer.flag(true)
        writer.ue(0)
        writer.ue(0)
        writer.ue(cycle.count)
        for value in cycle { writer.ue(value > 0 ? 2 * value - 1 : -2 * value) }
      }
      writer.ue(referenceFrames)
      writer.flag(allowsGaps)
      writer.ue(widthInMBsMinus1)
      writer.ue(0)
      writer.flag(isFrameOnly)
      if !isFrameOnly { writer.flag(false) }
      // direct_8x8_inference_flag, frame_cropping_flag
      writer.u(0b10, 2)
      writer.flag(cpbCount != nil)
      if let cpbCount {
        // aspect_ratio_info_present_flag to timing_info_present_flag, the NAL HRD
        writer.u(0b000001, 6)
        writer.ue(cpbCount - 1)
        writer.u(0, 8)
      }
      if let views {
        writer.flag(true)
        writer.ue(views.count - 1)
        for view in 0..<min(views.count, 3) { writer.ue(view) }
        for count in views.references {
          writer.ue(count)
          if count > 0 { writer.ue(0) }
        }
        writer.flag(false)
      }
      writer.trailingBits()
      return unit([views == nil ? 0x67 : 0x6F], writer)
    }
  }

  /// A PPS of CABAC.
  static func pps(
    id: Int = 0, sps: Int = 0, sliceGroups: Int = 1, defaults: [Int] = [1, 1], bipred: Int = 0
  ) -> [UInt8] {
    var writer = BitWriter()
    writer.ue(id)
    writer.ue(sps)
    writer.u(0b10, 2)
    writer.ue(sliceGroups - 1)
    for count in defaults { writer.ue(count - 1) }
    writer.u(bipred, 3)
    for _ in 0..<3 { writer.ue(0) }
    writer.u(0, 3)
    writer.trailingBits()
    return unit([0x68], writer)
  }

  /// The fields of a slice that tests change.
  struct Slice {
    /// 0 P, 1 B, 2 I
    var kind = 0
    var view = 0
    var isIDR = false
    var refIDC = 1
    var frameNum = 0
    var lsb: Int? = 0
    /// `num_ref_idx_active` of list 0.
    var count = 1
    /// `modification_of_pic_nums_idc` and the number after it.
    var modifications: [(Int, Int)] = []
    /// Operations with their numbers.
    var marking: [[Int]]?

    /// The NAL unit for this SPS.
    func nalUnit(_ sequence: Sequence) -> [UInt8] {
      var writer = BitWriter()
      writer.ue(0)
      writer.ue(kind)
      writer.ue(0)
      writer.u(frameNum, sequence.log2MaxFrameNumMinus4 + 4)
      if !sequence.isFrameOnly { writer.flag(false) }
      if isIDR { writer.ue(0) }
      if sequence.orderCountType == 0, let lsb { writer.u(lsb, sequence.log2MaxLSBMinus4 + 4) }
      if kind == 0 {
        writer.flag(true)
        writer.ue(count - 1)
        writer.flag(!modifications.isEmpty)
        if !modifications.isEmpty {
          for (operation, value) in modifications {
            writer.ue(operation)
            writer.ue(value)
          }
          writer.ue(3)
        }
      }
      if refIDC > 0 { writeMarking(&writer) }
      if kind != 2 { writer.ue(0) }
      writer.ue(0)
      writer.alignWithOnes()
      writer.u(0x1234, 16)
      writer.trailingBits()
      return unit(header, writer)
    }

    private func writeMarking(_ writer: inout BitWriter) {
      if isIDR { return writer.u(0, 2) }
      writer.flag(marking != nil)
      for command in marking ?? [] {
        for value in command { writer.ue(value) }
      }
      if marking != nil { writer.ue(0) }
    }

    private var header: [UInt8] {
      if view == 0 { return [UInt8(refIDC << 5 | (isIDR ? 5 : 1))] }
      // view_id 1, anchor_pic_flag for IDR pictures, inter_view_flag 0, reserved_one_bit
      return [UInt8(refIDC << 5 | 20), isIDR ? 0 : 0x40, 0, isIDR ? 0x45 : 0x41]
    }
  }

}

/// A NAL unit with emulation prevention.
private func unit(_ header: [UInt8], _ writer: BitWriter) -> [UInt8] {
  var result = header
  var zeros = 0
  for byte in writer.bytes {
    if zeros >= 2, byte <= 3 {
      result.append(3)
      zeros = 0
    }
    result.append(byte)
    zeros = byte == 0 ? zeros + 1 : 0
  }
  return result
}
