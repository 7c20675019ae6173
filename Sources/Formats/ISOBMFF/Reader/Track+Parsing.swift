// SPDX-License-Identifier: MPL-2.0

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
