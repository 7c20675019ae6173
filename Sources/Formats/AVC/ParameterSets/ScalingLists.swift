// SPDX-License-Identifier: MPL-2.0

package import StereoVideo

/// `scaling_list()`, H.264 (7.3.2.1.1.1).
package enum ScalingList: Hashable, Sendable {
  /// The default list of table 7-3 or 7-4.
  case standard
  /// 16 or 64 values from 1 to 255, in the order in which they are sent.
  case explicit([UInt8])
}

/// The scaling lists of an SPS or PPS: six of 4x4 and, with the 8x8 transform, two of 8x8 or, in
/// 4:4:4, six.
package struct ScalingLists: Hashable, Sendable {
  /// The lists in the order of table 7-2; nil for a list that is not sent.
  package var lists: [ScalingList?]

  /// Reads `count` lists, each after its `scaling_list_present_flag`.
  package init(_ reader: inout BitReader, count: Int) throws(SyntaxError) {
    lists = []
    for index in 0..<count {
      let isPresent = try reader.flag("scaling_list_present_flag")
      lists.append(isPresent ? try Self.list(&reader, size: index < 6 ? 16 : 64) : nil)
    }
  }

  private static func list(
    _ reader: inout BitReader, size: Int
  ) throws(SyntaxError) -> ScalingList {
    var values: [UInt8] = []
    var last = 8
    var next = 8
    for index in 0..<size {
      if next != 0 {
        next = (last + (try reader.se("delta_scale", in: -128...127))) & 0xFF
        if index == 0, next == 0 { return .standard }
      }
      if next != 0 { last = next }
      values.append(UInt8(truncatingIfNeeded: last))
    }
    return .explicit(values)
  }

  /// Returns `count` lists without gaps, by fall-back rule A or B of table 7-2.
  ///
  /// - Parameter sequence: the lists of the SPS without gaps, for rule B; nil for rule A.
  package func resolved(count: Int, sequence: [ScalingList]? = nil) -> [ScalingList] {
    var result: [ScalingList] = []
    for index in 0..<count {
      if index < lists.count, let list = lists[index] {
        result.append(list)
      } else if [0, 3, 6, 7].contains(index) {
        result.append(sequence.flatMap { index < $0.count ? $0[index] : nil } ?? .standard)
      } else {
        result.append(result[index - (index < 6 ? 1 : 2)])
      }
    }
    return result
  }

  /// Writes `lists`, each after its `scaling_list_present_flag`.
  package static func write(_ lists: some Sequence<ScalingList>, to writer: inout BitWriter) {
    for list in lists {
      writer.flag(true)
      guard case .explicit(let values) = list else {
        writer.se(-8)
        continue
      }
      var last = 8
      for value in values {
        writer.se(Int(Int8(truncatingIfNeeded: Int(value) - last)))
        last = Int(value)
      }
    }
  }
}

extension BitWriter {
  /// Writes `se(v)`, a signed Exp-Golomb code, H.264 (9.1.1).
  mutating func se(_ value: Int) { ue(value > 0 ? value << 1 - 1 : -value << 1) }
}
