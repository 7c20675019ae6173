// SPDX-License-Identifier: MPL-2.0

/// Writes the index of a movie; the caller writes the samples' bytes.
///
/// The file is progressive: header, media data, index. The writer opens no file and sees no sample
/// bytes; it keeps the tables of the index, about 12 bytes per sample.
///
/// ```swift
/// var movie = MovieWriter(container: .quickTime)
/// let video = try movie.addTrack(TrackDescription(.video(entry), timescale: 90_000))
/// output.write(movie.header)
/// for frame in frames {
///   try movie.append(frame.description, to: video)
///   output.write(frame.bytes)
/// }
/// let tail = try movie.finish()
/// output.write(tail.index)
/// output.seek(to: tail.patch.offset)
/// output.write(tail.patch.bytes)
/// ```
///
/// Times are on the movie's time line, which begins at 0: a track that starts later gets an empty
/// edit, one that starts earlier is cut by its edit list. Composition offsets are written as
/// AVFoundation does: signed, with the first picture presented at 0.
public struct MovieWriter: Sendable {
  struct Track: Sendable {
    var description: TrackDescription
    var tables = TrackTables()
    /// The entries after the one of the description.
    var laterEntries: [SampleEntry] = []

    /// All entries, in the order of their numbers (`sample_description_index`), from 1.
    var sampleEntries: [SampleEntry] { [description.sampleEntry] + laterEntries }
  }

  /// Container type of the file.
  public let container: MovieContainer
  /// Timescale of the movie's duration and edit lists, in units per second.
  public let movieTimescale: UInt32
  /// Movie-level metadata; may be changed until ``finish()``.
  public var metadata: MovieMetadata
  var tracks: [Track] = []
  /// File position at which to write the next sample, in bytes.
  public private(set) var position: UInt64
  private var lastTrack: TrackID?
  /// Whether the file holds fragments until it is finished.
  private let isFinalising: Bool

  /// Creates a writer without tracks.
  ///
  /// - Parameters:
  ///   - container: container type of the file.
  ///   - movieTimescale: timescale of the movie's duration and edit lists, in units per second.
  ///     Track starts are rounded to it.
  ///   - metadata: movie-level metadata.
  public init(
    container: MovieContainer, movieTimescale: UInt32 = 90_000,
    metadata: MovieMetadata = MovieMetadata()
  ) {
    self.init(container, movieTimescale, metadata, isFinalising: false)
  }

  /// Creates a movie that is a fragmented file until ``finish()`` turns it into an ordinary one:
  /// the output of ``FragmentWriter`` follows the header and finally becomes part of `mdat`.
  ///
  /// Call ``skip(_:)`` for the bytes that are not samples, and ``append(_:to:)`` for the samples.
  public init(
    finalising container: MovieContainer, movieTimescale: UInt32 = 90_000,
    metadata: MovieMetadata = MovieMetadata()
  ) {
    self.init(container, movieTimescale, metadata, isFinalising: true)
  }

  private init(
    _ container: MovieContainer, _ movieTimescale: UInt32, _ metadata: MovieMetadata,
    isFinalising: Bool
  ) {
    self.container = container
    self.movieTimescale = movieTimescale
    self.metadata = metadata
    self.isFinalising = isFinalising
    position = 0
    position = UInt64(header.count)
  }

  /// The bytes at offset 0: `ftyp`, eight spare bytes and the header of `mdat`, whose size is
  /// unknown until ``MovieTail/patch`` is written. If the movie is to be finalised, a `free` box
  /// takes the place of the `mdat` header; it holds a second `ftyp`, for tools that find the
  /// fragments later.
  public var header: [UInt8] {
    var writer = BoxWriter()
    if isFinalising {
      FragmentFormat.movie(container).writeFileType(to: &writer)
    } else {
      writeFileType(to: &writer)
    }
    // Eight bytes that become part of the mdat header if its size needs 64 bits.
    writer.box(container == .quickTime ? "wide" : "free") { _ in }
    if isFinalising {
      writer.box("free") { FragmentFormat.movie(container).writeFileType(to: &$0) }
    } else {
      writer.write(UInt32(0))
      writer.write("mdat" as FourCC)
    }
    return writer.bytes
  }

