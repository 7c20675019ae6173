// SPDX-License-Identifier: MPL-2.0

/// One track of a movie that was read (ISO/IEC 14496-12 8.3).
///
/// What it says of itself as one that is to be written does is its ``description``, whose properties
/// are the track's too: `track.isEnabled`.
@dynamicMemberLookup
public struct Track: Sendable {
  /// What the track says of itself, so that it can be written again. Its sample entry is the first of
  /// ``sampleEntries``.
  public internal(set) var description = TrackDescription.unread
  /// Not 0, and unlike that of any other track, in a proper file.
  public internal(set) var id = TrackID(rawValue: 0)
  /// What a track is for: `vide`, `soun`, `meta`, `text`, `tmcd` and so on (`hdlr`).
  public internal(set) var handlerType: FourCC = FourCC(rawValue: 0)
  /// Seconds since 1904-01-01 00:00 UTC; 0 is not known.
  public internal(set) var creationTime: UInt64 = 0
  /// In units of the movie's timescale, after edit lists; nil where it is not known.
  public internal(set) var duration: UInt64?
  /// Tracks with lower numbers lie in front.
  public internal(set) var layer: Int16 = 0
  /// 8.8 fixed-point.
  public internal(set) var volume: UInt16 = 0
  /// How the picture is placed; ``TrackDescription/orientation`` where it is one of those.
  public internal(set) var matrix = TransformMatrix.identity
  /// The size to show the track in.
  public internal(set) var size = FixedPointSize(width: 0, height: 0)
  /// In units of the track's timescale, before edit lists; nil where it is not known.
  public internal(set) var mediaDuration: UInt64?
  /// What plays when; the whole media from the movie's start if it is empty.
  public internal(set) var edits: [Edit] = []
  /// At least one; a sample says which is its own.
  public internal(set) var sampleEntries: [SampleEntry] = []
  /// Where the samples lie and when they play.
  public internal(set) var samples = TrackSamples(nil)
  /// Every other box of `trak`, `mdia`, `minf` and `stbl`, in the file's order.
  public internal(set) var otherBoxes: [OpaqueBox] = []

  /// A property of the ``description``.
  public subscript<Value>(dynamicMember path: KeyPath<TrackDescription, Value>) -> Value {
    description[keyPath: path]
  }

  /// Units a second of the media's times; never 0. Asked for too often for a key path.
  public var timescale: UInt32 { description.timescale }

  /// ISO 639-2, or a BCP 47 tag where the file has one.
  public var language: String { description.languageTag ?? description.language }
}

extension TrackDescription {
  /// Of a track before its boxes have been read, which give it a sample entry and a timescale.
  fileprivate static let unread = TrackDescription(
    .other(
      OtherSampleEntry(handlerType: FourCC(rawValue: 0), type: FourCC(rawValue: 0), payload: [])),
    timescale: 0)
}

/// One row of a track's edit list: what plays next on the movie's time line
/// (ISO/IEC 14496-12 8.6.6).
public struct Edit: Equatable, Sendable {
  /// In units of the movie's timescale; 0 in a fragmented file means to the end.
  public var duration: UInt64
  /// Where in the media the edit begins, in units of the track's timescale; nil shows nothing.
  public var mediaTime: Int64?
  /// 16.16 fixed-point; 0x10000 is normal speed, 0 holds one picture.
  public var rate: Int32

  public init(duration: UInt64, mediaTime: Int64?, rate: Int32 = 0x1_0000) {
    self.duration = duration
    self.mediaTime = mediaTime
    self.rate = rate
  }
}

extension Track {
  /// Reads a `trak` box. What can be done without is noted if it is broken.
  init(_ box: BoxReader, issues: inout IssueLog) throws(ISOBMFFError) {
    var box = box
    var media: BoxReader?
    var hasHeader = false
    while let child = try box.nextBox() {
      switch child.type {
      case "tkhd" where !hasHeader:
        try readHeader(child)
        hasHeader = true
      case "mdia" where media == nil:
        media = child
      case "edts":
        issues.optional { () throws(ISOBMFFError) in try readEdits(child) }
      case "tref":
        issues.optional { () throws(ISOBMFFError) in try readReferences(child) }
      case "meta":
        issues.optional { () throws(ISOBMFFError) in
          description.metadata += try MetadataItem.items(in: child)
        }
      case "udta":
        let content = UserData(child, issues: &issues)
        description.userData += content.boxes
        description.metadata += content.items
      default:
        otherBoxes.append(child.opaque)
      }
    }
    guard hasHeader else { throw box.error("the track has no tkhd box") }
    guard let media else { throw box.error("the track has no mdia box") }
    description.sphericalVideoV1 = SphericalVideoV1(otherBoxes)
    try readMedia(media, issues: &issues)
  }

