// SPDX-License-Identifier: MPL-2.0

/// Writes the index of a movie whose sample bytes somebody else writes.
///
/// A progressive file: header, media data, index. The writer opens no file and sees no sample
/// byte; it keeps the tables that the index is made of, some 12 bytes a sample.
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
/// Times are given on the movie's own time line, which begins at 0: a track that starts later
/// gets an empty edit, one that starts earlier is cut by its edit list. The composition offsets
/// are written as AVFoundation does, signed and such that the first picture is presented at 0.
public struct MovieWriter: Sendable {
  struct Track: Sendable {
    var description: TrackDescription
    var tables = TrackTables()
  }

  /// The dialect of the file.
  public let container: MovieContainer
  /// Units a second of the movie's duration and edit lists.
  public let movieTimescale: UInt32
  /// May be completed until ``finish()``.
  public var metadata: MovieMetadata
  var tracks: [Track] = []
  /// Where the bytes of the next sample have to be written, in bytes from the file's start.
  public private(set) var position: UInt64
  private var lastTrack: TrackID?
  /// Whether fragments stand where media data will be.
  private let isFinalising: Bool

  /// - Parameters:
  ///   - container: what kind of file it is.
  ///   - movieTimescale: units a second of the movie's duration and its edit lists. A track's start is
  ///     rounded to it.
  ///   - metadata: that of the movie as a whole.
  public init(
    container: MovieContainer, movieTimescale: UInt32 = 90_000,
    metadata: MovieMetadata = MovieMetadata()
  ) {
    self.init(container, movieTimescale, metadata, isFinalising: false)
  }

  /// A movie that is a file of fragments until ``finish()`` makes an ordinary one of it: what
  /// ``FragmentWriter`` writes stands behind the header, and disappears in `mdat`.
  ///
  /// ``skip(_:)`` says how many bytes of it there are, ``append(_:to:)`` where samples lie.
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

  /// What has to stand at offset 0: `ftyp`, eight spare bytes and the header of `mdat`, whose
  /// size is open until ``MovieTail/patch`` is written. Of a movie that is finalised, the header is
  /// that of a `free` box, which has a second `ftyp` in it, for whoever finds the fragments later.
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

  /// Passes over bytes that are no sample's, such as the index of a fragment.
  public mutating func skip(_ count: UInt64) {
    position += count
    lastTrack = lastTrack.map { _ in TrackID(rawValue: 0) }
  }

  /// Adds a track. All tracks have to be added before the first sample.
  ///
  /// - Throws: ``MovieWriterError/timescaleZero(_:)``, ``MovieWriterError/trackAddedTooLate``.
  public mutating func addTrack(
    _ track: TrackDescription
  ) throws(MovieWriterError) -> TrackID {
    let id = TrackID(rawValue: UInt32(clamping: tracks.count + 1))
    guard track.timescale > 0 else { throw .timescaleZero(id) }
    guard lastTrack == nil else { throw .trackAddedTooLate }
    tracks.append(Track(description: track))
    return id
  }

  /// Replaces a track's sample entry by one of the same kind, where what it says is known only
  /// after the first samples.
  ///
  /// - Throws: ``MovieWriterError/unknownTrack(_:)``, ``MovieWriterError/mediaKindChanged(_:)``.
  public mutating func setSampleEntry(
    _ entry: SampleEntry, of track: TrackID
  ) throws(MovieWriterError) {
    let index = try index(of: track)
    try tracks[index].description.replaceSampleEntry(by: entry, of: track)
  }

  /// Registers the samples whose bytes the caller writes next, at ``position``.
  ///
  /// - Throws: a ``MovieWriterError``; nothing has been registered then.
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

  /// How many samples a track has so far; 0 for a track that was not added.
  public func sampleCount(of track: TrackID) -> UInt32 {
    (try? index(of: track)).map { tracks[$0].tables.sampleCount } ?? 0
  }

  /// The index, and what has to be corrected in the header. Tracks without a sample are left out.
  ///
  /// - Throws: ``MovieWriterError/movieTimescaleZero``, ``MovieWriterError/boxTooLarge(_:)``.
  public func finish() throws(MovieWriterError) -> MovieTail {
    guard movieTimescale > 0 else { throw .movieTimescaleZero }
    var writer = BoxWriter()
    writeMovie(to: &writer)
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

  /// Where the content of `mdat` begins, behind its header.
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

/// What completes a movie after its last sample.
public struct MovieTail: Equatable, Sendable {
  /// Bytes that replace others of the file.
  public struct Patch: Equatable, Sendable {
    /// In bytes from the file's start.
    public let offset: UInt64
    public let bytes: [UInt8]
  }

  /// The `moov` box.
  public let index: [UInt8]
  /// Where the index has to be written: right behind the last sample.
  public let offset: UInt64
  /// What has to be overwritten in the header: the size of `mdat`.
  public let patch: Patch
}

/// The two dialects of movie file that differ in a dozen boxes.
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
