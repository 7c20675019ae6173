// SPDX-License-Identifier: MPL-2.0

internal import StereoVideo

/// An array of `hvcC` or `lhvC`: NAL units of one type (ISO/IEC 14496-15 8.3.3.1.2).
public struct ParameterSetArray: Hashable, Sendable {
  /// `array_completeness`: the samples have no NAL units of this type.
  public var isComplete: Bool
  /// `NAL_unit_type`
  public var type: NALUnitType
  /// The NAL units.
  public var nalUnits: [[UInt8]]

  /// An array of these values.
  public init(isComplete: Bool, type: NALUnitType, nalUnits: [[UInt8]]) {
    self.isComplete = isComplete
    self.type = type
    self.nalUnits = nalUnits
  }

  /// Reads `numOfArrays` and the arrays.
  static func readAll(_ reader: inout BitReader) throws(SyntaxError) -> [ParameterSetArray] {
    var arrays: [ParameterSetArray] = []
    for _ in 0..<(try reader.u(8, "numOfArrays")) {
      let isComplete = try reader.flag("array_completeness")
      _ = try reader.u(1, "reserved")
      let type = NALUnitType(rawValue: UInt8(try reader.u(6, "NAL_unit_type")))
      var units: [[UInt8]] = []
      for _ in 0..<(try reader.u(16, "numNalus")) {
        units.append(try reader.bytes(reader.u(16, "nalUnitLength"), "nalUnit"))
      }
      arrays.append(ParameterSetArray(isComplete: isComplete, type: type, nalUnits: units))
    }
    return arrays
  }

  /// Writes `numOfArrays` and `arrays`.
  static func write(_ arrays: [ParameterSetArray], to writer: inout BitWriter) {
    writer.u(arrays.count, 8)
    for array in arrays {
      writer.flag(array.isComplete)
      writer.flag(false)
      writer.u(Int(array.type.rawValue), 6)
      writer.u(array.nalUnits.count, 16)
      for unit in array.nalUnits {
        writer.u(unit.count, 16)
        writer.write(unit)
      }
    }
  }

  /// A complete array for each kind that there is.
  static func complete(_ kinds: [(NALUnitType, [[UInt8]])]) -> [ParameterSetArray] {
    kinds.filter { !$0.1.isEmpty }.map {
      ParameterSetArray(isComplete: true, type: $0.0, nalUnits: $0.1)
    }
  }
}