  /// Skips bytes that are not samples, such as the index of a fragment.
  public mutating func skip(_ count: UInt64) {
    position += count
    lastTrack = lastTrack.map { _ in TrackID(rawValue: 0) }
  }

  /// Adds a track. All tracks must be added before the first sample.
  ///
  /// - Throws: ``MovieWriterError/timescaleZero(_:)``, ``MovieWriterError/trackAddedTooLate``,
  ///   ``MovieWriterError/encryptedTrack(_:)``.
  public mutating func addTrack(
    _ track: TrackDescription
  ) throws(MovieWriterError) -> TrackID {
    let id = TrackID(rawValue: UInt32(clamping: tracks.count + 1))
    guard track.timescale > 0 else { throw .timescaleZero(id) }
    guard track.protection == nil else { throw .encryptedTrack(id) }
    guard lastTrack == nil else { throw .trackAddedTooLate }
    tracks.append(Track(description: track))
    return id
  }

  /// Replaces a track's sample entry by one of the same media type, for values that are known only
  /// after the first samples.
  ///
  /// - Throws: ``MovieWriterError/unknownTrack(_:)``, ``MovieWriterError/mediaTypeChanged(_:)``.
  public mutating func setSampleEntry(
    _ entry: SampleEntry, of track: TrackID
  ) throws(MovieWriterError) {
    let index = try index(of: track)
    try tracks[index].description.replaceSampleEntry(by: entry, of: track)
  }

  /// Describes a track's samples from the next one on by another sample entry of the same media
  /// type. The track then has several (ISO/IEC 14496-12 8.5.2).
  ///
  /// - Throws: ``MovieWriterError/unknownTrack(_:)``, ``MovieWriterError/mediaTypeChanged(_:)``,
  ///   ``MovieWriterError/tooManyFormats(_:)``.
  public mutating func changeSampleEntry(
    _ entry: SampleEntry, of track: TrackID
  ) throws(MovieWriterError) {
    let index = try index(of: track)
    guard tracks[index].description.sampleEntry.hasSameMediaType(of: entry) else {
      throw .mediaTypeChanged(track)
    }
    var number = tracks[index].sampleEntries.firstIndex(of: entry)
    if number == nil {
      number = tracks[index].sampleEntries.count
      guard tracks[index].sampleEntries.count < 256 else { throw .tooManyFormats(track) }
      tracks[index].laterEntries.append(entry)
    }
    tracks[index].tables.chunks.use(entry: UInt32(clamping: (number ?? 0) + 1))
  }

  /// Registers the samples that the caller writes next, at ``position``.
  ///
  /// - Throws: ``MovieWriterError``; nothing is registered then.
  public mutating func append(
    _ sample: SampleDescription, to track: TrackID
  ) throws(MovieWriterError) {
    let index = try index(of: track)
    try tracks[index].tables.check(sample, in: track)
    let size = UInt64(sample.size) * UInt64(sample.count)
    let end = position.addingReportingOverflow(size)
    guard !end.overflow, end.partialValue <= UInt64(Int64.max) else { throw .fileTooLarge }
    guard sample.count > 0 else { return }
    tracks[index].tables.append(sample)
    tracks[index].tables.chunks.append(
      samples: sample.count, size: size, at: position, continues: lastTrack == track)
    position = end.partialValue
    lastTrack = track
  }

  /// Ends the presentation of a track, by its edit list, although its samples last longer.
  ///
  /// - Parameter time: presentation time in units of the track's timescale.
  /// - Throws: ``MovieWriterError/unknownTrack(_:)``.
  public mutating func endPresentation(
    of track: TrackID, at time: Int64
  ) throws(MovieWriterError) {
    tracks[try index(of: track)].tables.presentationLimit = time
  }

  /// Returns the number of samples of a track so far; 0 for an unknown track.
  public func sampleCount(of track: TrackID) -> UInt32 {
    (try? index(of: track)).map { tracks[$0].tables.sampleCount } ?? 0
  }

