// SPDX-License-Identifier: MPL-2.0

/// Writes the boxes of a fragmented movie; the caller writes the samples' bytes (ISO/IEC 14496-12
/// 8.8). The file is an initialization segment followed by fragments, each with its own index, so
/// it can be played while it grows and wherever it is cut off.
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
/// Times are on the movie's time line, as for ``MovieWriter``. Of finished fragments, the writer
/// keeps only the positions, for ``randomAccessIndex()``.
public struct FragmentWriter: Sendable {
  /// The kind of file to write.
  public let format: FragmentFormat
  /// Timescale of the movie's edit lists, in units per second.
  public let movieTimescale: UInt32
  /// Movie-level metadata; may be changed until ``initializationSegment(hasFileType:)``.
  public var metadata: MovieMetadata
  /// Whether initialization segments reserve space for the movie's duration, which the final one
  /// fills in (`mehd`).
  public let hasDuration: Bool
  /// Whether an edit list skips the delay before a track's first picture. Without edit lists,
  /// composition offsets are signed, so that decode times start at the first presentation time.
  public let hasEditLists: Bool
  /// Boxes `pssh` of the initialization segments, by which players get the keys of encrypted tracks
  /// (ISO/IEC 23001-7 8.1).
  public var protectionSystems: [OpaqueBox] = []
  /// File position of the next bytes to write, in bytes.
  public private(set) var position: UInt64
  var tracks: [FragmentTrack] = []
  private(set) var isInitialized = false
  private var sequenceNumber: UInt32
  private var hasFragments = false
  /// Nil if no random access index is wanted.
  private var syncPoints: SyncPoints?

  /// Creates a writer without tracks.
  ///
  /// - Parameters:
  ///   - format: kind of file.
  ///   - movieTimescale: timescale of the edit lists, in units per second.
  ///   - metadata: movie-level metadata.
  ///   - firstSequenceNumber: sequence number of the first fragment.
  ///   - hasDuration: whether initialization segments reserve space for the movie's duration.
  ///   - hasEditLists: whether tracks have edit lists if they need them; nil for the format's
  ///     default: yes for movies, no for CMAF.
  ///   - hasRandomAccessIndex: whether ``randomAccessIndex()`` lists the fragments, which takes 16
  ///     bytes of memory per fragment.
  ///   - position: file position of the initialization segment, in bytes.
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

  /// Adds a track. All tracks must be added before the initialization segment is written.
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

  /// Replaces a track's sample entry by one of the same media type. To change it after the
  /// initialization segment: finish the open fragment, call this, and write a new initialization
  /// segment before the next fragment.
  ///
  /// - Throws: ``MovieWriterError/unknownTrack(_:)``, ``MovieWriterError/mediaTypeChanged(_:)``,
  ///   ``MovieWriterError/fragmentOpen`` if the open fragment holds samples of the old entry.
  public mutating func setSampleEntry(
    _ entry: SampleEntry, of track: TrackID
  ) throws(MovieWriterError) {
    let index = try index(of: track)
    guard !isInitialized || tracks[index].samples.isEmpty else { throw .fragmentOpen }
    try tracks[index].description.replaceSampleEntry(by: entry, of: track)
  }

  /// Adds the next sample of a track, in decoding order, to the open fragment.
  ///
  /// - Throws: ``MovieWriterError``; the sample is not added then.
  public mutating func append(
    _ sample: SampleDescription, to track: TrackID
  ) throws(MovieWriterError) {
    try tracks[try index(of: track)].append(
      sample, hasEditList: hasEditLists, isFixed: isInitialized)
  }

  /// Returns `ftyp` and `moov`, to be written before the first fragment. Call it when every track
  /// that starts at the beginning of the movie has its first sample, because the edit lists depend
  /// on these. It may be called again between two fragments.
  ///
  /// - Parameter hasFileType: whether the segment begins with `ftyp`.
  /// - Throws: ``MovieWriterError/boxTooLarge(_:)``.
  public mutating func initializationSegment(
    hasFileType: Bool = true
  ) throws(MovieWriterError) -> [UInt8] {
    let segment = try makeInitializationSegment(hasFileType: hasFileType, isFinal: false)
    isInitialized = true
    position += UInt64(segment.count)
    return segment
  }

  /// Returns the initialization segment with the values that are known only at the end. It has the
  /// same size as the first one and can overwrite it.
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

  /// Finishes the open fragment; returns nil if it has no samples.
  ///
  /// - Parameters:
  ///   - options: additional information to write.
  ///   - nextDecodeTimes: decode time of the next sample of each track, in units of its timescale,
  ///     if known; the last sample in the fragment lasts until then.
  /// - Throws: ``MovieWriterError/fragmentTooLarge(_:)``; the fragment then stays open.
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
        hasSignedOffsets: format == .cmaf, subsamples: track.subsamples)
    }
    let dataSize = boxes.reduce(0) { $0 + $1.dataSize }
    // Data offsets have 31 bits and also span the header.
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
    for message in options.messages { message.write(to: &writer) }
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

  /// Returns `mfra`, an optional index of sync points at the end of the file (ISO/IEC 14496-12
  /// 8.8.9).
  public func randomAccessIndex() -> [UInt8] {
    var writer = BoxWriter()
    (syncPoints ?? SyncPoints()).write(to: &writer)
    return writer.bytes
  }

  /// Returns `moof`; it is written twice because its data offsets depend on its own size.
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

/// The kind of fragmented file, which determines its brands and how times are written.
public enum FragmentFormat: Equatable, Sendable {
  /// A self-contained file: any number of tracks, non-negative composition offsets, and an edit
  /// list that skips the delay before the first picture, which most players handle best.
  case movie(MovieContainer)
  /// A CMAF track file (ISO/IEC 23000-19) of one track: no edit list, and signed composition
  /// offsets so that the earliest picture of a fragment is presented at the fragment's decode time.
  case cmaf

  /// Container type that determines the syntax of the boxes.
  public var container: MovieContainer {
    switch self {
    case .movie(let container): container
    case .cmaf: .mp4
    }
  }

  /// The major brand and the compatible brands in `ftyp`.
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

  /// Writes `styp`, before a segment's first fragment (ISO/IEC 14496-12 8.16.2).
  ///
  /// - Parameter isLast: whether no segment follows.
  fileprivate static func writeSegmentType(isLast: Bool, to writer: inout BoxWriter) {
    writer.box("styp") {
      $0.write("msdh" as FourCC)
      $0.write(UInt32(0))
      for brand in ["msdh", "cmfs"] as [FourCC] { $0.write(brand) }
      if isLast { $0.write("lmsg" as FourCC) }
    }
  }
}

extension FragmentWriter {
  /// Writes the `moov` of an initialization segment: tracks without samples, and `mvex`.
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
      for system in protectionSystems { $0.box(system) }
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

  /// Writes `mehd`, or a `free` box of the same size as a placeholder.
  private func writeDuration(isFinal: Bool, to writer: inout BoxWriter) {
    if isFinal {
      let duration = tracks.map { $0.duration(in: movieTimescale) }.max() ?? 0
      writer.fullBox("mehd", version: 1) { $0.write(duration) }
    } else {
      writer.fullBox("free") { $0.write(UInt64(0)) }
    }
  }

  /// Adds `pasp`, which CMAF requires even for square pixels.
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
