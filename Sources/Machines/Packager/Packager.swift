// SPDX-License-Identifier: MPL-2.0

internal import ISOBMFF

/// Cuts coded streams into segments that start at the same times in all renditions, and lists them
/// in HLS playlists and DASH manifests over the same CMAF files (ISO/IEC 23000-19).
///
/// The packager does no I/O and reads no clock: it takes samples and returns the files to write,
/// with their paths, in order.
///
/// ```swift
/// var packager = Packager<[UInt8]>(settings)
/// let video = try packager.add(rendition)
/// for sample in samples { try packager.append(sample, to: video) }
/// try packager.end(video)
/// for output in packager.takeOutputs() { … }
/// ```
///
/// One rendition leads: the first video, or the first rendition if there is no video. A segment
/// starts at the leader's first keyframe that is at least a target duration after the start of the
/// previous segment; the others are cut at the same time.
public struct Packager<Payload: Sendable>: Sendable {
  /// The output for this type of payload.
  public typealias Output = PackagerOutput<Payload>

  private let settings: PackagerSettings
  private var tracks: [RenditionTrack<Payload>] = []
  /// Starts of the segments that are still open in some rendition.
  private var starts: [SegmentStart] = []
  /// The segment number of the first of `starts`.
  private var firstStart: UInt64 = 0
  /// Latest time of the leading rendition: later segments do not start before it.
  private var frontier = Int64.min
  private var lastSync: Int64?
  /// Time from which the next keyframe starts a discontinuity, because a rendition other than the
  /// leader has changed.
  private var nextDiscontinuity: Int64?
  /// Whether a requested keyframe did not arrive.
  private var hasLateKeyframes = false
  private var outputs: [Output] = []
  private var hasEnded = false
  /// Added to the given times to obtain those in the files, in nanoseconds: some players fail when
  /// times restart within a playlist.
  private var offset: Int64 = 0
  /// Whether the renditions have agreed on the segment number to continue with.
  private var isAligned = false
  private var multivariant: MultivariantPlaylist?

  /// Wall-clock time of presentation time 0, in nanoseconds since 1970-01-01 00:00 UTC; nil if
  /// unknown.
  public var date: Int64?

  /// Maximum number of segments a rendition may lag before the playlists continue without it.
  private static var patience: Int { 3 }

  /// Creates a packager without renditions. Settings out of range are clamped.
  public init(_ settings: PackagerSettings) {
    self.settings = settings.bounded
  }

  /// Adds a rendition before its first sample, starting at the currently open segment.
  ///
  /// - Parameter earlier: State of an earlier run, which is listed before the new segments.
  /// - Returns: The index of the rendition.
  /// - Throws: A ``MovieWriterError`` if the track has no timescale; a ``PackagerError`` if the
  ///   earlier run does not match that of the other renditions.
  public mutating func add(
    _ rendition: Rendition, continuing earlier: EarlierRun? = nil
  ) throws -> Int {
    hasEnded = false
    var track = try RenditionTrack<Payload>(rendition, settings, firstSequence: firstStart)
    if let earlier { track.resume(earlier, to: &outputs) }
    if isAligned { try track.begin(with: firstStart, at: offset) }
    tracks.append(track)
    return tracks.count - 1
  }

  /// Makes all renditions continue with the same segment number, and with times after those of the
  /// earlier run.
  private mutating func align() throws {
    guard !isAligned else { return }
    firstStart = tracks.map(\.sequence).max() ?? firstStart
    // No segment is longer than the target duration after rounding to seconds.
    let target = tracks.map(\.playlist.targetDuration).max() ?? settings.targetDuration
    let longest = Int64(target) * 1_000_000_000 + 500_000_000
    let (end, overflow) = longest.multipliedReportingOverflow(by: Int64(clamping: firstStart))
    // After centuries, times restart.
    offset = overflow || end > 1 << 60 ? 0 : end
    for index in tracks.indices { try tracks[index].begin(with: firstStart, at: offset) }
    // If this fails, it fails for every sample, and nothing is listed.
    isAligned = true
  }

  /// Returns the pending outputs, which must be carried out in this order, and removes them.
  public mutating func takeOutputs() -> [Output] {
    defer { outputs = [] }
    return offset == 0 ? outputs : outputs.map { $0.moved(by: -offset) }
  }

  /// Appends the next sample of a rendition, in decoding order.
  ///
  /// - Throws: A ``PackagerError``, or a ``MovieWriterError`` if its times are invalid.
  public mutating func append(_ sample: PackagedSample<Payload>, to index: Int) throws {
    guard tracks.indices.contains(index), !tracks[index].hasEnded else { return }
    try align()
    let sample = sample.moved(by: offset)
    let isChange = tracks[index].changesNext
    if index == leader {
      lead(sample, startsDiscontinuity: isChange)
    } else if isChange, !hasDiscontinuity(aheadOf: tracks[index]) {
      nextDiscontinuity = nextDiscontinuity ?? sample.presentationTime
    }
    try tracks[index].append(sample)
    try advance()
  }

