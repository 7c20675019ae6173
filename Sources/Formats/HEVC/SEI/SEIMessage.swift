// SPDX-License-Identifier: MPL-2.0

public import StereoVideo

/// `sei_message()`, H.265 (7.3.5): one message of an SEI NAL unit.
public struct SEIMessage: Hashable, Sendable {
  /// `payloadType`
  public struct PayloadType: RawRepresentable, Hashable, Sendable {
    /// `payloadType`.
    public let rawValue: Int

    /// Creates a type from its number.
    public init(rawValue: Int) { self.rawValue = rawValue }

    /// user_data_registered_itu_t_t35
    public static let registeredUserData = PayloadType(rawValue: 4)
    /// active_parameter_sets
    public static let activeParameterSets = PayloadType(rawValue: 129)
    /// mastering_display_colour_volume
    public static let masteringDisplayColourVolume = PayloadType(rawValue: 137)
    /// content_light_level_info
    public static let contentLightLevel = PayloadType(rawValue: 144)
    /// three_dimensional_reference_displays_info
    public static let threeDReferenceDisplays = PayloadType(rawValue: 176)
  }

  /// `payloadType`
  public var type: PayloadType
  /// `sei_payload()`, without emulation prevention.
  public var payload: [UInt8]

  /// Creates a message from its type and payload.
  public init(type: PayloadType, payload: [UInt8]) {
    self.type = type
    self.payload = payload
  }

  /// Creates a message with closed captions: ATSC A/53 Part 4, 6.2.3, `ATSC1_data`.
  ///
  /// - Parameter captions: `cc_data_pkt` of CTA-708, three bytes each; at most 31 are written.
  public init(captions: [UInt8]) {
    let count = min(captions.count / 3, 31)
    self.init(
      type: .registeredUserData,
      payload: [
        // itu_t_t35_country_code, itu_t_t35_provider_code, user_identifier, user_data_type_code
        0xB5, 0x00, 0x31, 0x47, 0x41, 0x39, 0x34, 0x03,
        // process_cc_data_flag and cc_count, em_data
        0x40 | UInt8(count), 0xFF,
      ] + captions.prefix(count * 3) + [0xFF])
  }

  /// Reads the messages of an SEI NAL unit, including its header.
  public static func messages(in nalUnit: RawSpan) throws(SyntaxError) -> [SEIMessage] {
    try messages(in: nalUnit, headerSize: 2)
  }

  /// Reads the messages of an SEI NAL unit whose header has `headerSize` bytes: 1 in H.264.
  package static func messages(
    in nalUnit: RawSpan, headerSize: Int
  ) throws(SyntaxError) -> [SEIMessage] {
    var reader = BitReader(
      RBSP(nalUnit).bytes, structure: "sei_message", position: headerSize << 3)
    var messages: [SEIMessage] = []
    while reader.moreRBSPData {
      let type = try readNumber(&reader, "payload_type_byte")
      let size = try readNumber(&reader, "payload_size_byte")
      let start = reader.position >> 3
      try reader.skip(size << 3, "sei_payload")
      messages.append(
        SEIMessage(
          type: PayloadType(rawValue: type), payload: Array(reader.bytes[start..<start + size])))
    }
    return messages
  }

  /// Returns an SEI NAL unit with `messages`.
  public static func nalUnit(
    _ messages: [SEIMessage], header: NALUnitHeader = NALUnitHeader(type: .prefixSEI)
  ) -> [UInt8] {
    RBSP.nalUnit(header, payload: payload(messages))
  }

  /// Returns `sei_rbsp()` with `messages`.
  package static func payload(_ messages: [SEIMessage]) -> [UInt8] {
    var writer = BitWriter()
    for message in messages {
      writeNumber(message.type.rawValue, to: &writer)
      writeNumber(message.payload.count, to: &writer)
      for byte in message.payload { writer.u(Int(byte), 8) }
    }
    writer.trailingBits()
    return writer.bytes
  }

  private static func readNumber(
    _ reader: inout BitReader, _ element: StaticString
  ) throws(SyntaxError) -> Int {
    var number = 0
    while true {
      let byte = try reader.u(8, element)
      number += byte
      if byte != 0xFF { return number }
    }
  }

