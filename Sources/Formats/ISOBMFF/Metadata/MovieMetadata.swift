// SPDX-License-Identifier: MPL-2.0

/// Movie-level metadata to write.
public struct MovieMetadata: Equatable, Sendable {
  /// Seconds since 1970-01-01 00:00 UTC; nil to omit the date.
  public var creationTime: Int64?
  /// Items with QuickTime's keys (`com.apple.quicktime.title`). In MP4, items that have a
  /// four-character key in `ilst` are written under that key.
  public var items: [MetadataItem]
  /// Additional boxes for `udta`.
  public var userData: [OpaqueBox]
  /// Additional boxes for the top level of the file, after the index.
  public var fileLevelBoxes: [OpaqueBox] = []

  /// Creates metadata; empty by default.
  public init(
    creationTime: Int64? = nil, items: [MetadataItem] = [], userData: [OpaqueBox] = []
  ) {
    self.creationTime = creationTime
    self.items = items
    self.userData = userData
  }

  /// The keys that mark a spatial movie for other programs: format version 1.0, and no warnings
  /// about the recording conditions.
  public static let spatialItems = [
    MetadataItem(key: "com.apple.quicktime.spatial.format-version", value: .utf8("1.0")),
    MetadataItem(key: "com.apple.quicktime.spatial.aggressors-seen", value: .integer(0)),
  ]

  /// Seconds from the epoch of the files, 1904-01-01, to the Unix epoch.
  static let secondsTo1970: Int64 = 2_082_844_800

  /// `creationTime` in seconds since 1904-01-01, as stored in files; 0 if there is none.
  var creationTimeSince1904: UInt64 {
    guard let creationTime else { return 0 }
    let (seconds, overflow) = creationTime.addingReportingOverflow(Self.secondsTo1970)
    return overflow ? 0 : UInt64(clamping: seconds)
  }
}

extension MovieMetadata {
  private static let domain = "com.apple.quicktime."

  /// The four-character keys of `ilst` that replace QuickTime's keys in MP4.
  private static let itemListKeys: [String: FourCC] = [
    "com.apple.quicktime.title": "©nam",
    "com.apple.quicktime.artist": "©ART",
    "com.apple.quicktime.album": "©alb",
    "com.apple.quicktime.genre": "©gen",
    "com.apple.quicktime.comment": "©cmt",
    "com.apple.quicktime.creationdate": "©day",
    "com.apple.quicktime.date": "©day",
    "com.apple.quicktime.software": "©too",
    "com.apple.quicktime.copyright": "cprt",
    "com.apple.quicktime.description": "desc",
    "com.apple.quicktime.keywords": "keyw",
  ]

  /// Writes `udta`, with MP4's `ilst` keys in its `meta`, and then `meta` with QuickTime's keys.
  func write(to writer: inout BoxWriter, container: MovieContainer) {
    var listed: [(name: ListName, value: MetadataValue)] = []
    var keyed: [(key: String, value: MetadataValue)] = []
    // `creationdate` and `date` have the same key in MP4.
    var types: Set<FourCC> = []
    for item in items {
      // FFmpeg writes the same keys without a domain.
      let key = item.key.contains(".") ? item.key : Self.domain + item.key
      if item.keySpace == "mdir", let name = ListName(item.key) {
        listed.append((name, item.value))
      } else if container == .mp4, let type = Self.itemListKeys[key] {
        if types.insert(type).inserted { listed.append((.type(type), item.value)) }
      } else if item.keySpace == "mdta" {
        keyed.append((item.key, item.value))
      }
    }
    writeUserData(listed, container: container, to: &writer)
    writeKeyed(keyed, to: &writer, container: container)
  }

  private func writeUserData(
    _ items: [(name: ListName, value: MetadataValue)], container: MovieContainer,
    to writer: inout BoxWriter
  ) {
    let boxes = userData + (container == .mp4 ? textsOfMP4 : [])
    guard !items.isEmpty || !boxes.isEmpty else { return }
    writer.box("udta") { udta in
      for box in boxes { udta.box(box) }
      guard !items.isEmpty else { return }
      udta.fullBox("meta") {
        writeHandler("mdir", manufacturer: "appl", to: &$0)
        $0.box("ilst") { ilst in
          for item in items {
            ilst.box(item.name.type) {
              item.name.write(to: &$0)
              item.value.write(to: &$0)
            }
          }
        }
      }
    }
  }

