// SPDX-License-Identifier: MPL-2.0

/// Writes the boxes of a fragmented movie whose sample bytes somebody else writes
/// (ISO/IEC 14496-12 8.8): an initialization segment, then fragments, each with an index of its own,
/// so that the file plays while it grows, and wherever it ends.
///
/// ```swift
/// var movie = FragmentWriter(format: .movie(.mp4))
/// let video = try movie.addTrack(TrackDescription(.video(entry), timescale: 90_000))
/// for group in groupsOfPictures {
///   for picture in group { try movie.append(picture.description, to: video) }
///   if isFirst { output.write(try movie.initializationSegment()) }
///   guard let fragment = try movie.finishFragment() else { continue }
///   output.write(fragment.header)
///   for picture in group { output.write(picture.bytes) }
/// }
/// ```
///
/// Times are given on the movie's time line, as to ``MovieWriter``. The writer keeps nothing of a
/// fragment that is finished but where it lies, for ``randomAccessIndex()``.
public struct FragmentWriter: Sendable {
  public let format: FragmentFormat
  /// Units a second of the movie's edit lists.
  public let movieTimescale: UInt32
  /// May be completed until ``initializationSegment(hasFileType:)``.
  public var metadata: MovieMetadata
  /// Whether initialization segments leave room for how long the movie is, which the final one says
  /// (`mehd`).
  public let hasDuration: Bool
  /// Whether an edit list takes off what stands in front of a track's first picture; where none does,
  /// composition offsets are signed, by which decode times end at the pictures' own.
  public let hasEditLists: Bool
  /// Where the next bytes have to be written, in bytes from the file's start.
  public private(set) var position: UInt64
  var tracks: [FragmentTrack] = []
  private(set) var isInitialized = false
  private var sequenceNumber: UInt32
  private var hasFragments = false
  /// Nil where nobody wants to know.
  private var syncPoints: SyncPoints?

  /// - Parameters:
  ///   - format: what kind of file it is.
  ///   - movieTimescale: units a second of the edit lists.
  ///   - metadata: that of the movie as a whole.
  ///   - firstSequenceNumber: of the first fragment.
  ///   - hasDuration: initialization segments have room for how long the movie is.
  ///   - hasEditLists: tracks have edit lists where they need them; nil for what the format is known for:
  ///     movies do, CMAF does not.
  ///   - hasRandomAccessIndex: ``randomAccessIndex()`` says where fragments lie, for which 16 bytes of each
  ///     are kept.
  ///   - position: where the initialization segment is written, in bytes from the file's start.
  public init(
    format: FragmentFormat, movieTimescale: UInt32 = 90_000,
    metadata: MovieMetadata = MovieMetadata(), firstSequenceNumber: UInt32 = 1,
    hasDuration: Bool = false, hasEditLists: Bool? = nil, hasRandomAccessIndex: Bool = true,
    position: UInt64 = 0
  ) {
    self.format = format
    self.movieTimescale = max(movieTimescale, 1)
    self.metadata = metadata
    self.hasDuration = hasDuration
    self.hasEditLists = hasEditLists ?? (format != .cmaf)
    sequenceNumber = firstSequenceNumber
    syncPoints = hasRandomAccessIndex ? SyncPoints() : nil
    self.position = position
  }

  /// Adds a track. All tracks have to be added before the initialization segment.
  ///
  /// - Throws: ``MovieWriterError/timescaleZero(_:)``, ``MovieWriterError/trackAddedTooLate``.
  public mutating func addTrack(
    _ track: TrackDescription
  ) throws(MovieWriterError) -> TrackID {
    let id = TrackID(rawValue: UInt32(clamping: tracks.count + 1))
    guard track.timescale > 0 else { throw .timescaleZero(id) }
    guard !isInitialized else { throw .trackAddedTooLate }
    tracks.append(FragmentTrack(id: id, description: track))
    return id
  }

  /// Replaces a track's sample entry by one of the same kind. Behind the initialization segment, the
  /// samples from now on are of the new kind: the fragment that is open has to be finished before, and
  /// an initialization segment written again behind it.
  ///
  /// - Throws: ``MovieWriterError/unknownTrack(_:)``, ``MovieWriterError/mediaKindChanged(_:)``,
  ///   ``MovieWriterError/fragmentOpen`` where a sample of the old kind waits in the open fragment.
  public mutating func setSampleEntry(
    _ entry: SampleEntry, of track: TrackID
  ) throws(MovieWriterError) {
    let index = try index(of: track)
    guard !isInitialized || tracks[index].samples.isEmpty else { throw .fragmentOpen }
    try tracks[index].description.replaceSampleEntry(by: entry, of: track)
  }

