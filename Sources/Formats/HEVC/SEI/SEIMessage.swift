// SPDX-License-Identifier: MPL-2.0

public import StereoVideo

/// `sei_message()`, H.265 (7.3.5): one message of an SEI NAL unit.
public struct SEIMessage: Hashable, Sendable {
  /// `payloadType`
  public struct PayloadType: RawRepresentable, Hashable, Sendable {
    public let rawValue: Int

    /// The type with the number `rawValue`.
    public init(rawValue: Int) { self.rawValue = rawValue }

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

  /// A message.
  public init(type: PayloadType, payload: [UInt8]) {
    self.type = type
    self.payload = payload
  }

  /// The messages of the SEI NAL unit `nalUnit`.
  public static func messages(in nalUnit: RawSpan) throws(SyntaxError) -> [SEIMessage] {
    var reader = BitReader(RBSP(nalUnit).bytes, structure: "sei_message", position: 16)
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

  /// An SEI NAL unit of `messages`.
  public static func nalUnit(
    _ messages: [SEIMessage], header: NALUnitHeader = NALUnitHeader(type: .prefixSEI)
  ) -> [UInt8] {
    var writer = BitWriter()
    for message in messages {
      writeNumber(message.type.rawValue, to: &writer)
      writeNumber(message.payload.count, to: &writer)
      for byte in message.payload { writer.u(Int(byte), 8) }
    }
    writer.trailingBits()
    return writer.nalUnit(header)
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
