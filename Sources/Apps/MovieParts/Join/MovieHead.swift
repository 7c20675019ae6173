// SPDX-License-Identifier: MPL-2.0

internal import ISOBMFF
internal import StereoMedia

/// The joined movie with its first picture alone, and with all other tracks whole: what its pieces
/// take besides pictures.
struct MovieHead {
  /// A track of the movie.
  struct HeadTrack {
    let track: Track
    /// The ID in the pieces.
    let number: TrackID
    /// Subtracted from media times to get those of the movie.
    let shift: Int64
    /// Where its presentation ends, in units of the track; the largest time if all is shown.
    private let end: Int64
    private let isUniform: Bool
    private var position = 0

    fileprivate init(_ track: Track, _ number: TrackID, _ movie: Movie) {
      (self.track, self.number) = (track, number)
      shift = track.startOnMovieTimeLine(movie.timescale)
      isUniform = track.sampleEntries.first?.isPCM ?? false
      // Edit lists of fragmented movies have no end.
      let shown = track.edits.reduce(UInt64(0)) {
        $0.addingReportingOverflow($1.duration).partialValue
      }
      let time = Int64(clamping: TrackClock(timescale: movie.timescale).nanoseconds(shown))
      end = shown > 0 ? TrackClock(timescale: track.timescale).units(time) : .max
    }

    /// Decode time of the next sample, in units of the track; nil at the end.
    var nextDecodeTime: Int64? {
      track.samples.sample(at: position).map { $0.decodeTime &- shift }
    }

    /// Skips the samples before a time of the movie in nanoseconds.
    mutating func skip(before time: Int64) {
      let limit = TrackClock(timescale: track.timescale).units(time)
      var (low, high) = (0, track.samples.count)
      while low < high {
        let middle = (low + high) / 2
        let decode = track.samples.sample(at: middle)?.decodeTime ?? .max
        if decode &- shift < limit { low = middle + 1 } else { high = middle }
      }
      position = low
    }

    /// Adds the next samples before a time of the movie to the open fragment, and returns where
    /// their bytes are.
    mutating func append(
      before time: Int64, to writer: inout FragmentWriter
    ) throws -> [Range<UInt64>] {
      let limit = min(end, time == .max ? time : TrackClock(timescale: track.timescale).units(time))
      var ranges: [Range<UInt64>] = []
      while let run = try next(before: limit) {
        try writer.append(run.description, to: number)
        ranges.append(run.bytes)
      }
      return ranges
    }

    /// Returns the next sample, or a run of equal ones of PCM.
    private mutating func next(
      before limit: Int64
    ) throws -> (description: SampleDescription, bytes: Range<UInt64>)? {
      guard
        let run = track.samples.run(at: position, maximumCount: isUniform ? .max : 1),
        case let record = run.first, record.decodeTime &- shift < limit
      else { return nil }
      let start = record.decodeTime &- shift
      let fitting =
        limit == .max || record.duration == 0
        ? run.count : Int(clamping: (limit &- start &- 1) / Int64(record.duration) &+ 1)
      let count = max(1, min(run.count, fitting))
      position += count
      var description = SampleDescription(
        size: record.size, decodeTime: start, duration: record.duration,
        compositionOffset: Int32(clamping: record.presentationTime &- record.decodeTime),
        isSync: record.isSync, dependency: record.dependency)
      description.count = UInt32(clamping: count)
      let (end, overflow) = record.offset.addingReportingOverflow(
        UInt64(record.size) * UInt64(count))
      guard !overflow else {
        throw PartError(
          .repeatable, "the head of the movie is damaged",
          help: "remove the file 'head' in the work folder, and try again")
      }
      return (description, record.offset..<end)
    }
  }

  let video: HeadTrack
  /// The place of the video among all tracks.
  let videoIndex: Int
  let others: [HeadTrack]
  let file: OpenedFile
  private let movie: Movie
  private let container: MovieContainer

  /// Opens the file that ``MovieJoin/writeHead(pipelines:_:warn:)`` has written.
  init(_ path: String) throws {
    let reader: MovieReader
    do {
      reader = try MovieReader(path: path)
    } catch {
      throw PartError(
        .repeatable, "'\(path)' is damaged: \(error)", help: "remove it, and try again")
    }
    movie = reader.movie
    container = reader.fileType?.isQuickTime ?? true ? .quickTime : .mp4
    guard let file = OpenedFile(path),
      let index = movie.tracks.firstIndex(where: { $0.handlerType == "vide" })
    else {
      throw PartError(.repeatable, "'\(path)' is damaged", help: "remove it, and try again")
    }
    self.file = file
    videoIndex = index
    let movie = movie
    var tracks = movie.tracks.enumerated().map { index, track in
      HeadTrack(track, TrackID(rawValue: UInt32(clamping: index + 1)), movie)
    }
    video = tracks.remove(at: index)
    others = tracks
  }

  /// Returns a writer that has the first sample of each track in its open fragment: the index
  /// depends on these.
  ///
  /// - Parameters:
  ///   - firstSequenceNumber: number of that fragment.
  ///   - decodeTime: that of the movie's first picture, in units of its track.
  ///   - presentationTime: the same for when it is shown.
  func writer(
    firstSequenceNumber: UInt32, decodeTime: Int64, presentationTime: Int64
  ) throws -> FragmentWriter {
    var writer = FragmentWriter(
      format: .movie(container), movieTimescale: movie.timescale, metadata: MovieMetadata(movie),
      firstSequenceNumber: firstSequenceNumber, hasRandomAccessIndex: false)
    for (index, track) in movie.tracks.enumerated() {
      let number = try writer.addTrack(track.rewritable)
      guard let first = track.samples.sample(at: 0) else { continue }
      let isVideo = index == videoIndex
      let decode =
        isVideo
        ? decodeTime : first.decodeTime &- track.startOnMovieTimeLine(movie.timescale)
      let offset =
        isVideo ? presentationTime &- decode : first.presentationTime &- first.decodeTime
      try writer.append(
        SampleDescription(
          size: first.size, decodeTime: decode, duration: 0,
          compositionOffset: Int32(clamping: offset), isSync: first.isSync), to: number)
    }
    return writer
  }
}
