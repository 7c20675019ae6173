// SPDX-License-Identifier: MPL-2.0

/// The index of one fragment of a movie: a `moof` box (ISO/IEC 14496-12 8.8.4).
public struct MovieFragment: Sendable {
  /// The samples of one track in a fragment (`traf`).
  public struct TrackFragment: Sendable {
    /// The track that the samples belong to.
    public internal(set) var trackID: TrackID
    /// The runs in decoding order. Their sample entry indexes refer to the track's sample entries.
    public internal(set) var runs: [TrackRun] = []
    /// All other boxes, such as `senc` and `saiz`, in file order.
    public internal(set) var otherBoxes: [OpaqueBox] = []
  }

  /// Offset of the box in the file, in bytes.
  public let offset: UInt64
  /// Sequence number; increases from fragment to fragment (`mfhd`).
  public internal(set) var sequenceNumber: UInt32 = 0
  /// The track fragments in file order; a track may have several.
  public internal(set) var trackFragments: [TrackFragment] = []
  /// All other boxes, in file order.
  public internal(set) var otherBoxes: [OpaqueBox] = []
}

extension MovieFragment {
  /// Parses a `moof` box.
  ///
  /// - Parameters:
  ///   - content: everything after the box's header. It is kept, because samples are looked up in
  ///     it.
  ///   - offset: offset of the box in the file, in bytes.
  ///   - headerSize: size of the box's header in bytes.
  ///   - defaults: the movie's defaults for each track (`trex`).
  ///   - decodeTimes: the next decode time of each track, used if the fragment states none.
  init(
    content: [UInt8], at offset: UInt64, headerSize: Int,
    defaults: [TrackID: TrackRun.Defaults], decodeTimes: [TrackID: Int64]
  ) throws(ISOBMFFError) {
    self.offset = offset
    let (base, overflow) = offset.addingReportingOverflow(UInt64(clamping: headerSize))
    var box = BoxReader(
      content, type: "moof", path: "moof", base: overflow ? offset : base)
    var decodeTimes = decodeTimes
    // By default, a track's data begins where the data of the previous track ended.
    var dataEnd = offset
    while var child = try box.nextBox() {
      switch child.type {
      case "mfhd":
        _ = try child.readVersion()
        sequenceNumber = try child.read("sequence_number")
      case "traf":
        var reader = TrackFragmentReader(
          fragmentOffset: offset, dataEnd: dataEnd, defaults: defaults, decodeTimes: decodeTimes)
        let trackFragment = try reader.read(child.numbered(trackFragments.count))
        dataEnd = reader.dataEnd
        if let end = trackFragment.runs.last?.end {
          decodeTimes[trackFragment.trackID] = end
        }
        trackFragments.append(trackFragment)
      default:
        otherBoxes.append(child.opaque)
      }
    }
  }
}

/// Reads one `traf` box (ISO/IEC 14496-12 8.8.6 to 8.8.12).
private struct TrackFragmentReader {
  let fragmentOffset: UInt64
  /// End of the data described so far.
  private(set) var dataEnd: UInt64
  let allDefaults: [TrackID: TrackRun.Defaults]
  let decodeTimes: [TrackID: Int64]

  private var trackFragment = MovieFragment.TrackFragment(trackID: TrackID(rawValue: 0))
  private var defaults = TrackRun.Defaults()
  private var dataBase: UInt64 = 0
  private var decodeTime: Int64 = 0

  init(
    fragmentOffset: UInt64, dataEnd: UInt64, defaults: [TrackID: TrackRun.Defaults],
    decodeTimes: [TrackID: Int64]
  ) {
    self.fragmentOffset = fragmentOffset
    self.dataEnd = dataEnd
    allDefaults = defaults
    self.decodeTimes = decodeTimes
  }

