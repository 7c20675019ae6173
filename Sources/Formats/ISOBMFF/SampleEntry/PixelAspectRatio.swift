// SPDX-License-Identifier: MPL-2.0

/// The shape of a pixel: the `pasp` box (ISO/IEC 14496-12 12.1.4).
public struct PixelAspectRatio: Equatable, Sendable {
  /// A pixel is `horizontalSpacing` wide where it is `verticalSpacing` high.
  public var horizontalSpacing: UInt32
  public var verticalSpacing: UInt32

  public init(horizontalSpacing: UInt32, verticalSpacing: UInt32) {
    self.horizontalSpacing = horizontalSpacing
    self.verticalSpacing = verticalSpacing
  }

  func write(to writer: inout BoxWriter) {
    writer.box("pasp") {
      $0.write(horizontalSpacing)
      $0.write(verticalSpacing)
    }
  }
}
