// SPDX-License-Identifier: MPL-2.0

extension MovieMetadata {
  /// The four-character keys of `ilst` that stand for QuickTime's keys in MP4.
  static let itemListKeys: [String: FourCC] = [
    "com.apple.quicktime.title": "©nam",
    "com.apple.quicktime.artist": "©ART",
    "com.apple.quicktime.album": "©alb",
    "com.apple.quicktime.genre": "©gen",
    "com.apple.quicktime.comment": "©cmt",
    "com.apple.quicktime.creationdate": "©day",
    "com.apple.quicktime.software": "©too",
    "com.apple.quicktime.copyright": "cprt",
    "com.apple.quicktime.description": "desc",
  ]

  /// `meta` with QuickTime's keys, and before it `udta` with the `ilst` keys, those of MP4, in its
  /// `meta`.
  func write(to writer: inout BoxWriter, container: MovieContainer) {
    var listed: [(type: FourCC, value: MetadataValue)] = []
    var keyed: [(key: String, value: MetadataValue)] = []
    for item in items {
      if item.keySpace == "mdir", let type = FourCC(exactly: item.key) {
        listed.append((type, item.value))
      } else if container == .mp4, let type = Self.itemListKeys[item.key] {
        listed.append((type, item.value))
      } else if item.keySpace == "mdta" {
        keyed.append((item.key, item.value))
      }
    }
    writeUserData(listed, to: &writer)
    writeKeyed(keyed, to: &writer, container: container)
  }

  private func writeUserData(
    _ items: [(type: FourCC, value: MetadataValue)], to writer: inout BoxWriter
  ) {
    guard !items.isEmpty || !userData.isEmpty else { return }
    writer.box("udta") { udta in
      for box in userData { udta.box(box) }
      guard !items.isEmpty else { return }
      udta.fullBox("meta") {
        writeHandler("mdir", manufacturer: "appl", to: &$0)
        $0.box("ilst") { ilst in
          for item in items {
            ilst.box(item.type) { item.value.write(to: &$0) }
          }
        }
      }
    }
  }

  private func writeKeyed(
    _ items: [(key: String, value: MetadataValue)], to writer: inout BoxWriter,
    container: MovieContainer
  ) {
    guard !items.isEmpty else { return }
    writer.box("meta") {
      if container == .mp4 {
        // Version and flags: only QuickTime's own `meta` is a plain box.
        $0.write(UInt32(0))
      }
      writeHandler("mdta", manufacturer: FourCC(rawValue: 0), to: &$0)
      $0.fullBox("keys") { keys in
        keys.write(UInt32(clamping: items.count))
        for item in items {
          keys.box("mdta") { $0.write(Array(item.key.utf8)) }
        }
      }
      $0.box("ilst") { ilst in
        for (index, item) in items.enumerated() {
          let type = FourCC(rawValue: UInt32(clamping: index + 1))
          ilst.box(type) { item.value.write(to: &$0) }
        }
      }
    }
  }

  private func writeHandler(
    _ type: FourCC, manufacturer: FourCC, to writer: inout BoxWriter
  ) {
    writer.fullBox("hdlr") {
      $0.write(UInt32(0))
      $0.write(type)
      $0.write(manufacturer)
      $0.write(zeros: 9)
    }
  }
}

extension MetadataValue {
  func write(to writer: inout BoxWriter) {
    writer.box("data") {
      $0.write(typeIndicator)
      $0.write(UInt32(0))
      $0.write(bytes)
    }
  }
}