  /// Returns the index and the patch of the header. Tracks without samples are left out.
  ///
  /// - Throws: ``MovieWriterError/movieTimescaleZero``, ``MovieWriterError/boxTooLarge(_:)``.
  public func finish() throws(MovieWriterError) -> MovieTail {
    guard movieTimescale > 0 else { throw .movieTimescaleZero }
    var writer = BoxWriter()
    writeMovie(to: &writer)
    for box in metadata.fileLevelBoxes { writer.box(box) }
    if let type = writer.oversizedBox {
      throw .boxTooLarge(type)
    }
    return MovieTail(index: writer.bytes, offset: position, patch: mediaDataPatch)
  }

  private func index(of track: TrackID) throws(MovieWriterError) -> Int {
    try track.index(in: tracks.count)
  }

  private var mediaDataPatch: MovieTail.Patch {
    let start = mediaDataStart
    var writer = BoxWriter()
    if let size = UInt32(exactly: position - start + 8) {
      writer.write(size)
      if isFinalising { writer.write("mdat" as FourCC) }
      return MovieTail.Patch(offset: start - 8, bytes: writer.bytes)
    }
    writer.write(UInt32(1))
    writer.write("mdat" as FourCC)
    writer.write(position - start + 16)
    return MovieTail.Patch(offset: start - 16, bytes: writer.bytes)
  }

  /// Offset of the content of `mdat`, after its header.
  private var mediaDataStart: UInt64 {
    guard isFinalising else { return UInt64(header.count) }
    var writer = BoxWriter()
    FragmentFormat.movie(container).writeFileType(to: &writer)
    return UInt64(writer.bytes.count) + 16
  }

  private func writeFileType(to writer: inout BoxWriter) {
    writer.box("ftyp") {
      switch container {
      case .quickTime:
        $0.write("qt  " as FourCC)
        $0.write(UInt32(0))
        $0.write("qt  " as FourCC)
      case .mp4:
        $0.write("mp42" as FourCC)
        $0.write(UInt32(1))
        for brand in ["isom", "mp41", "mp42"] as [FourCC] {
          $0.write(brand)
        }
      }
    }
  }
}

/// The data that completes a movie after its last sample.
public struct MovieTail: Equatable, Sendable {
  /// Bytes that overwrite part of the file.
  public struct Patch: Equatable, Sendable {
    /// Offset in the file, in bytes.
    public let offset: UInt64
    /// The replacement bytes.
    public let bytes: [UInt8]
  }

  /// The `moov` box, and the boxes of the top level that follow it.
  public let index: [UInt8]
  /// File position of the index: directly after the last sample.
  public let offset: UInt64
  /// The change to the header: the size of `mdat`.
  public let patch: Patch
}

/// The two variants of movie files, which differ in about a dozen boxes.
public enum MovieContainer: Sendable, CaseIterable {
  /// QuickTime, `.mov`: major brand `qt  `.
  case quickTime
  /// ISO base media as MPEG-4 Part 14, `.mp4`: major brand `mp42`.
  case mp4
}

extension MovieWriter {
  func writeMovie(to writer: inout BoxWriter) {
    let written = tracks.indices.filter { tracks[$0].tables.sampleCount > 0 }
    let timings = written.map {
      TrackTiming(
        tracks[$0].tables, timescale: tracks[$0].description.timescale,
        movieTimescale: movieTimescale)
    }
    writer.box("moov") {
      MovieHeader(
        timescale: movieTimescale, duration: timings.map(\.duration).max() ?? 0,
        creationTime: metadata.creationTimeSince1904,
        nextTrackNumber: UInt32(clamping: tracks.count + 1)
      ).write(to: &$0)
      for (index, timing) in zip(written, timings) {
        let id = TrackID(rawValue: UInt32(clamping: index + 1))
        let references = tracks[index].description.references.filter { reference in
          written.contains { UInt32(clamping: $0 + 1) == reference.track.rawValue }
        }
        TrackBoxes(
          id: id, track: tracks[index], timing: timing, container: container,
          creationTime: metadata.creationTimeSince1904, references: references
        ).write(to: &$0)
      }
      metadata.write(to: &$0, container: container)
    }
  }
}

