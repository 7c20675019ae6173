// SPDX-License-Identifier: MPL-2.0

/// A metadata entry of a movie or a track, such as its title.
public struct MetadataItem: Equatable, Sendable {
  /// The namespace of the key: `mdta` for QuickTime's reverse-domain keys, `mdir` for the
  /// four-character keys of `ilst` (`©nam`), `udta` for QuickTime's user data.
  public var keySpace: FourCC
  /// The key in its key space, such as `com.apple.quicktime.title` or `©nam`.
  public var key: String
  /// The value with its type.
  public var value: MetadataValue

  /// Creates an item, by default with a QuickTime key.
  public init(keySpace: FourCC = "mdta", key: String, value: MetadataValue) {
    self.keySpace = keySpace
    self.key = key
    self.value = value
  }
}

/// The value of a metadata item and its type (QuickTime File Format, "Well-known types").
public struct MetadataValue: Equatable, Sendable {
  /// 1 UTF-8, 13 JPEG, 14 PNG, 21 signed integer, 22 unsigned integer, 23 and 24 floating point.
  public var typeIndicator: UInt32
  /// The raw value; numbers are big-endian.
  public var bytes: [UInt8]

  /// Creates a value of a well-known type.
  public init(typeIndicator: UInt32, bytes: [UInt8]) {
    self.typeIndicator = typeIndicator
    self.bytes = bytes
  }

  /// Returns a UTF-8 text value.
  public static func utf8(_ string: String) -> MetadataValue {
    MetadataValue(typeIndicator: 1, bytes: Array(string.utf8))
  }

  /// Returns a 32-bit signed integer value.
  public static func integer(_ value: Int32) -> MetadataValue {
    let bits = UInt32(bitPattern: value)
    let bytes = [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: bits >> UInt32($0)) }
    return MetadataValue(typeIndicator: 21, bytes: bytes)
  }

  /// The text of a UTF-8 value; nil for other types.
  public var string: String? {
    typeIndicator == 1 ? String(decoding: bytes, as: UTF8.self) : nil
  }

  /// The number of an integer value that fits into a signed 64-bit integer; nil for other values.
  public var integer: Int64? {
    guard [21, 22, 65, 66, 67, 74, 75, 76, 77, 78].contains(typeIndicator),
      let first = bytes.first, bytes.count <= 8
    else { return nil }
    let isSigned = [21, 65, 66, 67, 74].contains(typeIndicator)
    guard isSigned || bytes.count < 8 || first < 0x80 else { return nil }
    var value: Int64 = isSigned && first >= 0x80 ? -1 : 0
    for byte in bytes {
      value = value << 8 | Int64(byte)
    }
    return value
  }
}

extension MetadataItem {
  /// Parses a `meta` box: QuickTime's `mdta` keys, or the `ilst` of MP4.
  static func items(in meta: BoxReader) throws(ISOBMFFError) -> [MetadataItem] {
    var meta = meta
    // Only QuickTime's own variant is a plain box; it begins with `hdlr`.
    var look = meta
    let isPlain = try look.read("header", as: UInt64.self) & 0xFFFF_FFFF == 0x6864_6C72
    try meta.skip(isPlain ? 0 : 4, "version and flags")
    var keys: [(space: FourCC, key: String)] = []
    var items: [MetadataItem] = []
    while var child = try meta.nextBox() {
      switch child.type {
      case "keys": keys = try Self.keys(&child)
      case "ilst": items += try Self.list(&child, keys: keys)
      default: break
      }
    }
    return items
  }

  private static func keys(
    _ box: inout BoxReader
  ) throws(ISOBMFFError) -> [(space: FourCC, key: String)] {
    _ = try box.readVersion()
    try box.skip(4, "entry_count")
    var keys: [(space: FourCC, key: String)] = []
    while var child = try box.nextBox() {
      keys.append((child.type, String(decoding: child.readRest(), as: UTF8.self)))
    }
    return keys
  }

  private static func list(
    _ box: inout BoxReader, keys: [(space: FourCC, key: String)]
  ) throws(ISOBMFFError) -> [MetadataItem] {
    var items: [MetadataItem] = []
    while var item = try box.nextBox() {
      var space: FourCC = "mdir"
      var key = item.type.description
      if let index = Int(exactly: item.type.rawValue), index >= 1, index <= keys.count {
        (space, key) = keys[index - 1]
      }
      while var child = try item.nextBox() {
        switch child.type {
        case "mean", "name":
          // The two parts of the key of a freeform item (`----`).
          try child.skip(4, "version and flags")
          key += ":" + String(decoding: child.readRest(), as: UTF8.self)
        case "data":
          let type: UInt32 = try child.read("type indicator")
          try child.skip(4, "locale")
          items.append(
            MetadataItem(
              keySpace: space, key: key,
              value: MetadataValue(typeIndicator: type & 0xFF_FFFF, bytes: child.readRest())))
        default:
          break
        }
      }
    }
    return items
  }

  /// Parses an international text of QuickTime's user data (`©nam` and the like in `udta`), in its
  /// first language. Nil for other boxes.
  static func userText(_ box: BoxReader) -> MetadataItem? {
    guard box.type.rawValue >> 24 == 0xA9 else { return nil }
    var box = box
    guard let length = try? box.read("text size", as: UInt16.self),
      (try? box.skip(2, "language")) != nil,
      let text = try? box.readBytes(Int(length), "text")
    else { return nil }
    return MetadataItem(
      keySpace: "udta", key: box.type.description,
      value: MetadataValue(typeIndicator: 1, bytes: text))
  }
}
