/// What colours the samples of a picture stand for, as code points of ITU-T H.273: the `nclc`
/// (QuickTime) or `nclx` (ISO/IEC 14496-12 12.1.5) form of a `colr` box.
public struct ColourInformation: Equatable, Sendable {
  /// H.273 8.1: 1 BT.709, 9 BT.2020, 12 P3 and so on; 2 is not known.
  public var primaries: UInt16
  /// H.273 8.2: 1 BT.709, 16 PQ, 18 HLG and so on; 2 is not known.
  public var transferCharacteristics: UInt16
  /// H.273 8.3: 1 BT.709, 9 BT.2020 and so on; 2 is not known.
  public var matrixCoefficients: UInt16
  /// Full range; `nclc` cannot say it and means video range.
  public var fullRange: Bool

  public init(
    primaries: UInt16, transferCharacteristics: UInt16, matrixCoefficients: UInt16,
    fullRange: Bool = false
  ) {
    self.primaries = primaries
    self.transferCharacteristics = transferCharacteristics
    self.matrixCoefficients = matrixCoefficients
    self.fullRange = fullRange
  }

  func write(to writer: inout BoxWriter, container: MovieContainer) {
    writer.box("colr") {
      $0.write(container == .quickTime ? "nclc" as FourCC : "nclx")
      $0.write(primaries)
      $0.write(transferCharacteristics)
      $0.write(matrixCoefficients)
      if container == .mp4 {
        $0.write(fullRange ? 0x80 : 0 as UInt8)
      }
    }
  }
}
