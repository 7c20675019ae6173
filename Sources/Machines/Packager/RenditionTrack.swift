// SPDX-License-Identifier: MPL-2.0

internal import ISOBMFF

/// The state of one rendition: pending samples, the chunks of the open segment, and the playlists.
struct RenditionTrack<Payload: Sendable>: Sendable {
  typealias Output = PackagerOutput<Payload>

  /// That of the open segment.
  var format: RenditionFormat<Payload>
  /// The name of a rendition stays when its format changes.
  let names: RenditionNames
  let settings: PackagerSettings
  private(set) var pending = PendingSamples<Payload>()
  /// The texts of subtitles, which have no samples.
  var cues = PendingCues()
  /// Whether the next segment starts a discontinuity.
  var startsDiscontinuity = false
  private(set) var hasEnded = false
  /// Whether the rendition gives nothing at present and is not waited for.
  private(set) var isSilent = false
  /// Whether samples of the silent rendition arrive again.
  var isReturning = false
  /// Whether the rendition is silent because it has no keyframe where segments begin: others do not
  /// prepare for its return before there is one.
  private(set) var isLost = false
  /// Chunks of the open segment.
  private(set) var chunks: [Chunk] = []
  /// Presentation time at which the last segment ended, in nanoseconds.
  private(set) var end = Int64.min
  var playlist: MediaPlaylist
  var iFrames: MediaPlaylist?
  /// Whether the next entry of that playlist starts a discontinuity.
  var startsKeyframeDiscontinuity = false
  var bitRate: BitRate
  var iFrameBitRate: BitRate
  /// Periods between discontinuities that have listed segments; the last one is open.
  var periods: [RenditionPeriod] = []
  var part: PartLength
  /// Longest segment so far, in nanoseconds.
  private(set) var longestSegment: UInt64 = 0
  var initializationCount: UInt64 = 0
  private var fragmentNumber: UInt32 = 0
  /// Number of listed segments from an earlier run.
  var earlierCount = 0
  var unlisted = UnlistedFiles()
  /// Tags of markers that are not listed yet.
  var markerTags: [MarkerTag] = []
  /// ID3 tags that are not written yet.
  var metadata: [TimedMetadata] = []
  /// Whether there have been some, which manifests announce.
  var hasMetadata = false
  /// Files of an earlier run whose segments are not listed any more, and their duration.
  var replaced: [[String]] = []
  var replacedDuration: Int64 = 0

  private var lastDecodeTime: Int64?
  /// Total size of the pending samples and the open segment, in bytes.
  private var openSize: UInt64 = 0

  /// In nanoseconds.
  private static var day: Int64 { 86_400_000_000_000 }
  /// Maximum size of a segment in memory, in bytes.
  private static var maximumSize: UInt64 { 1 << 30 }

  var rendition: Rendition { format.rendition }
  var clock: TrackClock { format.clock }
  /// Number of the open segment.
  var sequence: UInt64 { playlist.nextSequence }

  /// Creates the state of a rendition without samples.
  ///
  /// - Parameter key: The key of the first segment.
  init(
    _ rendition: Rendition, _ settings: PackagerSettings, firstSequence: UInt64,
    key: SegmentKey<Payload>
  ) throws {
    format = try RenditionFormat(rendition, key, firstNumber: 1)
    self.settings = settings
    part = PartLength(settings, rendition)
    names = RenditionNames(settings.names, rendition)
    let kind: MediaPlaylist.Kind = settings.kind == .live ? .live : .event
    playlist = MediaPlaylist(
      kind, targetDuration: settings.targetDuration, mediaSequence: firstSequence)
    if rendition.hasIFramePlaylist {
      iFrames = MediaPlaylist(kind, targetDuration: settings.targetDuration)
      iFrames?.isIFramesOnly = true
    }
    bitRate = BitRate(targetDuration: settings.targetDuration)
    iFrameBitRate = BitRate(targetDuration: settings.targetDuration)
    periods = [
      RenditionPeriod(start: 0, rendition: format.rendition, firstSequence: firstSequence)
    ]
  }

  // MARK: Silence

  /// Whether the rendition's keyframes may start segments.
  var mayLead: Bool { !hasEnded && rendition.subtitles == nil && (!isSilent || isReturning) }

