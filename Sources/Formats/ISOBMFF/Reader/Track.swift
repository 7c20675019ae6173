// SPDX-License-Identifier: MPL-2.0

/// A track read from a movie (ISO/IEC 14496-12 8.3).
///
/// The properties that a track to be written has as well are in its ``description``; they are also
/// available as members of the track itself: `track.isEnabled`.
@dynamicMemberLookup
public struct Track: Sendable {
  /// The track's description, from which it can be written again. Its sample entry is the first of
  /// ``sampleEntries``.
  public internal(set) var description = TrackDescription.unread
  /// The track ID; in a valid file, nonzero and unique.
  public internal(set) var id = TrackID(rawValue: 0)
  /// The media type: `vide`, `soun`, `meta`, `text`, `tmcd` and so on (`hdlr`).
  public internal(set) var handlerType: FourCC = FourCC(rawValue: 0)
  /// Seconds since 1904-01-01 00:00 UTC; 0 if unknown.
  public internal(set) var creationTime: UInt64 = 0
  /// Duration in units of the movie's timescale, after edit lists; nil if unknown.
  public internal(set) var duration: UInt64?
  /// Stacking order; tracks with lower numbers are in front.
  public internal(set) var layer: Int16 = 0
  /// Volume as 8.8 fixed point.
  public internal(set) var volume: UInt16 = 0
  /// Placement of the picture. ``TrackDescription/orientation`` and the pixel aspect ratio of the
  /// sample entries say what it and the movie's matrix do.
  public internal(set) var matrix = TransformMatrix.identity
  /// The display size.
  public internal(set) var size = FixedPointSize(width: 0, height: 0)
  /// Duration of the media in units of the track's timescale, before edit lists; nil if unknown.
  public internal(set) var mediaDuration: UInt64?
  /// The edit list; if empty, the whole media is presented from the movie's start.
  public internal(set) var edits: [Edit] = []
  /// The sample entries, at least one; each sample has the index of its own.
  public internal(set) var sampleEntries: [SampleEntry] = []
  /// The positions and times of the samples.
  public internal(set) var samples = TrackSamples(nil)
  /// All other boxes of `trak`, `mdia`, `minf` and `stbl`, in file order.
  public internal(set) var otherBoxes: [OpaqueBox] = []

  /// A property of the ``description``.
  public subscript<Value>(dynamicMember path: KeyPath<TrackDescription, Value>) -> Value {
    description[keyPath: path]
  }

  /// Timescale of the media, in units per second; never 0. Not left to the subscript, because key
  /// paths are too slow for such frequent use.
  public var timescale: UInt32 { description.timescale }

  /// ISO 639-2 code, or the BCP 47 tag if the file has one.
  public var language: String { description.languageTag ?? description.language }
}

extension TrackDescription {
  /// A placeholder until the boxes that hold the sample entry and the timescale have been read.
  fileprivate static let unread = TrackDescription(
    .other(
      OtherSampleEntry(handlerType: FourCC(rawValue: 0), type: FourCC(rawValue: 0), payload: [])),
    timescale: 0)
}

/// One row of a track's edit list: the next part of the movie's time line (ISO/IEC 14496-12 8.6.6).
public struct Edit: Equatable, Sendable {
  /// Duration in units of the movie's timescale; 0 in a fragmented file means to the end.
  public var duration: UInt64
  /// Start in the media, in units of the track's timescale; nil for an empty edit.
  public var mediaTime: Int64?
  /// Playback rate as 16.16 fixed point; 0x10000 is normal speed, 0 holds one picture.
  public var rate: Int32

  /// Creates an edit, at normal speed by default.
  public init(duration: UInt64, mediaTime: Int64?, rate: Int32 = 0x1_0000) {
    self.duration = duration
    self.mediaTime = mediaTime
    self.rate = rate
  }
}

extension Track {
  /// Parses a `trak` box; defects of its optional parts are added to `issues`.
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

  /// Reads `tkhd` (ISO/IEC 14496-12 8.3.2).
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
    size = FixedPointSize(width: try box.read("width"), height: try box.read("height"))
  }

  /// Sets the orientation and the shape of the pixels according to the track's matrix, which is
  /// applied first, and the movie's (ISO/IEC 14496-12 6.2.2).
  mutating func place(by movie: TransformMatrix) {
    let whole = matrix.followed(by: movie)
    description.orientation = whole.orientation ?? .upright
    guard let (width, height) = whole.scale, width != height else { return }
    for index in sampleEntries.indices {
      guard case .video(var entry) = sampleEntries[index] else { continue }
      let stored = entry.pixelAspectRatio ?? .square
      entry.pixelAspectRatio = stored.scaled(by: width, over: height) ?? stored
      sampleEntries[index] = .video(entry)
    }
    description.sampleEntry = sampleEntries.first ?? description.sampleEntry
  }

  /// Reads `edts` (ISO/IEC 14496-12 8.6.6).
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
          // QuickTime's variant has a component type, and its name begins with a length.
          if componentType != 0 {
            try child.skip(1, "name length")
            description.handlerName = child.readCString()
          } else {
            description.handlerName = Self.withoutLength(child.readCString())
          }
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

  /// Returns a name without the length that some cameras' MP4 files have before it, as in
  /// QuickTime.
  private static func withoutLength(_ name: String) -> String {
    let bytes = name.utf8
    guard let first = bytes.first, Int(first) == bytes.count - 1 else { return name }
    return String(decoding: bytes.dropFirst(), as: UTF8.self)
  }

  /// Reads `mdhd` (ISO/IEC 14496-12 8.4.2).
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
      // Media headers that add nothing to the handler type.
      case "vmhd", "smhd", "nmhd", "hdlr": break
      default: otherBoxes.append(child.opaque)
      }
    }
    guard let table else { throw box.error("the track has no stbl box") }
    try readSampleTable(table, references: references, issues: &issues)
  }

  /// Returns the duration, or nil if it is the value for an unknown one.
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
