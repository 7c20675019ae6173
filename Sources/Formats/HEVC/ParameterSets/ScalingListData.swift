// SPDX-License-Identifier: MPL-2.0

internal import StereoVideo

/// `scaling_list_data()`, H.265 (7.3.4), as it is coded: what two layers are compared by.
public struct ScalingListData: Hashable, Sendable {
  /// The values of the syntax elements in the order in which they come.
  public private(set) var codedValues: [Int16] = []

  init(_ reader: inout BitReader) throws(SyntaxError) {
    for size in 0..<4 {
      for matrix in stride(from: 0, to: 6, by: size == 3 ? 3 : 1) {
        if try reader.flag("scaling_list_pred_mode_flag") {
          append(1)
          try readCoefficients(&reader, size)
        } else {
          append(0)
          let limit = size == 3 ? matrix / 3 : matrix
          append(try reader.ue("scaling_list_pred_matrix_id_delta", in: 0...limit))
        }
      }
    }
  }

  private mutating func readCoefficients(
    _ reader: inout BitReader, _ size: Int
  ) throws(SyntaxError) {
    if size > 1 {
      append(try reader.se("scaling_list_dc_coef_minus8", in: -7...247))
    }
    for _ in 0..<min(64, 1 << (4 + size << 1)) {
      append(try reader.se("scaling_list_delta_coef", in: -128...127))
    }
  }

  private mutating func append(_ value: Int) {
    codedValues.append(Int16(truncatingIfNeeded: value))
  }
}
