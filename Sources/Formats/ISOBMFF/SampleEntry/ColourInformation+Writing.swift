// SPDX-License-Identifier: MPL-2.0

internal import StereoVideo

extension ColourInformation {
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
