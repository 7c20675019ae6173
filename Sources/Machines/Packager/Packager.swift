// SPDX-License-Identifier: MPL-2.0

internal import ISOBMFF

/// Cuts coded streams into segments that start together in all renditions, and lists them: HLS and
/// DASH over the same CMAF files (ISO/IEC 23000-19).
///
/// It opens no file and reads no clock: it is given samples, and says what is to be written, under
/// which names, in which order.
///
/// ```swift
/// var packager = Packager<[UInt8]>(settings)
/// let video = try packager.add(rendition)
/// for sample in samples { try packager.append(sample, to: video) }
/// try packager.end(video)
/// for output in packager.takeOutputs() { … }
/// ```
///
/// One rendition leads: the first video, or the first of all where there is none. A segment begins at
/// its first keyframe that is a target duration behind the last one; the others are cut at the same
/// time.
public struct Packager<Payload: Sendable>: Sendable {
  public typealias Output = PackagerOutput<Payload>

  private let settings: PackagerSettings
  private var tracks: [RenditionTrack<Payload>] = []
  /// Where segments start that are open in some rendition.
  private var starts: [SegmentStart] = []
  /// The number of the first of `starts`.
  private var firstStart: UInt64 = 0
  /// The latest time of the rendition that leads: no later segment starts before it.
  private var frontier = Int64.min
  private var lastSync: Int64?
  /// The next keyframe from this time on begins a discontinuity: a rendition has changed that does not
  /// lead.
  private var nextDiscontinuity: Int64?
  /// No keyframe came when one was asked for.
  private var hasLateKeyframes = false
  private var outputs: [Output] = []
  private var hasEnded = false
  /// Between the times that are given and those in the files, in nanoseconds: players do not take well to
  /// times that begin anew in one playlist.
  private var offset: Int64 = 0
  /// Whether the renditions have the number that they go on with.
  private var isAligned = false
  private var multivariant: MultivariantPlaylist?

  /// The wall-clock time of the presentation's time 0, in nanoseconds since 1970-01-01 00:00 UTC; nil
  /// where it is not known.
  public var date: Int64?

  /// So many segments others may be behind before they are listed without what is missing.
  private static var patience: Int { 3 }

  public init(_ settings: PackagerSettings) {
    self.settings = settings.bounded
  }

  /// Adds a rendition, before its first sample: at the segment that is open now. Gives its number.
  ///
  /// - Parameter earlier: what an earlier run has left of it, to be listed in front.
  /// - Throws: a ``MovieWriterError`` where the track has no timescale, a ``PackagerError`` where the
  ///   earlier run does not go together with that of the others.
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

  /// Lets all renditions go on with the same number, and with times behind those of the earlier run.
  private mutating func align() throws {
    guard !isAligned else { return }
    firstStart = tracks.map(\.sequence).max() ?? firstStart
    // No segment was longer, when rounded to seconds.
    let target = tracks.map(\.playlist.targetDuration).max() ?? settings.targetDuration
    let longest = Int64(target) * 1_000_000_000 + 500_000_000
    let (end, overflow) = longest.multipliedReportingOverflow(by: Int64(clamping: firstStart))
    // Times of centuries begin anew.
    offset = overflow || end > 1 << 60 ? 0 : end
    for index in tracks.indices { try tracks[index].begin(with: firstStart, at: offset) }
    // Where that fails, it fails for every sample: nothing is listed then.
    isAligned = true
  }

  /// What is to be done, in this order; once.
  public mutating func takeOutputs() -> [Output] {
    defer { outputs = [] }
    return offset == 0 ? outputs : outputs.map { $0.moved(by: -offset) }
  }

  /// Adds the next sample of a rendition, in decoding order.
  ///
  /// - Throws: a ``PackagerError``, or a ``MovieWriterError`` where its times make no sense.
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

  /// From its next sample on, which has to be a keyframe, a rendition is coded in another way: another
  /// size, other parameter sets. All renditions have a discontinuity there, and the times go on.
  ///
  /// - Parameter rendition: of the same name and kind.
  /// - Throws: a ``MovieWriterError`` where the track has no timescale.
  public mutating func replace(_ index: Int, by rendition: Rendition) throws {
    guard tracks.indices.contains(index), !tracks[index].hasEnded else { return }
    try tracks[index].replace(by: rendition)
  }

  /// No more samples will come for a rendition. When that is so for all, the playlists end.
  public mutating func end(_ index: Int) throws {
    guard tracks.indices.contains(index), !tracks[index].hasEnded else { return }
    tracks[index].end()
    // Another one leads on with what it has.
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

  // MARK: Where segments start

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
    // Renditions of one source may differ by rounding.
    if isChange || nextDiscontinuity.map({ time >= $0 &- 1_000_000 }) ?? false {
      nextDiscontinuity = nil
      return begin(at: time, startsDiscontinuity: true)
    }
    let half: Int64 = 500_000_000
    // What is a little longer than what led before needs no segment of its own for it.
    let isVideo = leader.map { tracks[$0].rendition.isVideo } ?? false
    let isFollower = tracks.contains { $0.hasEnded && ($0.rendition.isVideo || !isVideo) }
    let target = settings.target + (isFollower ? half * 4 / 5 : -1_000_000)
    // Where keyframes come as they like, a segment that would be too long ends early.
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

  /// Whether a discontinuity is to come in a rendition already.
  private func hasDiscontinuity(aheadOf track: RenditionTrack<Payload>) -> Bool {
    starts.dropFirst((position(of: track) ?? -1) + 1).contains { $0.startsDiscontinuity }
  }

  /// Cuts whatever can be cut now.
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

  /// Which of `starts` a track's open segment begins at.
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
      tracks[index].endPlaylists()
      try list(index)
    }
    listAll()
  }

  private var listedDate: Int64? { settings.hasDates ? fileDate : nil }

  /// The wall-clock time of time 0 in the files.
  private var fileDate: Int64? { date.map { $0 &- offset } }

  // MARK: Playlists

  /// Writes the playlists of a rendition.
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

  /// Writes what lists all renditions, when each has a segment and something has changed.
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
    // All renditions have their discontinuities together.
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

/// Where a segment starts in all renditions.
struct SegmentStart: Equatable, Sendable {
  /// In nanoseconds.
  var time: Int64
  /// Some rendition is coded in another way from here on.
  var startsDiscontinuity = false
}
