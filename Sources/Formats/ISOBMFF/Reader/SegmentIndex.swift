// SPDX-License-Identifier: MPL-2.0

/// Where the segments of a fragmented file lie: a `sidx` box (ISO/IEC 14496-12 8.16.3).
public struct SegmentIndex: Equatable, Sendable {
  /// A segment of the file, or a further index.
  public struct Reference: Equatable, Sendable {
    /// Another `sidx` box instead of media.
    public var isIndex: Bool
    /// In bytes from the file's start.
    public var offset: UInt64
    /// In bytes.
    public var size: UInt32
    /// The earliest presentation time, in units of the index's timescale.
    public var time: UInt64
    /// In units of the index's timescale.
    public var duration: UInt32
    /// The segment begins with a sample that decoding can start at.
    public var startsWithSync: Bool
  }

  /// The track whose times these are.
  public let trackID: TrackID
  /// Units a second; never 0.
  public let timescale: UInt32
  /// In the order of time.
  public let references: [Reference]

  /// The reference that has a time, in units of the timescale; the first for earlier times, the
  /// last for later ones, nil if there is none.
  public func reference(at time: UInt64) -> Reference? {
    let after = partitionPoint(count: references.count) { references[$0].time <= time }
    return references.isEmpty ? nil : references[max(0, after - 1)]
  }

  /// Reads the content of the box, which ends at `end` in the file.
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