  /// The place and the camera in the form that readers of MP4 know, those of Android among them:
  /// international text of user data, unless there is some already.
  private var textsOfMP4: [OpaqueBox] {
    let names: [(key: String, bare: String, type: FourCC)] = [
      ("location.ISO6709", "location", "©xyz"), ("make", "make", "©mak"),
      ("model", "model", "©mod"),
    ]
    let language = LanguageCode.packed("und")
    return names.compactMap { name in
      guard !userData.contains(where: { $0.type == name.type }),
        let text = items.first(where: {
          $0.key == Self.domain + name.key || $0.key == name.bare
        })?.value.string, text.utf8.count <= 255
      else { return nil }
      return OpaqueBox(
        name.type,
        payload: [
          0, UInt8(text.utf8.count), UInt8(language >> 8), UInt8(truncatingIfNeeded: language),
        ] + Array(text.utf8))
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

/// The name of an item of iTunes' list (`ilst` in `udta`).
private enum ListName {
  case type(FourCC)
  /// A freeform item (`----`): a domain such as `com.apple.iTunes` and a name in it.
  case freeform(domain: String, name: String)

  /// Parses the key of a ``MetadataItem``: `©nam`, or `----:com.apple.iTunes:MEDIA`. Nil for any
  /// other text.
  init?(_ key: String) {
    if let type = FourCC(exactly: key) {
      self = .type(type)
      return
    }
    let parts = key.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
    guard parts.count == 3, parts[0] == "----" else { return nil }
    self = .freeform(domain: String(parts[1]), name: String(parts[2]))
  }

  /// The type of the item's box.
  var type: FourCC { if case .type(let type) = self { type } else { "----" } }

  /// Writes the parts of a freeform name.
  func write(to writer: inout BoxWriter) {
    guard case .freeform(let domain, let name) = self else { return }
    for (type, text) in [("mean", domain), ("name", name)] as [(FourCC, String)] {
      writer.fullBox(type) { $0.write(Array(text.utf8)) }
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

/// The content of a `udta` box.
struct UserData {
  private(set) var boxes: [OpaqueBox] = []
  private(set) var items: [MetadataItem] = []

  init(_ box: BoxReader, issues: inout IssueLog) {
    var box = box
    while let child = issues.optional({ () throws(ISOBMFFError) in try box.nextBox() }) ?? nil {
      boxes.append(child.opaque)
      if child.type == "meta" {
        issues.optional { () throws(ISOBMFFError) in items += try MetadataItem.items(in: child) }
      } else if let item = MetadataItem.userText(child) {
        items.append(item)
      }
    }
  }
}

/// The packed 15-bit form of an ISO 639-2 language code (ISO/IEC 14496-12 8.4.2).
enum LanguageCode {
  /// Packs three lower-case letters into five bits each; anything else becomes `und`.
  static func packed(_ language: String) -> UInt16 {
    let letters = Array(language.utf8)
    guard letters.count == 3, letters.allSatisfy({ (0x61...0x7A).contains($0) }) else {
      return 0x55C4
    }
    return letters.reduce(0) { $0 << 5 | UInt16($1 - 0x60) }
  }

  /// Returns the three letters; `und` for invalid codes.
  static func letters(_ packed: UInt16) -> String {
    if packed < 0x400 { return numbered[packed] ?? "und" }
    let letters = [10, 5, 0].map { UInt8(truncatingIfNeeded: packed >> UInt16($0)) & 0x1F }
    guard letters.allSatisfy({ (1...26).contains($0) }) else { return "und" }
    return String(decoding: letters.map { $0 + 0x60 }, as: UTF8.self)
  }

  /// The numbered languages of QuickTime (QuickTime File Format, "Language code values"), which
  /// many MP4 files have, too.
  private static let numbered: [UInt16: String] = {
    let first = [
      "eng", "fra", "deu", "ita", "nld", "swe", "spa", "dan", "por", "nor", "heb", "jpn", "ara",
      "fin", "ell", "isl", "mlt", "tur", "hrv", "zho", "urd", "hin", "tha", "kor", "lit", "pol",
      "hun", "est", "lav", "sme", "fao", "fas", "rus", "zho", "nld", "gle", "sqi", "ron", "ces",
      "slk", "slv", "yid", "srp", "mkd", "bul", "ukr", "bel", "uzb", "kaz", "aze", "aze", "hye",
      "kat", "ron", "kir", "tgk", "tuk", "mon", "mon", "pus", "kur", "kas", "snd", "bod", "nep",
      "san", "mar", "ben", "asm", "guj", "pan", "ori", "mal", "kan", "tam", "tel", "sin", "mya",
      "khm", "lao", "vie", "ind", "tgl", "msa", "msa", "amh", "tir", "orm", "som", "swa", "kin",
      "run", "nya", "mlg", "epo",
    ]
    let later = ["cym", "eus", "cat", "lat", "que", "grn", "aym", "tat", "uig", "dzo", "jav"]
    let numbers = first.indices.map(UInt16.init) + later.indices.map { 128 + UInt16($0) }
    return Dictionary(uniqueKeysWithValues: zip(numbers, first + later))
  }()
}
