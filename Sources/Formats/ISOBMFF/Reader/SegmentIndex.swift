// SPDX-License-Identifier: MPL-2.0

/// The positions of a fragmented file's segments: a `sidx` box (ISO/IEC 14496-12 8.16.3).
public struct SegmentIndex: Equatable, Sendable {
  /// A reference to a segment of the file or to a further index.
  public struct Reference: Equatable, Sendable {
    /// Whether this refers to another `sidx` box instead of media.
    public var isIndex: Bool
    /// Offset in the file, in bytes.
    public var offset: UInt64
    /// Size in bytes.
    public var size: UInt32
    /// Earliest presentation time, in units of the index's timescale.
    public var time: UInt64
    /// Duration in units of the index's timescale.
    public var duration: UInt32
    /// Whether the segment begins with a sync sample.
    public var startsWithSync: Bool
  }

  /// The track that the times refer to.
  public let trackID: TrackID
  /// Timescale in units per second; never 0.
  public let timescale: UInt32
  /// The references in time order.
  public let references: [Reference]

  /// Returns the reference that contains a time, in units of the timescale; the first for earlier
  /// times, the last for later ones, nil if there are none.
  public func reference(at time: UInt64) -> Reference? {
    let after = partitionPoint(count: references.count) { references[$0].time <= time }
    return references.isEmpty ? nil : references[max(0, after - 1)]
  }

  /// Parses the content of the box, which ends at `end` in the file.
  init(content: [UInt8], at offset: UInt64, end: UInt64) throws(ISOBMFFError) {
    var box = BoxReader(content, type: "sidx", path: "sidx", base: offset)
    let wide = try box.readVersion().version >= 1
    trackID = TrackID(rawValue: try box.read("reference_ID"))
    timescale = try box.read("timescale")
    guard timescale > 0 else { throw box.error("the timescale is 0") }
    var time = try box.read("earliest_presentation_time", wide: wide)
    let first = end.addingReportingOverflow(try box.read("first_offset", wide: wide))
    var position = first.partialValue
    var hasOverflow = first.overflow
    try box.skip(2, "reserved")
    let count: UInt16 = try box.read("reference_count")
    let table = try box.readTable("reference count", count: UInt32(count), stride: 12)
    var references: [Reference] = []
    for row in 0..<table.count {
      let word: UInt32 = table.number(row)
      let reference = Reference(
        isIndex: word & 0x8000_0000 != 0, offset: position, size: word & 0x7FFF_FFFF, time: time,
        duration: table.number(row, 4), startsWithSync: table.number(row, 8) & 0x8000_0000 != 0)
      references.append(reference)
      let nextPosition = position.addingReportingOverflow(UInt64(reference.size))
      let nextTime = time.addingReportingOverflow(UInt64(reference.duration))
      hasOverflow = hasOverflow || nextPosition.overflow || nextTime.overflow
      (position, time) = (nextPosition.partialValue, nextTime.partialValue)
    }
    guard !hasOverflow else { throw box.error("offsets or times go beyond 64 bits") }
    self.references = references
  }
}

/// The sync points of a fragmented file: an `mfra` box (ISO/IEC 14496-12 8.8.9).
public struct FragmentRandomAccess: Equatable, Sendable {
  /// A sync sample (a row of `tfra`).
  public struct Entry: Equatable, Sendable {
    /// Presentation time, in units of the track's timescale.
    public var time: UInt64
    /// Offset of the `moof` box in the file, in bytes.
    public var fragmentOffset: UInt64
  }

  /// The entries of each track in time order.
  public private(set) var entries: [TrackID: [Entry]] = [:]

  /// Returns the last entry at or before a time; nil if the track has none.
  public func entry(of track: TrackID, at time: UInt64) -> Entry? {
    guard let entries = entries[track] else { return nil }
    let after = partitionPoint(count: entries.count) { entries[$0].time <= time }
    return after > 0 ? entries[after - 1] : nil
  }

  /// Returns the size of the `mfra` box at the end of a file, from the file's last 16 bytes; nil if
  /// they are not an `mfro` box.
  public static func size(fromTail tail: [UInt8]) -> UInt32? {
    let table = BigEndianTable(bytes: tail, start: tail.count - 16, count: 4, stride: 4)
    guard table.number(0) == 16, FourCC(rawValue: table.number(1)) == "mfro" else { return nil }
    return table.number(3)
  }

  /// Parses the content of the box.
  init(content: [UInt8], at offset: UInt64) throws(ISOBMFFError) {
    var box = BoxReader(content, type: "mfra", path: "mfra", base: offset)
    while var child = try box.nextBox() {
      guard child.type == "tfra" else { continue }
      let wide = try child.readVersion().version == 1
      let id = TrackID(rawValue: try child.read("track_ID"))
      let lengths: UInt32 = try child.read("length sizes")
      let numbers = Int(lengths >> 4 & 3) + Int(lengths >> 2 & 3) + Int(lengths & 3) + 3
      let count: UInt32 = try child.read("number_of_entry")
      let table = try child.readTable(
        "number_of_entry", count: count, stride: (wide ? 16 : 8) + numbers)
      entries[id, default: []] += (0..<table.count).map {
        wide
          ? Entry(
            time: table.number($0, as: UInt64.self),
            fragmentOffset: table.number($0, 8, as: UInt64.self))
          : Entry(time: UInt64(table.number($0)), fragmentOffset: UInt64(table.number($0, 4)))
      }
    }
  }
}
