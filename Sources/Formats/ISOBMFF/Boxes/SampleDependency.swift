// SPDX-License-Identifier: MPL-2.0

/// What a sample needs, and who needs it: one byte of `sdtp` (ISO/IEC 14496-12 8.6.4).
public struct SampleDependency: RawRepresentable, Hashable, Sendable {
  /// is_leading, sample_depends_on, sample_is_depended_on and sample_has_redundancy, two bits
  /// each from the top; 0 is not known.
  public var rawValue: UInt8

  public init(rawValue: UInt8 = 0) {
    self.rawValue = rawValue
  }

  /// Needs no other sample (an intra picture): 0x20.
  public static let independent = SampleDependency(rawValue: 0x20)
  /// Needs others: 0x10.
  public static let dependent = SampleDependency(rawValue: 0x10)
  /// Needs others, and none needs it: 0x18.
  public static let disposable = SampleDependency(rawValue: 0x18)

  /// Whether other samples need this one; nil is not known.
  public var isDependedOn: Bool? {
    switch rawValue >> 2 & 3 {
    case 1: true
    case 2: false
    default: nil
    }
  }
}
