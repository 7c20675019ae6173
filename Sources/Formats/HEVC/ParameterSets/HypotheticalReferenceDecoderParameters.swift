// SPDX-License-Identifier: MPL-2.0

internal import StereoVideo

/// `hrd_parameters()`, H.265 (E.2.2): the coded picture buffers that the stream was encoded for.
public struct HypotheticalReferenceDecoderParameters: Hashable, Sendable {
  /// Parameters shared by all sub-layers.
  public struct Common: Hashable, Sendable {
    /// `nal_hrd_parameters_present_flag`
    public var nalHRDParametersPresent = false
    /// `vcl_hrd_parameters_present_flag`
    public var vclHRDParametersPresent = false
    /// `sub_pic_hrd_params_present_flag` and its fields, as 19 bits; nil if not present.
    public var subPictureParameters: Int?
    /// `bit_rate_scale` and `cpb_size_scale`, four bits each.
    public var scales = 0
    /// `cpb_size_du_scale`
    public var cpbSizeDUScale = 0
    /// `initial_cpb_removal_delay_length_minus1`, `au_cpb_removal_delay_length_minus1` and
    /// `dpb_output_delay_length_minus1`, five bits each.
    public var delayLengths = 0
  }

  /// One coded picture buffer of a sub-layer.
  public struct Buffer: Hashable, Sendable {
    /// `bit_rate_value_minus1`
    public var bitRateValueMinus1: Int
    /// `cpb_size_value_minus1`
    public var cpbSizeValueMinus1: Int
    /// `cpb_size_du_value_minus1` and `bit_rate_du_value_minus1`; empty if not sent.
    public var decodingUnit: [Int]
    /// `cbr_flag`
    public var constantBitRate: Bool
  }

  /// Parameters of one sub-layer.
  public struct SubLayer: Hashable, Sendable {
    /// `fixed_pic_rate_general_flag`
    public var fixedPictureRateGeneral = false
    /// `fixed_pic_rate_within_cvs_flag`
    public var fixedPictureRateWithinCVS = true
    /// `elemental_duration_in_tc_minus1`
    public var elementalDurationMinus1 = 0
    /// `low_delay_hrd_flag`
    public var lowDelay = false
    /// `cpb_cnt_minus1`, 0 to 31.
    public var bufferCountMinus1 = 0
    /// The buffers of the NAL HRD, then those of the VCL HRD.
    public var buffers: [Buffer] = []
  }

  /// Parameters shared by all sub-layers; nil if `commonInfPresentFlag` is 0.
  public var common: Common?
  /// The sub-layers, lowest first.
  public var subLayers: [SubLayer] = []

  /// Reads the structure. `inherited` holds the common parameters of the preceding structure in the
  /// VPS, which apply if this one has none.
  init(
    _ reader: inout BitReader, commonPresent: Bool, maxSubLayersMinus1: Int,
    inherited: Common? = nil
  ) throws(SyntaxError) {
    if commonPresent { common = try Common(&reader) }
    let shared = common ?? inherited ?? Common()
    for _ in 0...max(maxSubLayersMinus1, 0) {
      subLayers.append(try SubLayer(&reader, shared))
    }
  }

  func write(to writer: inout BitWriter, inherited: Common? = nil) {
    common?.write(to: &writer)
    let shared = common ?? inherited ?? Common()
    for layer in subLayers { layer.write(to: &writer, shared) }
  }
}

extension HypotheticalReferenceDecoderParameters.Common {
  init(_ reader: inout BitReader) throws(SyntaxError) {
    nalHRDParametersPresent = try reader.flag("nal_hrd_parameters_present_flag")
    vclHRDParametersPresent = try reader.flag("vcl_hrd_parameters_present_flag")
    guard nalHRDParametersPresent || vclHRDParametersPresent else { return }
    if try reader.flag("sub_pic_hrd_params_present_flag") {
      subPictureParameters = try reader.u(19, "tick_divisor_minus2")
    }
    scales = try reader.u(8, "bit_rate_scale")
    if subPictureParameters != nil { cpbSizeDUScale = try reader.u(4, "cpb_size_du_scale") }
    delayLengths = try reader.u(15, "initial_cpb_removal_delay_length_minus1")
  }

  func write(to writer: inout BitWriter) {
    writer.flag(nalHRDParametersPresent)
    writer.flag(vclHRDParametersPresent)
    guard nalHRDParametersPresent || vclHRDParametersPresent else { return }
    writer.flag(subPictureParameters != nil)
    if let subPictureParameters { writer.u(subPictureParameters, 19) }
    writer.u(scales, 8)
    if subPictureParameters != nil { writer.u(cpbSizeDUScale, 4) }
    writer.u(delayLengths, 15)
  }
}

extension HypotheticalReferenceDecoderParameters.SubLayer {
  /// Parameters shared by all sub-layers.
  public typealias Common = HypotheticalReferenceDecoderParameters.Common
  /// One coded picture buffer of a sub-layer.
  public typealias Buffer = HypotheticalReferenceDecoderParameters.Buffer

  init(_ reader: inout BitReader, _ common: Common) throws(SyntaxError) {
    fixedPictureRateGeneral = try reader.flag("fixed_pic_rate_general_flag")
    if !fixedPictureRateGeneral {
      fixedPictureRateWithinCVS = try reader.flag("fixed_pic_rate_within_cvs_flag")
    }
    if fixedPictureRateWithinCVS {
      elementalDurationMinus1 = try reader.ue("elemental_duration_in_tc_minus1", in: 0...2047)
    } else {
      lowDelay = try reader.flag("low_delay_hrd_flag")
    }
    if !lowDelay { bufferCountMinus1 = try reader.ue("cpb_cnt_minus1", in: 0...31) }
    let kinds = (common.nalHRDParametersPresent ? 1 : 0) + (common.vclHRDParametersPresent ? 1 : 0)
    for _ in 0..<kinds * (bufferCountMinus1 + 1) {
      let rate = try reader.ue("bit_rate_value_minus1")
      let size = try reader.ue("cpb_size_value_minus1")
      var decodingUnit: [Int] = []
      if common.subPictureParameters != nil {
        decodingUnit.append(try reader.ue("cpb_size_du_value_minus1"))
        decodingUnit.append(try reader.ue("bit_rate_du_value_minus1"))
      }
      buffers.append(
        Buffer(
          bitRateValueMinus1: rate, cpbSizeValueMinus1: size, decodingUnit: decodingUnit,
          constantBitRate: try reader.flag("cbr_flag")))
    }
  }

  func write(to writer: inout BitWriter, _ common: Common) {
    writer.flag(fixedPictureRateGeneral)
    if !fixedPictureRateGeneral { writer.flag(fixedPictureRateWithinCVS) }
    if fixedPictureRateWithinCVS {
      writer.ue(elementalDurationMinus1)
    } else {
      writer.flag(lowDelay)
    }
    if !lowDelay { writer.ue(bufferCountMinus1) }
    for buffer in buffers {
      writer.ue(buffer.bitRateValueMinus1)
      writer.ue(buffer.cpbSizeValueMinus1)
      for value in buffer.decodingUnit { writer.ue(value) }
      writer.flag(buffer.constantBitRate)
    }
  }
}
