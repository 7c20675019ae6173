// SPDX-License-Identifier: MPL-2.0

/// The configuration of ALAC alone, and in the box `alac` that it has within a sample entry, which is
/// what decoders want.
public enum ALACBox {
  /// The box around a configuration (ALACSpecificConfig).
  public static func box(magicCookie cookie: [UInt8]) -> [UInt8] {
    OpaqueBox("alac", payload: [0, 0, 0, 0] + cookie).bytes
  }

  /// The configuration, of which there may be the box around it; nil where it is too short.
  public static func magicCookie(_ data: [UInt8]) -> [UInt8]? {
    let isBox = data.count >= 12 && data[4..<8].elementsEqual("alac".utf8)
    let cookie = isBox ? Array(data[12...]) : data
    return cookie.count >= 24 ? cookie : nil
  }
}
