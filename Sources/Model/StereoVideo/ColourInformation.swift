// SPDX-License-Identifier: MPL-2.0

/// What colours the samples of a picture stand for, as code points of ITU-T H.273, which H.265 and
/// the `colr` box of movies use: its `nclc` (QuickTime) or `nclx` form (ISO/IEC 14496-12 12.1.5).
public struct ColourInformation: Equatable, Sendable {
  /// H.273 8.1: 1 BT.709, 9 BT.2020, 12 P3 and so on; 2 is not known.
  public var primaries: UInt16
  /// H.273 8.2: 1 BT.709, 16 PQ, 18 HLG and so on; 2 is not known.
  public var transferCharacteristics: UInt16
  /// H.273 8.3: 1 BT.709, 9 BT.2020 and so on; 2 is not known.
  public var matrixCoefficients: UInt16
  /// Whether samples use the whole range of their bits; nil where that is not known, as a box of
  /// the form `nclc` cannot say it: the stream itself does then.
  public var fullRange: Bool?

  public init(
    primaries: UInt16, transferCharacteristics: UInt16, matrixCoefficients: UInt16,
    fullRange: Bool? = nil
  ) {
    self.primaries = primaries
    self.transferCharacteristics = transferCharacteristics
    self.matrixCoefficients = matrixCoefficients
    self.fullRange = fullRange
  }

  /// Colours of which nothing is known.
  public static let unknown = ColourInformation(
    primaries: 2, transferCharacteristics: 2, matrixCoefficients: 2)
}
