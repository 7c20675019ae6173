// SPDX-License-Identifier: MPL-2.0

/// A coded structure that cannot be read: which syntax element, where, and why.
public struct SyntaxError: Error, Hashable, Sendable {
  /// Why a syntax element could not be read.
  public enum Reason: Hashable, Sendable {
    /// The data ends inside the element: it is truncated.
    case endOfData
    /// The element has a value that the standard, or a limit of this reader, excludes: the data
    /// is damaged.
    case outOfRange(value: Int, allowed: ClosedRange<Int>)
    /// The element asks for a tool or a structure that this reader does not know.
    case unsupported(String)
    /// The structure needs something that is not there, such as a parameter set.
    case missing(String)
  }

  /// The syntax structure, as its standard names it: `seq_parameter_set_rbsp`.
  public var structure: String
  /// The syntax element, as its standard names it: `log2_max_pic_order_cnt_lsb_minus4`.
  public var element: String
  /// Position of the element in bits from the start of the data; of a NAL unit, emulation
  /// prevention bytes are not counted.
  public var bitOffset: Int
  /// What was wrong.
  public var reason: Reason

  /// An error at `bitOffset` in `structure`.
  public init(structure: String, element: String, bitOffset: Int, reason: Reason) {
    self.structure = structure
    self.element = element
    self.bitOffset = bitOffset
    self.reason = reason
  }
}

extension SyntaxError: CustomStringConvertible {
  public var description: String { "\(structure): \(problem) (at bit \(bitOffset))" }

  /// What was wrong with which element, without the place.
  public var problem: String {
    switch reason {
    case .endOfData: "\(element): the data ends here"
    case .outOfRange(let value, let allowed):
      "\(element): \(value) is outside \(allowed.lowerBound)...\(allowed.upperBound)"
    case .unsupported(let what): "\(element): \(what) is not supported"
    case .missing(let what): "\(element): needs \(what), which is missing"
    }
  }
}