  /// ISO/IEC 14496-12 8.3.2.
  private mutating func readHeader(_ box: BoxReader) throws(ISOBMFFError) {
    var box = box
    let (version, flags) = try box.readVersion()
    let wide = version == 1
    description.isEnabled = flags & 1 != 0
    creationTime = try box.read("creation_time", wide: wide)
    _ = try box.read("modification_time", wide: wide)
    id = TrackID(rawValue: try box.read("track_ID"))
    try box.skip(4, "reserved")
    duration = known(try box.read("duration", wide: wide), wide: wide)
    try box.skip(8, "reserved")
    layer = try box.read("layer")
    description.alternateGroup = try box.read("alternate_group")
    volume = try box.read("volume")
    try box.skip(2, "reserved")
    matrix = try TransformMatrix(&box)
    description.orientation = matrix.orientation ?? .upright
    size = FixedPointSize(width: try box.read("width"), height: try box.read("height"))
  }

  /// ISO/IEC 14496-12 8.6.6.
  private mutating func readEdits(_ box: BoxReader) throws(ISOBMFFError) {
    var box = box
    while var child = try box.nextBox() {
      guard child.type == "elst" else { continue }
      let wide = try child.readVersion().version == 1
      let count: UInt32 = try child.read("entry_count")
      let table = try child.readTable("entry_count", count: count, stride: wide ? 20 : 12)
      edits = (0..<table.count).map { row in
        let mediaTime =
          wide
          ? table.number(row, 8, as: Int64.self) : Int64(table.number(row, 4, as: Int32.self))
        return Edit(
          duration: wide ? table.number(row, 0, as: UInt64.self) : UInt64(table.number(row)),
          mediaTime: mediaTime >= 0 ? mediaTime : nil,
          rate: table.number(row, wide ? 16 : 8, as: Int32.self))
      }
    }
  }

  private mutating func readReferences(_ box: BoxReader) throws(ISOBMFFError) {
    var box = box
    while var child = try box.nextBox() {
      let table = try child.readTable(
        "reference count", count: UInt32(clamping: child.remaining / 4), stride: 4)
      description.references += (0..<table.count).map {
        TrackReference(type: child.type, track: TrackID(rawValue: table.number($0)))
      }
    }
  }

  private mutating func readMedia(
    _ box: BoxReader, issues: inout IssueLog
  ) throws(ISOBMFFError) {
    var box = box
    var information: BoxReader?
    while var child = try box.nextBox() {
      switch child.type {
      case "mdhd":
        try readMediaHeader(&child)
      case "hdlr":
        _ = try child.readVersion()
        let componentType: UInt32 = try child.read("pre_defined")
        handlerType = try child.readFourCC("handler_type")
        issues.optional { () throws(ISOBMFFError) in
          try child.skip(12, "reserved")
          // QuickTime's form has a component type, and its name begins with a length.
          if componentType != 0 {
            try child.skip(1, "name length")
          }
          description.handlerName = child.readCString()
        }
      case "elng":
        issues.optional { () throws(ISOBMFFError) in
          _ = try child.readVersion()
          description.languageTag = child.readCString()
        }
      case "minf" where information == nil:
        information = child
      default:
        otherBoxes.append(child.opaque)
      }
    }
    guard description.timescale > 0 else {
      throw box.error("the track has no mdhd box with a timescale above 0")
    }
    guard let information else { throw box.error("the track has no minf box") }
    try readInformation(information, issues: &issues)
  }

  /// ISO/IEC 14496-12 8.4.2.
  private mutating func readMediaHeader(_ box: inout BoxReader) throws(ISOBMFFError) {
    let wide = try box.readVersion().version == 1
    _ = try box.read("creation_time", wide: wide)
    _ = try box.read("modification_time", wide: wide)
    description.timescale = try box.read("timescale")
    mediaDuration = known(try box.read("duration", wide: wide), wide: wide)
    description.language = LanguageCode.letters(try box.read("language"))
  }

  private mutating func readInformation(
    _ box: BoxReader, issues: inout IssueLog
  ) throws(ISOBMFFError) {
    var box = box
    var table: BoxReader?
    var references = DataReferences()
    while let child = try box.nextBox() {
      switch child.type {
      case "stbl" where table == nil: table = child
      case "dinf": references = try DataReferences(child)
      case "gmhd", "sthd": description.mediaHeader = description.mediaHeader ?? child.opaque
      // The kind of media is known by the handler.
      case "vmhd", "smhd", "nmhd", "hdlr": break
      default: otherBoxes.append(child.opaque)
      }
    }
    guard let table else { throw box.error("the track has no stbl box") }
    try readSampleTable(table, references: references, issues: &issues)
  }

  /// A duration, or nil for the value that says it is not known.
  private func known(_ duration: UInt64, wide: Bool) -> UInt64? {
    duration == (wide ? UInt64.max : UInt64(UInt32.max)) ? nil : duration
  }
}

extension TransformMatrix {
  init(_ box: inout BoxReader) throws(ISOBMFFError) {
    self.init(
      a: try box.read("matrix"), b: try box.read("matrix"), u: try box.read("matrix"),
      c: try box.read("matrix"), d: try box.read("matrix"), v: try box.read("matrix"),
      x: try box.read("matrix"), y: try box.read("matrix"), w: try box.read("matrix"))
  }
}
