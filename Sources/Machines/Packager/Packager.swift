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
/// One rendition leads: the first video, or the first rendition if there is no video. Its keyframes
/// start segments, and the others are cut at the same time. Renditions that give nothing for a
/// while are passed over if the caller says so: they get gaps, and a discontinuity when they come
/// back.
public struct Packager<Payload: Sendable>: Sendable {
  /// The output for this type of payload.
  public typealias Output = PackagerOutput<Payload>

  private let settings: PackagerSettings
  private var tracks: [RenditionTrack<Payload>] = []
  private var starts: SegmentStarts
  private var outputs: [Output] = []
  private var hasEnded = false
  /// Added to the given times to obtain those in the files, in nanoseconds: some players fail when
  /// times restart within a playlist.
  private var offset: Int64 = 0
  /// Whether the renditions have agreed on the segment number to continue with.
  private var isAligned = false
  private var multivariant: MultivariantPlaylist?

  /// Whether another run is to continue the playlists, so that they are not marked as ended.
  public var isToBeContinued = false

  /// Wall-clock time of presentation time 0, in nanoseconds since 1970-01-01 00:00 UTC; nil if
  /// unknown.
  public var date: Int64?

  /// Maximum number of segments a rendition may lag before the playlists continue without it.
  private static var patience: Int { 3 }

  /// Creates a packager without renditions. Settings out of range are clamped.
  public init(_ settings: PackagerSettings) {
    self.settings = settings.bounded
    starts = SegmentStarts(settings.bounded)
  }

  /// Adds a rendition before its first sample, starting at the currently open segment.
  ///
  /// - Parameter earlier: State of an earlier run, which is listed before the new segments.
  /// - Returns: The index of the rendition.
  /// - Throws: A ``MovieWriterError`` if the track has no timescale; a ``PackagerError`` if the
  ///   earlier run does not match that of the other renditions, or if the names do not tell files
  ///   apart.
  public mutating func add(
    _ rendition: Rendition, continuing earlier: EarlierRun? = nil
  ) throws -> Int {
    if let clash = settings.names.clash(hasSeveral: !tracks.isEmpty) {
      throw PackagerError.sameName(template: clash.template, placeholder: clash.placeholder)
    }
    hasEnded = false
    var track = try RenditionTrack<Payload>(rendition, settings, firstSequence: starts.firstNumber)
    if let earlier { track.resume(earlier, to: &outputs) }
    if isAligned { try track.begin(with: starts.firstNumber, at: offset) }
    tracks.append(track)
    return tracks.count - 1
  }

  /// Makes all renditions continue with the same segment number, and with times after those of the
  /// earlier run.
  private mutating func align() throws {
    guard !isAligned else { return }
    let first = tracks.map(\.sequence).max() ?? starts.firstNumber
    starts.begin(with: first)
    // No segment is longer than the target duration after rounding to seconds.
    let target = tracks.map(\.playlist.targetDuration).max() ?? settings.targetDuration
    let longest = Int64(target) * 1_000_000_000 + 500_000_000
    let (end, overflow) = longest.multipliedReportingOverflow(by: Int64(clamping: first))
    // After centuries, times restart.
    offset = overflow || end > 1 << 60 ? 0 : end
    for index in tracks.indices { try tracks[index].begin(with: first, at: offset) }
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
    if tracks[index].isSilent {
      guard try comesBack(index, with: sample) else { return }
    }
    let isChange = tracks[index].changesNext
    if index == leader {
      lead(sample, isChange: isChange)
    } else if isChange, !starts.hasDiscontinuity(after: tracks[index].sequence) {
      starts.startDiscontinuity(from: sample.presentationTime)
    }
    try tracks[index].append(sample)
    try advance()
  }

  // MARK: Subtitles

  /// Appends the next cue of a subtitle rendition, in the order of their starts. One that comes
  /// after its segment is in the next, if it is still shown then.
  public mutating func append(_ cue: SubtitleCue, to index: Int) throws {
    guard isSubtitles(index) else { return }
    try align()
    var cue = cue
    (cue.start, cue.end) = (cue.start &+ offset, cue.end &+ offset)
    tracks[index].cues.append(cue)
    try advance()
  }

  /// Declares that all cues of a subtitle rendition up to a time, in nanoseconds, have been
  /// appended.
  public mutating func reach(_ time: Int64, of index: Int) throws {
    guard isSubtitles(index) else { return }
    try align()
    tracks[index].cues.reach(time &+ offset)
    try advance()
  }

  /// Changes what players are told of a subtitle rendition.
  public mutating func describe(_ index: Int, as subtitles: Rendition.Subtitles) {
    guard tracks.indices.contains(index) else { return }
    tracks[index].describe(as: subtitles)
  }

  private func isSubtitles(_ index: Int) -> Bool {
    tracks.indices.contains(index) && !tracks[index].hasEnded
      && tracks[index].rendition.subtitles != nil
  }

