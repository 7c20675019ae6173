// SPDX-License-Identifier: MPL-2.0

/// How fields make up a frame: the `fiel` box (QuickTime File Format, "Field handling").
public struct FieldInformation: Equatable, Sendable {
  /// 1 for progressive, 2 for interlaced.
  public var fieldCount: UInt8
  /// The order of two fields (1, 6, 9 or 14); 0 for progressive or not known.
  public var detail: UInt8

  public init(fieldCount: UInt8, detail: UInt8) {
    self.fieldCount = fieldCount
    self.detail = detail
  }

  /// One field, which is the frame.
  public static let progressive = FieldInformation(fieldCount: 1, detail: 0)

  func write(to writer: inout BoxWriter) {
    writer.box("fiel") {
      $0.write(fieldCount)
      $0.write(detail)
    }
  }
}
