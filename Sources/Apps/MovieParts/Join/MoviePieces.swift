// SPDX-License-Identifier: MPL-2.0

internal import GStreamer
internal import ISOBMFF
package import PipelineFile
package import PipelineHost
internal import StereoMedia

/// The movie of a plan in pieces, which make it when they are put one after the other: `cat` does
/// so, and object stores do without a worker that copies.
///
/// Each piece has the pictures of a part and all other tracks of that time, as fragments at the
/// times of the movie. The first piece begins with the index (`moov`). The bytes of a piece depend
/// on the plan alone, so that several processes may write them.
package struct MoviePieces {
  private let folder: WorkFolder
  private let plan: ConversionPlan
  private let times: PictureTimes

  /// Reads the plan.
  package init(_ folder: WorkFolder) throws(PartError) {
    self.folder = folder
    plan = try folder.plan()
    times = try folder.times(of: plan)
  }

  /// Writes `piece-00017.mov`, or all pieces, into a folder.
  ///
  /// - Parameters:
  ///   - number: the number of the part; nil for all.
  ///   - directory: the folder, which is made unless it is there.
  ///   - pipelines: the folder of the ready pipelines.
  ///   - registry: the installed elements.
  ///   - warn: called with warnings, such as tracks that are left out.
  /// - Returns: the paths of the pieces.
  /// - Throws: a ``PartError``, or the ``RunFailure`` or ``PipelineProblems`` of the pipeline.
  package func write(
    _ number: Int?, to directory: String, pipelines: String, _ registry: InstalledElements,
    warn: @escaping @Sendable (Diagnostic) -> Void
  ) async throws -> [String] {
    let numbers = number.map { [$0] } ?? Array(plan.cuts.indices)
    if let number, plan.pictures(ofPart: number) == nil {
      throw PartError(
        .final, "there is no part \(number): the \(plan.cuts.count) parts are numbered from 0")
    }
    try SmallFiles.make(folder: directory)
    try await MovieJoin(folder).writeHead(pipelines: pipelines, registry, warn: warn)
    let head = try MovieHead(folder.headFile)
    // Of all parts, so that each piece is decoded at times that follow those of the one before it.
    let depth = try plan.cuts.indices.reduce(0) { max($0, try part($1).reorderDepth) }
    return try numbers.map { number in
      let path = "\(directory)/piece-\(WorkFolder.digits(number)).\(plan.outputEnding)"
      let file = try NewFile(path)
      try write(number, head, depth: depth, to: file)
      try file.finish()
      return path
    }
  }

  private func part(_ number: Int) throws -> JoinedPart {
    guard let pictures = plan.pictures(ofPart: number) else {
      throw PartError(.final, "there is no part \(number)")
    }
    return try JoinedPart(folder.partFile(number), times: times.times[pictures])
  }

  /// Duration of a fragment in nanoseconds, up to the next keyframe.
  private static let fragmentDuration = 2 * ClockTime.second

  private func write(
    _ number: Int, _ head: MovieHead, depth: Int, to file: NewFile
  ) throws {
    let part = try part(number)
    guard try part.entry == self.part(0).entry else {
      throw PartError(
        .final, "part \(number) has another format than part 0",
        help: "remove '\(folder.path)' and plan again")
    }
    guard
      try FileHash.hash(ofFile: folder.partFile(number))
        == folder.receipt(number, plan, key: try plan.key)?.hash
    else {
      throw PartError(
        .repeatable, "part \(number) is missing or damaged",
        help: "gst-spatial part \(folder.path) \(number)")
    }
    let clock = JoinClock(times, plan, start: PartJoiner.start)
    let first = (plan.pictures(ofPart: number)?.lowerBound ?? 0) - plan.pictures.lowerBound
    let isLast = number + 1 == plan.cuts.count

    /// Media times of the sample at a place in decoding order, in nanoseconds of the movie.
    func time(_ time: ClockTime) -> Int64 {
      Int64(clamping: time.nanoseconds) - Int64(clamping: PartJoiner.start.nanoseconds)
    }
    let units = TrackClock(timescale: head.video.track.timescale)
    func decodeTime(_ sample: Int) -> Int64 {
      units.units(time(clock.decodeTime(sample, depth: depth)))
    }
    // Numbers of fragments rise from piece to piece: none has more fragments than pictures. The
    // index, and with it the times in all pieces, depends on the first sample of each track.
    var writer = try head.writer(
      firstSequenceNumber: UInt32(clamping: first + 1), decodeTime: decodeTime(0),
      presentationTime: units.units(time(clock.time(0))))
    let index = try writer.initializationSegment()
    _ = try writer.finishFragment()
    if number == 0 { try file.write(index) }

    var others = head.others.map { track in
      var track = track
      if number > 0 { track.skip(before: time(clock.time(first))) }
      return track
    }
    for range in Self.fragments(part.samples, times: { clock.time(first + $0) }) {
      let isEnd = range.upperBound == part.samples.count
      for index in range {
        let sample = part.samples[index]
        let picture = first + sample.picture
        let decode = decodeTime(first + index)
        let duration =
          picture + 1 == plan.pictures.count ? part.lastDuration : clock.duration(picture)
        try writer.append(
          SampleDescription(
            size: UInt32(clamping: sample.size), decodeTime: decode,
            duration: UInt32(clamping: units.units(Int64(clamping: duration.nanoseconds))),
            compositionOffset: Int32(clamping: units.units(time(clock.time(picture))) &- decode),
            isSync: sample.isSync,
            dependency: sample.isDroppable ? .disposable : SampleDependency()),
          to: head.video.number)
      }
      var next: [TrackID: Int64] = [:]
      if !(isEnd && isLast) { next[head.video.number] = decodeTime(first + range.upperBound) }
      var data: [[(range: Range<UInt64>, file: OpenedFile)]] = [
        range.map { index in
          let sample = part.samples[index]
          return (sample.offset..<sample.offset + UInt64(sample.size), part.file)
        }
      ]
      let end = isEnd && isLast ? Int64.max : time(clock.time(first + range.upperBound))
      for index in others.indices {
        let ranges = try others[index].append(before: end, to: &writer)
        data.append(ranges.map { ($0, head.file) })
        next[others[index].number] = others[index].nextDecodeTime
      }
      guard let fragment = try writer.finishFragment(nextDecodeTimes: next) else { continue }
      try file.write(fragment.header)
      // The tracks have the order in which the writer knows them.
      data.insert(data.removeFirst(), at: head.videoIndex)
      for bytes in data.joined() { try file.copy(bytes.range, of: bytes.file) }
    }
  }

  /// Returns the samples of each fragment: whole groups of pictures.
  private static func fragments(
    _ samples: [JoinedPart.Sample], times: (Int) -> ClockTime
  ) -> [Range<Int>] {
    var starts = [0]
    for (index, sample) in samples.enumerated() where index > 0 && sample.isSync {
      let start = samples[starts[starts.count - 1]]
      if times(sample.picture) >= times(start.picture) + fragmentDuration { starts.append(index) }
    }
    return zip(starts, starts.dropFirst() + [samples.count]).map { $0..<$1 }
  }
}