  // MARK: Silence

  /// Passes over a rendition that gives nothing at present: the others continue without it, and
  /// its playlist has gaps until its next keyframe, which starts a discontinuity in all renditions.
  public mutating func passOver(_ index: Int) throws {
    guard tracks.indices.contains(index), !tracks[index].hasEnded, !tracks[index].isSilent,
      tracks[index].rendition.subtitles == nil
    else { return }
    let wasLeader = index == leader
    tracks[index].fallSilent()
    guard wasLeader else { return }
    starts.endSegmentSoon()
    if let leader { for sample in tracks[leader].pending.samples { lead(sample) } }
    try advance()
  }

  /// Declares that the presentation has reached a time, in nanoseconds, for when every rendition
  /// has been passed over: their playlists have gaps up to then.
  public mutating func pass(to time: Int64) throws {
    guard isAligned, !hasEnded, leader == nil else { return }
    starts.pass(to: time &+ offset)
    try advance()
  }

  /// Whether a rendition that was passed over continues with this sample: with a keyframe after
  /// the start of the latest segment, which the others may have written.
  private mutating func comesBack(
    _ index: Int, with sample: PackagedSample<Payload>
  ) throws -> Bool {
    let last = starts.last ?? .min
    let time = sample.presentationTime
    // It leads again if it is to, so that no other rendition starts a segment just before its
    // keyframe. Without keyframes, that ends.
    tracks[index].isReturning = time &- last < settings.target &* 2
    if sample.isSync, let position = starts.position(of: tracks[index].sequence),
      tracks[index].comeBack(at: time, with: starts[position])
    {
      return true
    }
    if index != leader, !starts.hasDiscontinuity(from: time &- tracks[index].slack) {
      starts.startDiscontinuity(from: time)
    }
    guard sample.isSync, time > last else { return false }
    try tracks[index].comeBack()
    return true
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

  /// Makes the first keyframe from this time on, in nanoseconds, start a discontinuity in all
  /// renditions, as a source has begun again; times continue.
  public mutating func startDiscontinuity(from time: Int64) {
    starts.startDiscontinuity(from: time &+ offset)
  }

  /// Ends a rendition. When all have ended, the playlists end too.
  public mutating func end(_ index: Int) throws {
    guard tracks.indices.contains(index), !tracks[index].hasEnded else { return }
    tracks[index].finish()
    // The new leader may already have samples that start segments.
    if let leader {
      for sample in tracks[leader].pending.samples { lead(sample) }
      try advance()
    } else if tracks.allSatisfy(\.hasEnded) {
      try finish()
    }
  }

  /// The rendition whose keyframes start segments; nil if all have ended or been passed over.
  private var leader: Int? {
    tracks.firstIndex { $0.rendition.isVideo && $0.mayLead } ?? tracks.firstIndex(where: \.mayLead)
  }

  // MARK: Segment starts

  private mutating func lead(_ sample: PackagedSample<Payload>, isChange: Bool = false) {
    guard let leader else { return }
    let isVideo = tracks[leader].rendition.isVideo
    starts.lead(
      sample.presentationTime, isSync: sample.isSync, leader: leader, isChange: isChange,
      isRest: tracks.contains {
        $0.hasEnded && $0.rendition.subtitles == nil && ($0.rendition.isVideo || !isVideo)
      })
  }

  /// Cuts and lists all complete segments and parts.
  private mutating func advance() throws {
    outputs += starts.takeRequests().map { .keyframe(at: $0) }
    var hasNews = false
    for index in tracks.indices {
      while let position = starts.position(of: tracks[index].sequence), position + 1 < starts.count
      {
        let next = starts[position + 1]
        if next.startsDiscontinuity { tracks[index].dropBeforeReturn(at: next.time) }
        let cut = tracks[index].cut(before: next)
        let isLate =
          starts.count - position > Self.patience + 1 || tracks[index].isSilent
        guard cut != nil || tracks[index].hasEnded || isLate else { break }
        let waiting = tracks[index].pending.samples
        let count =
          cut
          ?? (isLate && !tracks[index].hasEnded
            ? waiting.prefix { $0.presentationTime < next.time }.count : waiting.count)
        try tracks[index].closeSegment(
          count, start: starts[position].time, end: next, date: listedDate, to: &outputs)
        promise()
        list(index)
        hasNews = true
      }
      guard settings.partDuration > 0, starts.position(of: tracks[index].sequence) != nil else {
        continue
      }
      let before = tracks[index].chunks.count
      if let position = starts.position(of: tracks[index].sequence) {
        try tracks[index].cutTextParts(
          before: starts.frontier, from: starts[position].time, date: listedDate, to: &outputs)
      }
      try tracks[index].cutParts(before: starts.frontier, date: listedDate, to: &outputs)
      if tracks[index].chunks.count != before { list(index) }
    }
    while starts.count > 1, tracks.allSatisfy({ $0.sequence > starts.firstNumber }) {
      starts.removeFirst()
    }
    if hasNews { listAll() }
  }

  private mutating func finish() throws {
    guard !hasEnded else { return }
    hasEnded = true
    // Texts last as long as what they belong to.
    let (texts, others) = (
      tracks.indices.filter { tracks[$0].rendition.subtitles != nil },
      tracks.indices.filter { tracks[$0].rendition.subtitles == nil }
    )
    for index in others + texts {
      guard let position = starts.position(of: tracks[index].sequence) else { continue }
      let last = others.map { tracks[$0].end }.max() ?? starts[position].time
      try tracks[index].closeSegment(
        tracks[index].pending.count, start: starts[position].time,
        end: texts.contains(index) ? SegmentStart(time: last) : nil, date: listedDate,
        to: &outputs)
    }
    promise()
    for index in tracks.indices {
      tracks[index].endPlaylists(isFinal: settings.hasEnd && !isToBeContinued)
      list(index)
    }
    listAll()
  }

  private var listedDate: Int64? { settings.hasDates ? fileDate : nil }

  /// Wall-clock time of time 0 in the files.
  private var fileDate: Int64? { date.map { $0 &- offset } }

  // MARK: Playlists

  /// Makes all playlists promise the duration of the longest segment.
  private mutating func promise() {
    let longest = tracks.map(\.longestSegment).max() ?? 0
    // No player waits for more than a day, whatever timestamps say.
    let seconds = Int(min((longest &+ 500_000_000) / 1_000_000_000, 86_400))
    let isHigher = tracks.contains { $0.playlist.targetDuration < seconds }
    for index in tracks.indices where isHigher {
      tracks[index].raiseTargetDuration(to: seconds)
      list(index)
    }
  }

  /// Outputs the playlists of a rendition.
  private mutating func list(_ index: Int) {
    if settings.partDuration > 0 {
      let largest = tracks.map(\.part.target).max() ?? settings.partDuration
      let lowLatency = LowLatency(
        partTarget: 0, partHoldBack: largest * 3,
        canSkipUntil: UInt64(tracks[index].playlist.targetDuration) * 6_000_000_000)
      let reports = tracks.indices.filter { $0 != index }.compactMap { other in
        tracks[other].last.map { (tracks[other].names.playlist, $0.sequence, $0.part) }
      }
      tracks[index].setLowLatency(lowLatency, reports: reports)
    }
    guard !tracks[index].playlist.segments.isEmpty || tracks[index].last != nil else { return }
    write(.mediaPlaylist, tracks[index].playlist.text, to: tracks[index].names.playlist)
    if let iFrames = tracks[index].iFrames, !iFrames.segments.isEmpty {
      write(.mediaPlaylist, iFrames.text, to: tracks[index].names.iFramePlaylist)
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

  /// Returns the properties of a manifest before the end; nil if the wall-clock time is unknown.
  private func live(
    _ tracks: [RenditionTrack<Payload>], path: String
  ) -> MediaPresentation.Live? {
    guard let date = fileDate else { return nil }
    let segment = UInt64(clamping: settings.segment)
    // Jitter of timestamps is no reason to wait longer.
    let longest = tracks.map(\.longestSegment).max() ?? 0
    var live = MediaPresentation.Live(
      availabilityStartTime: date, publishTime: date &+ max(starts.frontier, 0),
      minimumUpdatePeriod: segment,
      delay: 3 * (longest > segment + segment / 4 ? min(longest, 1 << 60) : segment),
      clock: FileNames.address(of: path, from: path))
    if settings.kind == .live, settings.playlistLength > 0 {
      let (window, isEndless) = segment.multipliedReportingOverflow(
        by: UInt64(settings.playlistLength))
      live.timeShiftBufferDepth = isEndless ? nil : window
      if !isEndless { live.delay = min(live.delay, max(window, segment * 2)) }
    }
    return live
  }

  private func manifest(
    _ tracks: [RenditionTrack<Payload>], path: String
  ) -> MediaPresentation? {
    var kind = MediaPresentation.Kind.onDemand
    if !hasEnded || !settings.hasEnd || isToBeContinued {
      guard let live = live(tracks, path: path) else { return nil }
      kind = .live(live)
    }
    var presentation = MediaPresentation(kind, minimumBufferTime: UInt64(settings.target))
    // All renditions have the same discontinuities.
    let starts = Set(tracks.flatMap { $0.periods.map(\.start) }).sorted()
    presentation.periods = starts.compactMap { start in
      let representations = tracks.compactMap { track in
        track.periods.first { $0.start == start }.flatMap {
          track.representation($0, path: path)
        }
      }
      return representations.allSatisfy(\.segments.isEmpty)
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
