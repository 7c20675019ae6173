// SPDX-License-Identifier: MPL-2.0

extension MetadataItem {
  /// Reads the items of a `meta` box: QuickTime's `mdta` keys, or the `ilst` of MP4.
  static func items(in meta: BoxReader) throws(ISOBMFFError) -> [MetadataItem] {
    var meta = meta
    // Only QuickTime's own form is a plain box, which begins with its `hdlr`.
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
          // The two halves of the key of a freeform item (`----`).
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

  /// Reads an international text of QuickTime's user data (`©nam` and the like in `udta`): the
  /// first of its languages. Nil for other boxes.
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
