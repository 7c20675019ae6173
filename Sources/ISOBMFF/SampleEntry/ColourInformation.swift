// SPDX-License-Identifier: LGPL-2.1-or-later

/// What colours the samples of a picture stand for, as code points of ITU-T H.273: the `nclc`
/// (QuickTime) or `nclx` (ISO/IEC 14496-12 12.1.5) form of a `colr` box.
public struct ColourInformation: Equatable, Sendable {
  /// H.273 8.1: 1 BT.709, 9 BT.2020, 12 P3 and so on; 2 is not known.
  public var primaries: UInt16
  /// H.273 8.2: 1 BT.709, 16 PQ, 18 HLG and so on; 2 is not known.
  public var transferCharacteristics: UInt16
  /// H.273 8.3: 1 BT.709, 9 BT.2020 and so on; 2 is not known.
  public var matrixCoefficients: UInt16
  /// Whether samples use the whole range of their bits; nil where the box cannot say it (`nclc`):
  /// the stream itself does then.
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

  /// QuickTime's own form has no place for the range: full range takes the other one there, too.
  func write(to writer: inout BoxWriter, container: MovieContainer) {
    let statesRange = container == .mp4 || fullRange == true
    writer.box("colr") {
      $0.write(statesRange ? "nclx" as FourCC : "nclc")
      $0.write(primaries)
      $0.write(transferCharacteristics)
      $0.write(matrixCoefficients)
      if statesRange {
        $0.write(fullRange == true ? 0x80 : 0 as UInt8)
      }
    }
  }
}
