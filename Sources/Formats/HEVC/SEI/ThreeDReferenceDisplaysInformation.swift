// SPDX-License-Identifier: MPL-2.0

public import StereoVideo

/// `three_dimensional_reference_displays_info()`, H.265 (G.14.2.3): which view is for which eye,
/// and on what displays the pair looks right.
public struct ThreeDReferenceDisplaysInformation: Hashable, Sendable {
  /// One reference display.
  public struct Display: Hashable, Sendable {
    /// `left_view_id`: ViewId of the left eye's layer.
    public var leftViewID: Int
    /// `right_view_id`: ViewId of the right eye's layer.
    public var rightViewID: Int
    /// `exponent_ref_display_width` and `mantissa_ref_display_width`
    public var width: Measure
    /// `exponent_ref_viewing_distance` and `mantissa_ref_viewing_distance`; nil where not sent.
    public var viewingDistance: Measure?
    /// `num_sample_shift_plus512` less 512; nil where not sent.
    public var sampleShift: Int?

    /// A display that only says which view is for which eye, as AVFoundation writes it.
    public init(leftViewID: Int, rightViewID: Int) {
      self.leftViewID = leftViewID
      self.rightViewID = rightViewID
      width = Measure(exponent: 0, mantissa: 0)
    }
  }

  /// A length in the floating-point form of table G.1.
  public struct Measure: Hashable, Sendable {
    /// Exponent, 0 to 62.
    public var exponent: Int
    /// Mantissa, of a size that depends on exponent and precision.
    public var mantissa: Int
  }

  /// `prec_ref_display_width`, 0 to 31.
  public var displayWidthPrecision = 31
  /// `prec_ref_viewing_dist`, 0 to 31; nil where distances are not sent.
  public var viewingDistancePrecision: Int?
  /// The reference displays, 1 to 32.
  public var displays: [Display]

  /// The mapping of views to eyes, as AVFoundation writes it.
  public init(leftViewID: Int, rightViewID: Int) {
    displays = [Display(leftViewID: leftViewID, rightViewID: rightViewID)]
  }

  /// Reads the SEI payload `payload`.
  public init(payload: [UInt8]) throws(SyntaxError) {
    var reader = BitReader(payload, structure: "three_dimensional_reference_displays_info")
    displays = []
    displayWidthPrecision = try reader.ue("prec_ref_display_width", in: 0...31)
    if try reader.flag("ref_viewing_distance_flag") {
      viewingDistancePrecision = try reader.ue("prec_ref_viewing_dist", in: 0...31)
    }
    for _ in 0...(try reader.ue("num_ref_displays_minus1", in: 0...31)) {
      var display = Display(
        leftViewID: try reader.ue("left_view_id", in: 0...32767),
        rightViewID: try reader.ue("right_view_id", in: 0...32767))
      display.width = try Measure(&reader, precision: displayWidthPrecision)
      if let viewingDistancePrecision {
        display.viewingDistance = try Measure(&reader, precision: viewingDistancePrecision)
      }
      if try reader.flag("additional_shift_present_flag") {
        display.sampleShift = try reader.u(10, "num_sample_shift_plus512", in: 0...1023) - 512
      }
      displays.append(display)
    }
  }

  /// The SEI payload.
  public var payload: [UInt8] {
    var writer = BitWriter()
    writer.ue(displayWidthPrecision)
    writer.flag(viewingDistancePrecision != nil)
    if let viewingDistancePrecision { writer.ue(viewingDistancePrecision) }
    writer.ue(displays.count - 1)
    for display in displays {
      writer.ue(display.leftViewID)
      writer.ue(display.rightViewID)
      display.width.write(to: &writer, precision: displayWidthPrecision)
      if let viewingDistancePrecision {
        (display.viewingDistance ?? Measure(exponent: 0, mantissa: 0)).write(
          to: &writer, precision: viewingDistancePrecision)
      }
      writer.flag(display.sampleShift != nil)
      if let shift = display.sampleShift { writer.u(shift + 512, 10) }
    }
    writer.flag(false)
    if writer.bitCount & 7 != 0 { writer.trailingBits() }
    return writer.bytes
  }

  /// The prefix SEI NAL unit with this message alone.
  public var nalUnit: [UInt8] {
    SEIMessage.nalUnit([SEIMessage(type: .threeDReferenceDisplays, payload: payload)])
  }
}

extension ThreeDReferenceDisplaysInformation.Measure {
  init(_ reader: inout BitReader, precision: Int) throws(SyntaxError) {
    exponent = try reader.u(6, "exponent_ref_display_width", in: 0...62)
    mantissa = 0
    // At most 62 bits, more than one read takes.
    var bits = Self.mantissaBits(exponent, precision)
    while bits > 0 {
      let count = min(bits, 32)
      mantissa = mantissa << count | (try reader.u(count, "mantissa_ref_display_width"))
      bits -= count
    }
  }

  func write(to writer: inout BitWriter, precision: Int) {
    writer.u(exponent, 6)
    var bits = Self.mantissaBits(exponent, precision)
    while bits > 0 {
      let count = min(bits, 32)
      writer.u(mantissa >> (bits - count), count)
      bits -= count
    }
  }

  private static func mantissaBits(_ exponent: Int, _ precision: Int) -> Int {
    exponent == 0 ? max(0, precision - 30) : max(0, exponent + precision - 31)
  }
}