  /// Changes the format of a rendition, such as picture size or parameter sets, from its next
  /// sample on, which must be a keyframe. All renditions get a discontinuity there, while times
  /// continue.
  ///
  /// - Parameter rendition: The new format, with the same name and media type.
  /// - Throws: A ``MovieWriterError`` if the track has no timescale.
  public mutating func replace(_ index: Int, by rendition: Rendition) throws {
    guard tracks.indices.contains(index), !tracks[index].hasEnded else { return }
    try tracks[index].replace(by: rendition)
  }

  /// Ends a rendition. When all have ended, the playlists end too.
  public mutating func end(_ index: Int) throws {
    guard tracks.indices.contains(index), !tracks[index].hasEnded else { return }
    tracks[index].end()
    // The new leader may already have samples that start segments.
    if let leader {
      for sample in tracks[leader].pending { lead(sample) }
      try advance()
    } else {
      try finish()
    }
  }

  private var leader: Int? {
    tracks.firstIndex { $0.rendition.isVideo && !$0.hasEnded }
      ?? tracks.firstIndex { !$0.hasEnded }
  }

  // MARK: Segment starts

  private mutating func lead(
    _ sample: PackagedSample<Payload>, startsDiscontinuity isChange: Bool = false
  ) {
    let time = sample.presentationTime
    defer { frontier = max(frontier, time) }
    guard let last = starts.last?.time else { return begin(at: time) }
    guard sample.isSync else { return }
    defer { lastSync = time }
    let distance = time &- last
    guard distance > 0 else { return }
    // Times of renditions from one source may differ by rounding.
    if isChange || nextDiscontinuity.map({ time >= $0 &- 1_000_000 }) ?? false {
      nextDiscontinuity = nil
      return begin(at: time, startsDiscontinuity: true)
    }
    let half: Int64 = 500_000_000
    // A stream that only outlasts the former leader by a little does not get another segment for
    // that.
    let isVideo = leader.map { tracks[$0].rendition.isVideo } ?? false
    let isFollower = tracks.contains { $0.hasEnded && ($0.rendition.isVideo || !isVideo) }
    let target = settings.target + (isFollower ? half * 4 / 5 : -1_000_000)
    // With irregular keyframes, a segment ends early if it would otherwise get too long.
    let isFree = !settings.requestsKeyframes || hasLateKeyframes
    let next = time &+ (time &- (lastSync ?? last))
    if distance >= target || isFree && next > last &+ settings.target &+ half {
      hasLateKeyframes = hasLateKeyframes || distance > settings.target &+ half
      begin(at: time)
    }
  }

  private mutating func begin(at time: Int64, startsDiscontinuity: Bool = false) {
    starts.append(SegmentStart(time: time, startsDiscontinuity: startsDiscontinuity))
    if settings.requestsKeyframes { outputs.append(.keyframe(at: time &+ settings.target)) }
  }

  /// Whether a discontinuity is already scheduled for a rendition.
  private func hasDiscontinuity(aheadOf track: RenditionTrack<Payload>) -> Bool {
    starts.dropFirst((position(of: track) ?? -1) + 1).contains { $0.startsDiscontinuity }
  }

  /// Cuts and lists all complete segments and parts.
  private mutating func advance() throws {
    var hasNews = false
    for index in tracks.indices {
      while let position = position(of: tracks[index]), position + 1 < starts.count {
        let next = starts[position + 1]
        let cut = tracks[index].cut(before: next)
        let isLate = starts.count - position > Self.patience + 1
        guard cut != nil || tracks[index].hasEnded || isLate else { break }
        let waiting = tracks[index].pending
        let count =
          cut
          ?? (isLate && !tracks[index].hasEnded
            ? waiting.prefix { $0.presentationTime < next.time }.count : waiting.count)
        try tracks[index].closeSegment(
          count, start: starts[position].time, end: next, date: listedDate, to: &outputs)
        try list(index)
        hasNews = true
      }
      guard settings.partDuration > 0, position(of: tracks[index]) != nil else { continue }
      let before = tracks[index].chunks.count
      try tracks[index].cutParts(before: frontier, date: listedDate, to: &outputs)
      if tracks[index].chunks.count != before { try list(index) }
    }
    while starts.count > 1, tracks.allSatisfy({ $0.sequence > firstStart }) {
      starts.removeFirst()
      firstStart += 1
    }
    if hasNews { listAll() }
  }

  /// Returns the index in `starts` of a track's open segment; nil if it has not been determined.
  private func position(of track: RenditionTrack<Payload>) -> Int? {
    guard track.sequence >= firstStart else { return nil }
    let position = Int(clamping: track.sequence - firstStart)
    return position < starts.count ? position : nil
  }