  mutating func read(_ traf: BoxReader) throws(ISOBMFFError) -> MovieFragment.TrackFragment {
    var box = traf
    var runs: [BoxReader] = []
    var header: BoxReader?
    var time: BoxReader?
    while let child = try box.nextBox() {
      switch child.type {
      case "tfhd": header = header ?? child
      case "tfdt": time = time ?? child
      case "trun": runs.append(child.numbered(runs.count))
      default: trackFragment.otherBoxes.append(child.opaque)
      }
    }
    guard let header else { throw traf.error("the track fragment has no tfhd box") }
    try readHeader(header)
    decodeTime = decodeTimes[trackFragment.trackID] ?? 0
    if let time {
      try readDecodeTime(time)
    }
    for run in runs {
      try readRun(run)
    }
    return trackFragment
  }

  private mutating func readHeader(_ box: BoxReader) throws(ISOBMFFError) {
    var box = box
    let flags = try box.readVersion().flags
    trackFragment.trackID = TrackID(rawValue: try box.read("track_ID"))
    defaults = allDefaults[trackFragment.trackID] ?? TrackRun.Defaults()
    // default-base-is-moof; without it, the base of the first track fragment is the `moof` too.
    dataBase = flags & 0x2_0000 != 0 ? fragmentOffset : dataEnd
    if flags & 0x1 != 0 {
      dataBase = try box.read("base_data_offset")
    }
    if flags & 0x2 != 0 {
      defaults.sampleEntryIndex = max(
        0, Int(try box.read("sample_description_index", as: UInt32.self)) - 1)
    }
    if flags & 0x8 != 0 {
      defaults.duration = try box.read("default_sample_duration")
    }
    if flags & 0x10 != 0 {
      defaults.size = try box.read("default_sample_size")
    }
    if flags & 0x20 != 0 {
      defaults.flags = try box.read("default_sample_flags")
    }
    dataEnd = dataBase
  }

  private mutating func readDecodeTime(_ box: BoxReader) throws(ISOBMFFError) {
    var box = box
    let wide = try box.readVersion().version == 1
    let time = try box.read("baseMediaDecodeTime", wide: wide)
    guard time < DecodeTimes.maximumTime.magnitude else {
      throw box.error("the decode time \(time) is beyond 2^61 time units")
    }
    decodeTime = Int64(clamping: time)
  }

  private mutating func readRun(_ box: BoxReader) throws(ISOBMFFError) {
    var box = box
    let flags = try box.readVersion().flags
    let count: UInt32 = try box.read("sample_count")
    var offset = dataEnd
    if flags & 0x1 != 0 {
      offset = try shifted(dataBase, by: try box.read("data_offset"), in: box)
    }
    let firstSampleFlags: UInt32? =
      flags & 0x4 != 0 ? try box.read("first_sample_flags") : nil
    let layout = TrackRun.Layout(flags: flags)
    let table =
      layout.stride > 0
      ? try box.readTable("sample count", count: count, stride: layout.stride) : .empty
    guard decodeTime < DecodeTimes.maximumTime,
      let run = TrackRun(
        table: table, count: Int(count), layout: layout, defaults: defaults,
        firstSampleFlags: firstSampleFlags, dataOffset: offset, decodeTime: decodeTime)
    else { throw box.error("the durations add up to more than 2^61 time units") }
    trackFragment.runs.append(run)
    decodeTime = run.end
    let (end, overflow) = offset.addingReportingOverflow(run.dataSize)
    guard !overflow else { throw box.error("the data would end beyond 2^64 bytes") }
    dataEnd = end
  }

  private func shifted(
    _ base: UInt64, by distance: Int32, in box: BoxReader
  ) throws(ISOBMFFError) -> UInt64 {
    let (offset, overflow) =
      distance < 0
      ? base.subtractingReportingOverflow(UInt64(distance.magnitude))
      : base.addingReportingOverflow(UInt64(distance.magnitude))
    guard !overflow else {
      throw box.error("data_offset \(distance) from byte \(base) is outside of any file")
    }
    return offset
  }
}