  /// Adds the next sample of a track, in decoding order, to the fragment that is open.
  ///
  /// - Throws: a ``MovieWriterError``; nothing has been added then.
  public mutating func append(
    _ sample: SampleDescription, to track: TrackID
  ) throws(MovieWriterError) {
    try tracks[try index(of: track)].append(
      sample, hasEditList: hasEditLists, isFixed: isInitialized)
  }

  /// `ftyp` and `moov`, to be written before the first fragment. Call it when every track that
  /// begins with the movie has its first sample: what the edit lists say depends on them. It may be
  /// written again between two fragments.
  ///
  /// - Parameter hasFileType: begins with `ftyp`.
  /// - Throws: ``MovieWriterError/boxTooLarge(_:)``.
  public mutating func initializationSegment(
    hasFileType: Bool = true
  ) throws(MovieWriterError) -> [UInt8] {
    let segment = try makeInitializationSegment(hasFileType: hasFileType, isFinal: false)
    isInitialized = true
    position += UInt64(segment.count)
    return segment
  }

  /// The initialization segment with what is known at the end. It is as long as the first one, so that it
  /// can be written over that.
  ///
  /// - Throws: ``MovieWriterError/boxTooLarge(_:)``.
  public func finalInitializationSegment() throws(MovieWriterError) -> [UInt8] {
    try makeInitializationSegment(hasFileType: true, isFinal: true)
  }

  private func makeInitializationSegment(
    hasFileType: Bool, isFinal: Bool
  ) throws(MovieWriterError) -> [UInt8] {
    var writer = BoxWriter()
    if hasFileType { format.writeFileType(to: &writer) }
    writeMovie(to: &writer, isFinal: isFinal)
    if let type = writer.oversizedBox { throw .boxTooLarge(type) }
    return writer.bytes
  }

  /// Ends the fragment that is open; nil where it has no sample.
  ///
  /// - Parameters:
  ///   - options: what is said in it beside its samples.
  ///   - nextDecodeTimes: when the next sample of each track is decoded, in its units, where that is
  ///     known: the last one here lasts until then.
  /// - Throws: ``MovieWriterError/fragmentTooLarge(_:)``; the fragment stays open then.
  public mutating func finishFragment(
    _ options: FragmentOptions = FragmentOptions(), nextDecodeTimes: [TrackID: Int64] = [:]
  ) throws(MovieWriterError) -> Fragment? {
    let filled = tracks.filter { !$0.samples.isEmpty }
    guard !filled.isEmpty else { return nil }
    let boxes = filled.map { track in
      TrackFragmentBoxes(
        track: track.id, rows: track.rows(until: nextDecodeTimes[track.id]),
        decodeTime: UInt64(
          clamping: (track.samples.first?.decodeTime ?? 0) + (track.decodeShift ?? 0)),
        hasSignedOffsets: format == .cmaf)
    }
    let dataSize = boxes.reduce(0) { $0 + $1.dataSize }
    // Offsets in it have 31 bits, and its header takes a part of them.
    guard dataSize < UInt64(Int32.max) / 2 else { throw .fragmentTooLarge(dataSize) }
    let number =
      hasFragments && !options.continuesFragment ? sequenceNumber &+ 1 : sequenceNumber
    var writer = BoxWriter()
    if options.startsSegment {
      FragmentFormat.writeSegmentType(isLast: options.isLastSegment, to: &writer)
    }
    if let first = boxes.first {
      options.producerTime?.write(track: first.track, mediaTime: first.decodeTime, to: &writer)
    }
    let prefix = writer.bytes.count
    let index = Self.movieFragment(number, boxes)
    writer.write(index)
    writer.write(UInt32(clamping: dataSize + 8))
    writer.write("mdat" as FourCC)
    let fragment = Fragment(
      header: writer.bytes, dataSize: dataSize, offset: position,
      indexOffset: position + UInt64(prefix), sequenceNumber: number,
      parts: zip(filled, boxes).map { Fragment.Part($0, $1) })
    (sequenceNumber, hasFragments) = (number, true)
    position += fragment.size
    syncPoints?.add(fragment)
    for index in tracks.indices { tracks[index].removeSamples() }
    return fragment
  }

  /// `mfra`, which may end the file: where decoding can start (ISO/IEC 14496-12 8.8.9).
  public func randomAccessIndex() -> [UInt8] {
    var writer = BoxWriter()
    (syncPoints ?? SyncPoints()).write(to: &writer)
    return writer.bytes
  }

  /// `moof`, whose size its own offsets depend on.
  private static func movieFragment(_ number: UInt32, _ boxes: [TrackFragmentBoxes]) -> [UInt8] {
    func written(dataAt start: Int) -> [UInt8] {
      var writer = BoxWriter()
      var offset = UInt64(start)
      writer.box("moof") { moof in
        moof.fullBox("mfhd") { $0.write(number) }
        for box in boxes {
          box.write(dataOffset: Int32(clamping: offset), to: &moof)
          offset += box.dataSize
        }
      }
      return writer.bytes
    }
    return written(dataAt: written(dataAt: 0).count + 8)
  }

