// SPDX-License-Identifier: MPL-2.0

/// Where decoding can start in a fragmented file: an `mfra` box (ISO/IEC 14496-12 8.8.9).
public struct FragmentRandomAccess: Equatable, Sendable {
  /// A sample that decoding can start at (a row of `tfra`).
  public struct Entry: Equatable, Sendable {
    /// The presentation time, in units of the track's timescale.
    public var time: UInt64
    /// Where the `moof` box begins, in bytes from the file's start.
    public var fragmentOffset: UInt64
  }

  /// The entries of each track in the order of time.
  public private(set) var entries: [TrackID: [Entry]] = [:]

  /// The last entry up to a time; nil where the track has none.
  public func entry(of track: TrackID, at time: UInt64) -> Entry? {
    guard let entries = entries[track] else { return nil }
    let after = partitionPoint(count: entries.count) { entries[$0].time <= time }
    return after > 0 ? entries[after - 1] : nil
  }

  /// The size of the `mfra` box that a file ends with, from the file's last 16 bytes; nil where
  /// they are not an `mfro` box.
  public static func size(fromTail tail: [UInt8]) -> UInt32? {
    let table = BigEndianTable(bytes: tail, start: tail.count - 16, count: 4, stride: 4)
    guard table.number(0) == 16, FourCC(rawValue: table.number(1)) == "mfro" else { return nil }
    return table.number(3)
  }

  /// Reads the content of the box.
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
