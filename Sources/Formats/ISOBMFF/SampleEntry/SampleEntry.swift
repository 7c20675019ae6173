// SPDX-License-Identifier: MPL-2.0

/// A description of a track's samples: one entry of `stsd` (ISO/IEC 14496-12 8.5.2).
public indirect enum SampleEntry: Equatable, Sendable {
  /// A video track.
  case video(VisualSampleEntry)
  /// An audio track.
  case audio(AudioSampleEntry)
  /// A track of another media type, or an entry that could not be parsed as one of the above.
  case other(OtherSampleEntry)

  /// Returns whether both entries are of the same media type, so that one can replace the other.
  func hasSameMediaType(of other: SampleEntry) -> Bool {
    switch (self, other) {
    case (.video, .video), (.audio, .audio): true
    case (.other(let own), .other(let other)): own.handlerType == other.handlerType
    default: false
    }
  }
}

/// The sample entry of a track that is neither video nor audio, kept unparsed.
public struct OtherSampleEntry: Equatable, Sendable {
  /// The media type: `meta`, `text`, `tmcd` and so on (`hdlr`).
  public var handlerType: FourCC
  /// The type of the entry.
  public var type: FourCC
  /// Everything after the type: six bytes of 0, the data reference index and the fields of the
  /// type. Some writers leave the former two out: Android's, of `mett`.
  public var content: [UInt8]

  /// Creates an entry; `payload` begins after the data reference index.
  public init(handlerType: FourCC, type: FourCC, payload: [UInt8]) {
    self.init(handlerType: handlerType, type: type, content: [0, 0, 0, 0, 0, 0, 0, 1] + payload)
  }

  /// Creates an entry from all its bytes after the type.
  public init(handlerType: FourCC, type: FourCC, content: [UInt8]) {
    self.handlerType = handlerType
    self.type = type
    self.content = content
  }
}

extension SampleEntry {
  private static let maximumBrokenCount = 64

  /// Parses the entries of an `stsd` box for a track of the given `hdlr` type.
  ///
  /// - Throws: if samples of an entry are in another file, or if too many entries are unreadable
  ///   for a real `stsd` box.
  static func entries(
    _ box: BoxReader, handlerType: FourCC, references: DataReferences, issues: inout IssueLog
  ) throws(ISOBMFFError) -> [SampleEntry] {
    var box = box
    let version = try box.readVersion().version
    let count: UInt32 = try box.read("entry_count")
    var entries: [SampleEntry] = []
    var brokenCount = 0
    while entries.count < count, let child = try box.nextBox() {
      let child = child.numbered(entries.count)
      try references.check(child)
      do throws(ISOBMFFError) {
        entries.append(
          try entry(
            child, handlerType: handlerType, isISOVersion1: version == 1, issues: &issues))
      } catch {
        issues.add(error)
        brokenCount += 1
        guard brokenCount < maximumBrokenCount else {
          throw box.error("\(brokenCount) of its entries cannot be read")
        }
        entries.append(opaqueEntry(child, handlerType: handlerType))
      }
    }
    return entries
  }

  private static func entry(
    _ box: BoxReader, handlerType: FourCC, isISOVersion1: Bool, issues: inout IssueLog
  ) throws(ISOBMFFError) -> SampleEntry {
    switch handlerType {
    case "vide":
      .video(try VisualSampleEntry(box, issues: &issues))
    case "soun":
      .audio(try AudioSampleEntry(box, isISOVersion1: isISOVersion1, issues: &issues))
    default:
      opaqueEntry(box, handlerType: handlerType)
    }
  }

  private static func opaqueEntry(_ box: BoxReader, handlerType: FourCC) -> SampleEntry {
    .other(
      OtherSampleEntry(
        handlerType: handlerType, type: box.type, content: box.rewound(to: 0).opaque.payload))
  }
}