  /// Notes that the rendition gives nothing. The pending samples are written.
  mutating func fallSilent() {
    (isSilent, isReturning, isLost) = (true, false, false)
    pending.fallSilent()
  }

  /// Passes over a rendition whose next segment would begin without a keyframe, up to its next one
  /// after the segments of the others; returns whether that is so.
  mutating func lose(from time: Int64) -> Bool {
    guard rendition.isVideo, !isSilent else { return false }
    fallSilent()
    isLost = true
    pending.drop(from: time)
    return true
  }

  /// Continues with the next sample, at a discontinuity.
  mutating func comeBack() throws {
    (isSilent, isReturning, isLost) = (false, false, false)
    pending.comeBack()
    try replace(by: pending.nextFormat ?? rendition)
  }

  /// Continues with the open segment, if that starts a discontinuity at the next sample and nothing
  /// of it is written; returns whether it is so.
  mutating func comeBack(at time: Int64, with start: SegmentStart) -> Bool {
    guard startsDiscontinuity, start.startsDiscontinuity, chunks.isEmpty, pending.isEmpty,
      (time &- start.time).magnitude <= slack.magnitude
    else { return false }
    (isSilent, isReturning, isLost) = (false, false, false)
    return true
  }

  /// Drops the samples after a silence that no player could show before a discontinuity.
  mutating func dropBeforeReturn(at time: Int64) {
    pending.dropBeforeReturn(at: time, slack: slack)
  }

  // MARK: Changes

  /// Whether the next sample is the first one in a new format.
  var changesNext: Bool { pending.changesNext }

  /// Changes the format from the next sample on.
  mutating func replace(by rendition: Rendition) throws {
    // What it could not write would be found out where its samples are.
    _ = try RenditionFormat(rendition, format.key, firstNumber: 1)
    pending.change(to: rendition)
    // Before the first sample, there is nothing to keep apart.
    if lastDecodeTime == nil { try change() }
  }

  /// Applies the format change at the first pending sample, if there is one.
  private mutating func change() throws {
    if let next = pending.takeChange() { try change(to: next, key: format.key) }
  }

  /// Changes format and key before anything of the open segment is written.
  private mutating func change(to rendition: Rendition, key: SegmentKey<Payload>) throws {
    format = try RenditionFormat(rendition, key, firstNumber: fragmentNumber &+ 1)
    part.change(frame: rendition.frameDuration)
    if periods.last?.timeline.isEmpty ?? true {
      let last = periods.popLast()
      periods.append(
        RenditionPeriod(
          start: last?.start ?? 0, rendition: format.rendition, firstSequence: sequence))
    }
  }

  /// Encrypts the open segment and those after it by a key, before anything of it is written.
  mutating func encrypt(by key: SegmentKey<Payload>) throws {
    guard key.number != format.key.number, rendition.subtitles == nil else { return }
    try change(to: rendition, key: key)
  }

  /// Starts a new period after a format change in this rendition or another.
  private mutating func beginPeriod(at time: Int64) throws {
    periods.append(RenditionPeriod(start: time, rendition: rendition, firstSequence: sequence))
    periods[periods.count - 1].initializationPath =
      names.initialization(max(initializationCount, 1) - 1)
    startsDiscontinuity = true
    try change()
  }

  /// Changes what players are told of subtitles.
  mutating func describe(as subtitles: Rendition.Subtitles) {
    guard rendition.subtitles != nil else { return }
    format.rendition.content = .subtitles(subtitles)
    for index in periods.indices { periods[index].rendition.content = rendition.content }
  }

  /// - Throws: A ``PackagerError``.
  mutating func append(_ sample: PackagedSample<Payload>) throws(PackagerError) {
    let last = lastDecodeTime ?? sample.decodeTime
    let (distance, overflow) = sample.decodeTime.subtractingReportingOverflow(last)
    guard !overflow, distance <= Self.day else { throw .timeJump(rendition: rendition.name) }
    openSize += UInt64(sample.size)
    guard openSize <= Self.maximumSize else {
      throw .noKeyframe(rendition: rendition.name, bytes: openSize)
    }
    lastDecodeTime = sample.decodeTime
    pending.append(sample)
  }

  mutating func finish() { hasEnded = true }