  private static func writeNumber(_ number: Int, to writer: inout BitWriter) {
    var rest = number
    while rest >= 255 {
      writer.u(255, 8)
      rest -= 255
    }
    writer.u(rest, 8)
  }
}

extension MasteringDisplayColourVolume {
  /// Reads the payload of a `mastering_display_colour_volume()` message, H.265 (D.2.28).
  public init(payload: [UInt8]) throws(SyntaxError) {
    var reader = BitReader(payload, structure: "mastering_display_colour_volume")
    self.init(
      green: try Chromaticity(&reader, "display_primaries"),
      blue: try Chromaticity(&reader, "display_primaries"),
      red: try Chromaticity(&reader, "display_primaries"),
      whitePoint: try Chromaticity(&reader, "white_point"),
      maximumLuminance: UInt32(
        truncatingIfNeeded: try reader.u(32, "max_display_mastering_luminance")),
      minimumLuminance: UInt32(
        truncatingIfNeeded: try reader.u(32, "min_display_mastering_luminance")))
  }
}

extension MasteringDisplayColourVolume.Chromaticity {
  fileprivate init(_ reader: inout BitReader, _ element: StaticString) throws(SyntaxError) {
    self.init(
      x: UInt16(truncatingIfNeeded: try reader.u(16, element)),
      y: UInt16(truncatingIfNeeded: try reader.u(16, element)))
  }
}

extension ContentLightLevel {
  /// Reads the payload of a `content_light_level_info()` message, H.265 (D.2.35).
  public init(payload: [UInt8]) throws(SyntaxError) {
    var reader = BitReader(payload, structure: "content_light_level_info")
    self.init(
      maximum: UInt16(truncatingIfNeeded: try reader.u(16, "max_content_light_level")),
      maximumFrameAverage: UInt16(
        truncatingIfNeeded: try reader.u(16, "max_pic_average_light_level")))
  }
}

/// `three_dimensional_reference_displays_info()`, H.265 (G.14.2.3): the view for each eye, and the
/// displays the stereo pair was made for.
public struct ThreeDReferenceDisplaysInformation: Hashable, Sendable {
  /// One reference display.
  public struct Display: Hashable, Sendable {
    /// `left_view_id`: ViewId of the left eye's layer.
    public var leftViewID: Int
    /// `right_view_id`: ViewId of the right eye's layer.
    public var rightViewID: Int
    /// `exponent_ref_display_width` and `mantissa_ref_display_width`
    public var width: Measure
    /// `exponent_ref_viewing_distance` and `mantissa_ref_viewing_distance`; nil if not sent.
    public var viewingDistance: Measure?
    /// `num_sample_shift_plus512` minus 512; nil if not sent.
    public var sampleShift: Int?

    /// Creates a display that only maps views to eyes, as AVFoundation writes it.
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
    /// Mantissa; its number of bits depends on the exponent and the precision.
    public var mantissa: Int
  }

  /// `prec_ref_display_width`, 0 to 31.
  public var displayWidthPrecision = 31
  /// `prec_ref_viewing_dist`, 0 to 31; nil if viewing distances are not sent.
  public var viewingDistancePrecision: Int?
  /// The reference displays, 1 to 32.
  public var displays: [Display]

  /// Creates the mapping of views to eyes, as AVFoundation writes it.
  public init(leftViewID: Int, rightViewID: Int) {
    displays = [Display(leftViewID: leftViewID, rightViewID: rightViewID)]
  }

  /// Reads the message from its SEI payload.
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

  /// A prefix SEI NAL unit with only this message.
  public var nalUnit: [UInt8] {
    SEIMessage.nalUnit([SEIMessage(type: .threeDReferenceDisplays, payload: payload)])
  }
}

extension ThreeDReferenceDisplaysInformation.Measure {
  init(_ reader: inout BitReader, precision: Int) throws(SyntaxError) {
    exponent = try reader.u(6, "exponent_ref_display_width", in: 0...62)
    mantissa = 0
    // At most 62 bits, more than a single read returns.
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