  private mutating func finish() throws {
    guard !hasEnded else { return }
    hasEnded = true
    for index in tracks.indices {
      if let position = position(of: tracks[index]) {
        try tracks[index].closeSegment(
          tracks[index].pending.count, start: starts[position].time, end: nil, date: listedDate,
          to: &outputs)
      }
    }
    // Renditions share one target duration (RFC 8216 6.2.4).
    let longest = tracks.map(\.playlist.longestDuration).max() ?? 0
    for index in tracks.indices {
      tracks[index].endPlaylists(longest: longest)
      try list(index)
    }
    listAll()
  }

  private var listedDate: Int64? { settings.hasDates ? fileDate : nil }

  /// Wall-clock time of time 0 in the files.
  private var fileDate: Int64? { date.map { $0 &- offset } }

  // MARK: Playlists

  /// Outputs the playlists of a rendition.
  private mutating func list(_ index: Int) throws {
    if settings.partDuration > 0 {
      let largest = tracks.map(\.partTarget).max() ?? settings.partDuration
      let lowLatency = LowLatency(
        partTarget: 0, partHoldBack: largest * 3,
        canSkipUntil: UInt64(settings.target) * 6)
      let reports = tracks.indices.filter { $0 != index }.compactMap { other in
        tracks[other].last.map { (tracks[other].playlistPath, $0.sequence, $0.part) }
      }
      tracks[index].setLowLatency(lowLatency, reports: reports)
    }
    guard !tracks[index].playlist.segments.isEmpty || tracks[index].last != nil else { return }
    write(.mediaPlaylist, tracks[index].playlist.text, to: tracks[index].playlistPath)
    if let iFrames = tracks[index].iFrames, !iFrames.segments.isEmpty {
      write(.mediaPlaylist, iFrames.text, to: tracks[index].iFramePlaylistPath)
    }
  }

  /// Outputs the multivariant playlist and the manifest if they have changed and each rendition has
  /// a segment.
  private mutating func listAll() {
    let listed = tracks.filter(\.hasOwnSegments)
    guard !listed.isEmpty, listed.count == tracks.count || hasEnded else { return }
    if let path = settings.names.multivariantPlaylist {
      let playlist = MultivariantPlaylist(listed, path: path)
      if playlist != multivariant {
        multivariant = playlist
        write(.presentation, playlist.text, to: path)
        if playlist.hasLayouts, let flat = playlist.withoutLayouts {
          write(.presentation, flat.text, to: FileNames.flat(path))
        }
      }
    }
    if let path = settings.names.manifest, let manifest = manifest(listed, path: path) {
      write(.presentation, manifest.text, to: path)
    }
  }

  private mutating func write(_ kind: Output.FileKind, _ text: String, to path: String) {
    outputs.append(.file(kind, path: path, [.bytes(Array(text.utf8))]))
  }

  private func manifest(
    _ tracks: [RenditionTrack<Payload>], path: String
  ) -> MediaPresentation? {
    let target = UInt64(settings.target)
    var kind = MediaPresentation.Kind.onDemand
    if !hasEnded || !settings.hasEnd {
      guard let date = fileDate else { return nil }
      var live = MediaPresentation.Live(
        availabilityStartTime: date, publishTime: date &+ max(frontier, 0),
        minimumUpdatePeriod: target,
        timeShiftBufferDepth: settings.kind == .live && settings.playlistLength > 0
          ? target * UInt64(settings.playlistLength) : nil)
      if settings.partDuration > 0 {
        live.availabilityTimeOffset = target - min(target, settings.partDuration)
      }
      kind = .live(live)
    }
    var presentation = MediaPresentation(kind, minimumBufferTime: target)
    // All renditions have the same discontinuities.
    let starts = Set(tracks.flatMap { $0.periods.map(\.start) }).sorted()
    presentation.periods = starts.compactMap { start in
      let representations = tracks.compactMap { track in
        track.periods.first { $0.start == start }.flatMap {
          track.representation($0, path: path)
        }
      }
      return representations.isEmpty
        ? nil : MediaPresentation.Period(UInt64(clamping: start), representations)
    }
    return presentation
  }
}

extension PackagedSample {
  fileprivate func moved(by offset: Int64) -> PackagedSample {
    guard offset != 0 else { return self }
    var sample = self
    sample.presentationTime = sample.presentationTime &+ offset
    sample.decodeTime = sample.decodeTime &+ offset
    return sample
  }
}

extension PackagerOutput {
  fileprivate func moved(by offset: Int64) -> PackagerOutput {
    switch self {
    case .segment(var segment):
      segment.start = segment.start &+ offset
      return .segment(segment)
    case .keyframe(let time): return .keyframe(at: time &+ offset)
    case .file, .removal: return self
    }
  }
}

/// The common start of a segment in all renditions.
struct SegmentStart: Equatable, Sendable {
  /// Presentation time in nanoseconds.
  var time: Int64
  /// Whether the format of a rendition changes here.
  var startsDiscontinuity = false
}