  /// Returns the index of the first pending sample of the segment that starts at `start`; nil if it
  /// has not arrived.
  func cut(before start: SegmentStart) -> Int? {
    guard rendition.subtitles == nil else { return hasCues(before: start.time) ? 0 : nil }
    return pending.cut(before: start, isVideo: rendition.isVideo, slack: slack)
  }

  // MARK: Chunks

  /// Cuts all complete parts off the pending samples.
  ///
  /// - Parameters:
  ///   - frontier: Samples from this time on may belong to the next segment.
  ///   - date: Wall-clock time of presentation time 0, in nanoseconds since 1970-01-01 00:00 UTC.
  mutating func cutParts(
    before frontier: Int64, date: Int64?, to outputs: inout [Output]
  ) throws {
    guard let partLength = part.sampleCount else { return }
    while true {
      let available = pending.samples.prefix(pending.unchangedCount).prefix {
        $0.presentationTime < frontier
      }.count
      let length = pending.chunkLength(
        partLength, of: pending.count, part, isSplitAtKeyframes: rendition.hasIFramePlaylist)
      // The next sample gives the duration of the last one.
      guard length <= available, length < pending.count, !hasLongHole(after: length) else { return }
      try cutChunk(length, date: date, to: &outputs)
    }
  }

  /// Writes the first pending samples.
  ///
  /// - Parameter end: Time up to which the last sample of the segment may last; nil if the segment
  ///   continues.
  private mutating func cutChunk(
    _ count: Int, until end: Int64? = nil, date: Int64?, to outputs: inout [Output]
  ) throws {
    guard let first = pending.first else { return }
    var content: [Output.Block] = []
    for sample in pending.samples.prefix(count) {
      let (payload, problem) = try format.append(sample)
      content.append(.payload(payload))
      if let problem {
        outputs.append(.encryptedHeaders(rendition: rendition.name, problem))
      }
    }
    try writeInitialization(to: &outputs)
    var options = FragmentOptions()
    options.startsSegment = chunks.isEmpty
    options.continuesFragment = !chunks.isEmpty
    let ends = pending.samples.prefix(count).map {
      $0.presentationTime &+ Int64(clamping: $0.duration)
    }
    options.messages = takeMessages(before: ends.max() ?? .min)
    var next: [TrackID: Int64] = [:]
    if pending.count > count {
      let time = pending.nextDecodeTime(after: count, until: end, slack: 2 * slack)
      next[format.id] = clock.units(time)
    }
    guard let fragment = try format.writer.finishFragment(options, nextDecodeTimes: next) else {
      return
    }
    let earliest = pending.samples.prefix(count).map(\.presentationTime).min() ?? 0
    pending.removeFirst(count)
    let chunk = Chunk(
      fragment: fragment, content: content, time: first.presentationTime,
      duration: clock.nanoseconds(fragment.parts.first?.duration ?? 0), earliest: earliest)
    add(chunk, as: chunk.blocks, date: date, to: &outputs)
  }

  /// Adds a chunk to the open segment, and lists it if there are parts.
  ///
  /// - Parameter blocks: The content of the part's file.
  mutating func add(
    _ chunk: Chunk, as blocks: [Output.Block], date: Int64?, to outputs: inout [Output]
  ) {
    fragmentNumber = chunk.fragment.sequenceNumber
    chunks.append(chunk)
    guard settings.partDuration > 0 else { return }
    let path = names.part(chunks.count - 1, of: sequence)
    outputs.append(.file(.segment, path: path, blocks))
    if chunks.count == 1 {
      playlist.describeOpenSegment(as: segment(at: chunk.time, date: date))
    }
    playlist.append(
      PartialSegment(
        names.address(path), duration: part.listed(chunk.duration),
        isIndependent: chunk.startsWithSync))
    hintNextPart()
  }

  // MARK: Segments

  /// Returns the known properties of the open segment.
  private func segment(at time: Int64, date: Int64?) -> MediaSegment {
    var segment = MediaSegment(
      names.address(names.segment(sequence)), duration: 0,
      map: rendition.subtitles == nil ? format.initialization : nil)
    segment.programDateTime = date.map { $0 &+ time }
    segment.startsDiscontinuity = startsDiscontinuity
    segment.keyTags = rendition.key?.keyTags ?? []
    return segment
  }

