/// A coded structure that cannot be read: which syntax element, where, and why.
public struct SyntaxError: Error, Hashable, Sendable {
  /// Why a syntax element could not be read.
  public enum Reason: Hashable, Sendable {
    /// The data ends inside the element.
    case endOfData
    /// The element has a value that the standard, or a limit of this reader, excludes.
    case outOfRange(value: Int, allowed: ClosedRange<Int>)
    /// The element asks for a tool or a structure that this reader does not know.
    case unsupported(String)
    /// The element refers to a parameter set that has not been received.
    case missing(String)
  }

  /// The syntax structure, as H.265 names it: `seq_parameter_set_rbsp`.
  public var structure: String
  /// The syntax element, as H.265 names it: `log2_max_pic_order_cnt_lsb_minus4`.
  public var element: String
  /// Position of the element in bits from the start of the NAL unit, emulation prevention bytes
  /// not counted.
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
  public var description: String {
    let place = "\(structure): \(element) at bit \(bitOffset)"
    switch reason {
    case .endOfData:
      return "\(place): the data ends here; the NAL unit is truncated"
    case .outOfRange(let value, let allowed):
      return "\(place): \(value) is outside \(allowed.lowerBound)...\(allowed.upperBound)"
    case .unsupported(let what):
      return "\(place): \(what) is not supported"
    case .missing(let what):
      return "\(place): refers to \(what), which has not been received"
    }
  }
}