/// The reason why a movie cannot be written.
@nonexhaustive
public enum MovieWriterError: Error, Equatable, Sendable {
  /// The timescale of a track is 0.
  case timescaleZero(TrackID)
  /// A track was added after the first sample.
  case trackAddedTooLate
  /// The movie has no such track.
  case unknownTrack(TrackID)
  /// The new sample entry is of another media type, such as audio instead of video.
  case mediaTypeChanged(TrackID)
  /// A track would have more than 256 sample entries.
  case tooManyFormats(TrackID)
  /// A sample's decode time is before that of the previous sample.
  case decodeTimeBackwards(TrackID, sample: UInt32, previous: Int64, this: Int64)
  /// The interval between two samples does not fit into 32 bits.
  case durationTooLarge(TrackID, sample: UInt32, duration: UInt64)
  /// The magnitude of a composition offset is above 2^30.
  case compositionOffsetTooLarge(TrackID, sample: UInt32, offset: Int32)
  /// A decode time or a duration is beyond 2^61.
  case timeTooLarge(TrackID, sample: UInt32)
  /// The number of samples does not fit into 32 bits.
  case tooManySamples(TrackID)
  /// A sample differs from the others in a track with runs.
  case unevenRun(TrackID, sample: UInt32)
  /// An encrypted track was added to a movie without fragments, whose index does not describe it.
  case encryptedTrack(TrackID)
  /// An encrypted sample has more than ``Subsample/maximumCount`` subsamples.
  case tooManySubsamples(TrackID, sample: UInt32, count: Int)
  /// The first picture is presented before the movie's start, and there is no edit list to cut it.
  case beforeStart(TrackID, time: Int64)
  /// The sample entry was replaced while samples of the old one are in the open fragment.
  case fragmentOpen
  /// The samples of a fragment are too large for its offsets.
  case fragmentTooLarge(UInt64)
  /// The media data is larger than 2^63 bytes.
  case fileTooLarge
  /// The movie's timescale is 0.
  case movieTimescaleZero
  /// The size of a box does not fit into 32 bits.
  case boxTooLarge(FourCC)
}

extension MovieWriterError: CustomStringConvertible {
  /// The problem, with the track and sample number, and how to avoid it.
  public var description: String {
    switch self {
    case .timescaleZero(let track):
      "\(track): the timescale is 0; set it to the number of time units per second"
    case .trackAddedTooLate:
      "a track was added after the first sample; add all tracks first"
    case .unknownTrack(let track):
      "\(track) was not added to this movie"
    case .fragmentOpen:
      "the sample entry was replaced while its samples are in the open fragment; finish the"
        + " fragment first"
    case .mediaTypeChanged(let track):
      "\(track): the new sample entry has a different media type (video, audio, other)"
    case .tooManyFormats(let track):
      "\(track): its format changes to more than 256 different ones"
    case .decodeTimeBackwards(let track, let sample, let previous, let this):
      "\(track), sample \(sample): the decode time \(this) is before that of the previous sample,"
        + " \(previous); add samples in decoding order"
    case .durationTooLarge(let track, let sample, let duration):
      "\(track), sample \(sample): the duration of \(duration) time units exceeds the limit of a"
        + " sample table, 4294967295; use a smaller timescale"
    case .compositionOffsetTooLarge(let track, let sample, let offset):
      "\(track), sample \(sample): the composition offset \(offset) exceeds the limit of 1073741824"
        + " time units; use a smaller timescale"
    case .timeTooLarge(let track, let sample):
      "\(track), sample \(sample): the time does not fit into 62 bits"
    case .tooManySamples(let track):
      "\(track): more than 4294967295 samples"
    case .unevenRun(let track, let sample):
      "\(track), sample \(sample): in a track with runs of samples, all samples must have the same"
        + " size and be sync samples"
    case .encryptedTrack(let track):
      "\(track): it is encrypted, which only fragments describe; use FragmentWriter"
    case .tooManySubsamples(let track, let sample, let count):
      "\(track), sample \(sample): it has \(count) encrypted ranges; the maximum is"
        + " \(Subsample.maximumCount); use fewer slices"
    case .beforeStart(let track, let time):
      "\(track): its first sample is presented \(time.magnitude) time units before the movie starts"
    case .fragmentTooLarge(let size):
      "the fragment has \(size) bytes of samples; the maximum is 1 GiB; use shorter ones"
    case .fileTooLarge:
      "the file would be larger than 2^63 bytes"
    case .movieTimescaleZero:
      "the movie's timescale is 0; set it to the number of time units per second"
    case .boxTooLarge(let type):
      "the box \(type) would be larger than 4 GiB"
    }
  }
}