  /// Ends the open segment with the first `count` pending samples.
  ///
  /// - Parameters:
  ///   - start: Intended start in nanoseconds.
  ///   - next: Start of the next segment; nil at the end of the stream.
  ///   - following: Start of the one after that; nil if it is not known.
  ///   - date: Wall-clock time of presentation time 0, in nanoseconds since 1970-01-01 00:00 UTC.
  ///   - markerOffset: Added to the times of markers to obtain those in the files.
  mutating func closeSegment(
    _ count: Int, start: Int64, end next: SegmentStart?, following: SegmentStart? = nil,
    date: Int64?, markerOffset: Int64, to outputs: inout [Output]
  ) throws {
    // At the end of a stream there may be samples in a new format without a discontinuity, which no
    // player could decode; they are dropped.
    var rest = min(count, pending.unchangedCount)
    let end = next?.time
    // A rendition's segments are as long as those of the others; parts could become longer than
    // promised.
    if isSilent, rendition.isVideo, settings.partDuration == 0, let end {
      pending.holdLast(of: rest, until: end)
    }
    // What a segment without a keyframe holds, no player could show.
    if rendition.isVideo, chunks.isEmpty, rest > 0, let sample = pending.first, !sample.isSync {
      if !isSilent { outputs.append(.loss(rendition: rendition.name)) }
      pending.removeFirst(rest)
      rest = 0
    }
    let limit = next.map { sampleLimit(after: rest, until: $0, following: following) }
    while rest > 0 {
      let length = pending.chunkLength(
        part.sampleCount ?? rest, of: rest, part, isSplitAtKeyframes: rendition.hasIFramePlaylist)
      try cutChunk(length, until: limit, date: date, to: &outputs)
      rest -= length
    }
    if let end { try cutText(until: end, from: start, date: date, to: &outputs) }
    // A gap overlaps neither the samples before it nor those after it.
    let first = chunks.first?.time ?? (startsDiscontinuity ? start : max(start, self.end))
    // A sample of unknown duration is listed too.
    let duration =
      chunks.isEmpty
      ? next.map {
        let end = gapEnd(from: first, until: $0, following: following)
        return UInt64(clamping: max(end &- first, 1_000_000))
      } ?? 0
      : max(chunks.reduce(0) { $0 + $1.duration }, 1_000_000)
    defer { openSize = pending.size }
    guard duration > 0 else { return }
    var segment = segment(at: first, date: date)
    segment.duration = duration
    segment.isGap = chunks.isEmpty
    // Before anything of a format is written, a playlist's map continues: it is still to be listed
    // when the segments before the gap have left the window.
    if segment.isGap, rendition.subtitles == nil {
      segment.map = segment.map ?? playlist.segments.last?.map
    }
    startsDiscontinuity = false
    if !chunks.isEmpty {
      writeSegment(from: first, until: end, to: &outputs)
      bitRate.add(bytes: chunks.reduce(0) { $0 + $1.fragment.size }, duration: duration)
    }
    listKeyframes(of: segment)
    let startUnits =
      chunks.first?.fragment.parts.first?.decodeTime
      ?? UInt64(clamping: clock.units(first))
    var listed = MediaPresentation.Representation.Segment(
      start: startUnits,
      duration: chunks.isEmpty
        ? UInt64(clamping: clock.units(Int64(clamping: duration)))
        : chunks.reduce(0) { $0 + ($1.fragment.parts.first?.duration ?? 0) },
      isGap: chunks.isEmpty)
    listed.hasLeadingPictures = chunks.contains { $0.earliest < first }
    periods[periods.count - 1].timeline.append(listed)
    outputs.append(
      .segment(
        PackagedSegment(
          rendition: rendition.name, path: chunks.isEmpty ? nil : names.segment(sequence),
          start: first, duration: duration,
          size: chunks.reduce(0) { $0 + $1.fragment.size })))
    // Players of keyframes have no use for them.
    (segment.ranges, segment.cues) = takeTags(
      from: first, to: end, offset: markerOffset, date: date)
    playlist.append(segment)
    longestSegment = max(longestSegment, duration)
    self.end = first &+ Int64(clamping: duration)
    cues.remove(before: self.end)
    chunks = []
    if let next, next.startsDiscontinuity { try beginPeriod(at: next.time) }
    removeOld(at: self.end, to: &outputs)
    hintNextPart()
  }
}