  private func index(of track: TrackID) throws(MovieWriterError) -> Int {
    try track.index(in: tracks.count)
  }
}

extension Fragment.Part {
  fileprivate init(_ track: FragmentTrack, _ boxes: TrackFragmentBoxes) {
    var time = Int64(clamping: boxes.decodeTime)
    var earliest = Int64.max
    for row in boxes.rows {
      earliest = min(earliest, time + Int64(row.compositionOffset))
      time += Int64(row.count) * Int64(row.duration)
    }
    self.init(
      track: track.id,
      startsWithSync: track.samples.first?.isSync ?? false, decodeTime: boxes.decodeTime,
      presentationTime: earliest, duration: boxes.mediaDuration)
  }
}

/// What a fragmented file is for, which decides its brands and how its times are written.
public enum FragmentFormat: Equatable, Sendable {
  /// A file of its own: any number of tracks, composition offsets that are not negative, and an
  /// edit list that takes the difference to the first picture off, as most players read best.
  case movie(MovieContainer)
  /// A CMAF track file (ISO/IEC 23000-19) of one track: signed composition offsets, by which
  /// fragments begin with their earliest picture, and no edit list.
  case cmaf

  /// The dialect of the boxes.
  public var container: MovieContainer {
    switch self {
    case .movie(let container): container
    case .cmaf: .mp4
    }
  }

  /// The content of `ftyp`: the major brand, its version, the compatible brands.
  private var brands: (major: FourCC, compatible: [FourCC]) {
    switch self {
    case .movie(.quickTime): ("qt  ", ["qt  "])
    case .movie(.mp4): ("iso6", ["iso6", "isom", "mp42"])
    case .cmaf: ("cmf2", ["iso6", "cmf2", "cmfc"])
    }
  }

  func writeFileType(to writer: inout BoxWriter) {
    writer.box("ftyp") {
      $0.write(brands.major)
      $0.write(UInt32(0))
      for brand in brands.compatible { $0.write(brand) }
    }
  }

  /// `styp`, in front of a segment's first fragment (ISO/IEC 14496-12 8.16.2).
  ///
  /// - Parameter isLast: no segment follows.
  static func writeSegmentType(isLast: Bool, to writer: inout BoxWriter) {
    writer.box("styp") {
      $0.write("msdh" as FourCC)
      $0.write(UInt32(0))
      for brand in ["msdh", "cmfs"] as [FourCC] { $0.write(brand) }
      if isLast { $0.write("lmsg" as FourCC) }
    }
  }
}

extension FragmentWriter {
  /// The `moov` of an initialization segment: tracks without samples, and what fragments have.
  func writeMovie(to writer: inout BoxWriter, isFinal: Bool) {
    writer.box("moov") {
      MovieHeader(
        timescale: movieTimescale, duration: 0, creationTime: metadata.creationTimeSince1904,
        nextTrackNumber: UInt32(clamping: tracks.count + 1)
      ).write(to: &$0)
      for track in tracks {
        TrackBoxes(
          id: track.id, track: MovieWriter.Track(description: description(of: track)),
          timing: TrackTiming(fragmentedFrom: track.mediaTime),
          container: format.container, creationTime: metadata.creationTimeSince1904,
          references: track.description.references
        ).write(to: &$0)
      }
      metadata.write(to: &$0, container: format.container)
      $0.box("mvex") { mvex in
        if hasDuration { writeDuration(isFinal: isFinal, to: &mvex) }
        for track in tracks {
          mvex.fullBox("trex") {
            $0.write(track.id.rawValue)
            $0.write(UInt32(1))
            $0.write(zeros: 12)
          }
        }
      }
    }
  }

  /// `mehd`, or as much room.
  private func writeDuration(isFinal: Bool, to writer: inout BoxWriter) {
    if isFinal {
      let duration = tracks.map { $0.duration(in: movieTimescale) }.max() ?? 0
      writer.fullBox("mehd", version: 1) { $0.write(duration) }
    } else {
      writer.fullBox("free") { $0.write(UInt64(0)) }
    }
  }

  /// CMAF wants the shape of pixels said even where they are square.
  private func description(of track: FragmentTrack) -> TrackDescription {
    var description = track.description
    if format == .cmaf, case .video(var entry) = description.sampleEntry {
      entry.pixelAspectRatio =
        entry.pixelAspectRatio ?? PixelAspectRatio(horizontalSpacing: 1, verticalSpacing: 1)
      description.sampleEntry = .video(entry)
    }
    return description
  }
}
