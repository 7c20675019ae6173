// SPDX-License-Identifier: MPL-2.0

/// What a file says of its own format: the `ftyp` box (ISO/IEC 14496-12 4.3).
public struct FileType: Equatable, Sendable {
  /// `qt  `, `mp42`, `isom` and so on.
  public var majorBrand: FourCC
  public var minorVersion: UInt32
  /// Every specification that the file says it follows.
  public var compatibleBrands: [FourCC]

  /// QuickTime rather than ISO base media.
  public var isQuickTime: Bool { majorBrand == "qt  " }

  init(content: [UInt8], at offset: UInt64) throws(ISOBMFFError) {
    var box = BoxReader(content, type: "ftyp", path: "ftyp", base: offset)
    majorBrand = try box.readFourCC("major_brand")
    minorVersion = try box.read("minor_version")
    compatibleBrands = []
    while box.remaining >= 4 {
      compatibleBrands.append(try box.readFourCC("compatible_brands"))
    }
  }
}
