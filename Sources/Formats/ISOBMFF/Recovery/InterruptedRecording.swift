// SPDX-License-Identifier: MPL-2.0

/// The movie rebuilt from the initialization segment and the fragment indexes of an interrupted
/// recording.
struct InterruptedRecording: Sendable {
  /// A track of the recording, and how its media times map to the movie's time line.
  private struct Source: Sendable {
    let id: TrackID
    let number: TrackID
    let handlerType: FourCC
    let timescale: UInt32
    /// Whether the track is PCM audio, which has too many samples to process one by one.
    let isUniform: Bool
    /// Offset subtracted from media times according to the edit list.
    let shift: Int64
    /// End of presentation, in units of the timescale.
    var end: Int64 = 0
    /// Whether a sample is missing, so that all later ones are ignored.
    var isCutOff = false

    fileprivate mutating func extend(to sample: SampleDescription) {
      let start = sample.decodeTime &+ Int64(sample.compositionOffset)
      end = max(end, start &+ Int64(sample.duration) &* Int64(sample.count))
    }
  }

  private var writer: MovieWriter
  private var sources: [Source]

  init(_ movie: Movie, container: MovieContainer) throws {
    writer = MovieWriter(
      finalising: container, movieTimescale: movie.timescale, metadata: MovieMetadata(movie))
    sources = []
    for track in movie.tracks {
      guard track.sampleEntries.count == 1 else {
        throw MovieRecoveryError.severalSampleEntries(track.id)
      }
      sources.append(
        Source(
          id: track.id, number: try writer.addTrack(track.rewritable),
          handlerType: track.handlerType,
          timescale: track.timescale, isUniform: track.sampleEntries.first?.isPCM ?? false,
          shift: track.startOnMovieTimeLine(movie.timescale)))
    }
  }

  /// Adds the complete samples of a fragment, in file order: each run is contiguous in the file.
  /// After a defect in a track, no more samples of that track are added.
  ///
  /// - Parameter data: the content of the `mdat` boxes that follow the fragment's index, as far as
  ///   it is in the file.
  mutating func add(_ fragment: MovieFragment, from data: [Range<UInt64>]) {
    let runs = fragment.trackFragments.flatMap { trackFragment in
      let index = sources.firstIndex { $0.id == trackFragment.trackID }
      return index.map { index in trackFragment.runs.map { (run: $0, source: index) } } ?? []
    }
    for (run, source) in runs.sorted(by: { $0.run.dataOffset < $1.run.dataOffset }) {
      add(run, of: source, from: data)
    }
  }

  private mutating func add(
    _ run: TrackRun, of index: Int, from data: [Range<UInt64>]
  ) {
    let source = sources[index]
    guard !source.isCutOff else { return }
    var position = 0
    while position < run.count,
      let equal = run.run(at: position, maximumCount: source.isUniform ? run.count : 1)
    {
      let record = equal.first
      // Our recordings have no overlapping samples.
      guard record.size > 0, record.offset >= writer.position,
        let box = data.first(where: { $0.contains(record.offset) })
      else { return cutOff(index) }
      let available = (box.upperBound - record.offset) / UInt64(record.size)
      let count = min(UInt64(equal.count), available)
      guard count == 0 || append(record, count: UInt32(clamping: count), of: index),
        count == UInt64(equal.count)
      else { return cutOff(index) }
      position += equal.count
    }
  }

  private mutating func cutOff(_ index: Int) { sources[index].isCutOff = true }

  /// Adds samples.
  ///
  /// - Returns: whether the record describes a valid sample.
  private mutating func append(
    _ record: SampleRecord, count: UInt32, of index: Int
  ) -> Bool {
    // Fragments flag audio samples as independent; an ordinary movie's index states no dependencies
    // for audio.
    let isSound = sources[index].handlerType == "soun"
    var sample = SampleDescription(
      size: record.size, decodeTime: record.decodeTime &- sources[index].shift,
      duration: record.duration,
      compositionOffset: Int32(clamping: record.presentationTime &- record.decodeTime),
      isSync: record.isSync, dependency: isSound ? SampleDependency() : record.dependency)
    sample.count = count
    if record.offset > writer.position { writer.skip(record.offset - writer.position) }
    guard (try? writer.append(sample, to: sources[index].number)) != nil else { return false }
    sources[index].extend(to: sample)
    return true
  }

  /// Builds the result.
  ///
  /// - Parameter cutBox: the last `mdat` after a fragment's index: its offset and the part of its
  ///   content that is in the file.
  func finish(
    fileSize: UInt64, cutBox: (start: UInt64, content: Range<UInt64>)?
  ) throws -> RecoveredMovie {
    guard sources.contains(where: { writer.sampleCount(of: $0.number) > 0 }) else {
      throw MovieRecoveryError.isEmpty
    }
    let tail = try writer.finish()
    return RecoveredMovie(
      closing: cutBox.flatMap { box in
        box.content.contains(tail.offset) || box.content.upperBound == fileSize
          ? closing(box.start, box.content, end: tail.offset) : nil
      },
      tail: tail, lostByteCount: fileSize - min(tail.offset, fileSize),
      tracks: sources.compactMap { source in
        let count = writer.sampleCount(of: source.number)
        guard count > 0 else { return nil }
        return RecoveredMovie.Track(
          handlerType: source.handlerType, sampleCount: count,
          duration: Double(source.end) / Double(source.timescale))
      })
  }

  /// Returns the patch that sets the size of a box so that it ends with the last sample.
  private func closing(
    _ start: UInt64, _ content: Range<UInt64>, end: UInt64
  ) -> MovieTail.Patch? {
    guard end > content.lowerBound else { return nil }
    var writer = BoxWriter()
    if content.lowerBound - start == 16 {
      writer.write(end - start)
      return MovieTail.Patch(offset: start + 8, bytes: writer.bytes)
    }
    guard let size = UInt32(exactly: end - start) else { return nil }
    writer.write(size)
    return MovieTail.Patch(offset: start, bytes: writer.bytes)
  }
}
