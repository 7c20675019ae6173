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

  let settings: PackagerSettings
  var tracks: [RenditionTrack<Payload>] = []
  var starts: SegmentStarts
  var outputs: [Output] = []
  var hasEnded = false
  /// The keys of the segments that are open in some rendition, and of those after them, by their
  /// numbers.
  private var encryptions: [Int: any ContentEncrypting<Payload>] = [:]
  /// Added to the given times to obtain those in the files, in nanoseconds: some players fail when
  /// times restart within a playlist.
  var offset: Int64 = 0
  /// Whether the renditions have agreed on the segment number to continue with.
  var isAligned = false
  /// Discontinuity sequence of the first segments of this run.
  private var firstDiscontinuity: UInt64 = 0
  var multivariant: MultivariantPlaylist?
  /// The markers whose ranges may be listed, in the order in which they came.
  var markers: [Marker] = []
  /// Tags of markers that came before the first rendition.
  var earlyTags: [MarkerTag] = []
  /// ID3 tags that came before the first sample.
  var earlyMetadata: [TimedMetadata] = []

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
    let key = starts.count > 0 ? starts[0].key : starts.key
    var track = try RenditionTrack<Payload>(
      rendition, settings, firstSequence: starts.firstNumber,
      key: SegmentKey(number: key, encryption: encryptions[key]))
    if let earlier { track.resume(earlier, to: &outputs) }
    if isAligned {
      try track.begin(with: starts.firstNumber, discontinuity: firstDiscontinuity, at: offset)
    }
    track.markerTags = tracks.first?.markerTags ?? earlyTags
    tracks.append(track)
    return tracks.count - 1
  }

  /// Makes all renditions continue with the same segment number, and with times after those of the
  /// earlier run.
  mutating func align() throws {
    guard !isAligned else { return }
    let first = tracks.map(\.sequence).max() ?? starts.firstNumber
    starts.begin(with: first)
    // No segment is longer than the target duration after rounding to seconds.
    let target = tracks.map(\.playlist.targetDuration).max() ?? settings.targetDuration
    let longest = Int64(target) * 1_000_000_000 + 500_000_000
    let (end, overflow) = longest.multipliedReportingOverflow(by: Int64(clamping: first))
    // After centuries, times restart.
    offset = overflow || end > 1 << 60 ? 0 : end
    firstDiscontinuity = tracks.map(\.nextDiscontinuity).max() ?? 0
    for index in tracks.indices {
      try tracks[index].begin(with: first, discontinuity: firstDiscontinuity, at: offset)
    }
    // If this fails, it fails for every sample, and nothing is listed.
    isAligned = true
    for marker in markers { cut(at: marker) }
    distributeMetadata()
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
    leadAgain()
    try advance()
  }

  /// Whether a rendition that was passed over cannot continue with a sample of this time, in
  /// nanoseconds, because the others have begun a later segment.
  public func isLate(_ index: Int, at time: Int64) -> Bool {
    guard tracks.indices.contains(index), tracks[index].isSilent, let last = starts.last else {
      return false
    }
    return time &+ offset <= last
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
    // keyframe. Without keyframes, that ends before a segment is too long.
    guard sample.isSync || !tracks[index].isLost else { return false }
    let hasLed = index == leader
    tracks[index].isReturning = time &- last < settings.target &+ 500_000_000
    if hasLed, index != leader { leadAgain() }
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

  /// Encrypts the segments that begin from now on, in all renditions, or no longer does. The first
  /// one of them begins a discontinuity, and a period of the manifest.
  public mutating func encrypt(by encryption: (any ContentEncrypting<Payload>)?) {
    encryptions[tracks.isEmpty ? starts.key : starts.changeKey()] = encryption
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
    if leader != nil {
      leadAgain()
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

  /// Lets another leader's samples start segments that have arrived already.
  private mutating func leadAgain() {
    guard let leader else { return }
    for sample in tracks[leader].pending.samples { lead(sample) }
  }

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
  mutating func advance() throws {
    outputs += starts.takeRequests().map { .keyframe(at: $0) }
    var hasNews = false
    for index in tracks.indices {
      while let position = starts.position(of: tracks[index].sequence) {
        let key = starts[position].key
        try tracks[index].encrypt(by: SegmentKey(number: key, encryption: encryptions[key]))
        guard position + 1 < starts.count else { break }
        let next = starts[position + 1]
        if next.startsDiscontinuity { tracks[index].dropBeforeReturn(at: next.time) }
        let cut = tracks[index].cut(before: next)
        let isLate =
          starts.count - position > Self.patience + 1
          && (starts.last ?? .min) &- starts[position].time > settings.patience
          || tracks[index].isSilent
        let isKeyless = tracks[index].lacksKeyframe(from: starts[position], to: next, cut: cut)
        guard cut != nil || tracks[index].hasEnded || isLate || isKeyless else { break }
        let isLost = (cut == nil || isKeyless) && !tracks[index].hasEnded
        if isLost, tracks[index].lose(from: next.time) {
          outputs.append(.loss(rendition: tracks[index].rendition.name))
        }
        let waiting = tracks[index].pending.samples
        let count =
          isLost
          ? waiting.prefix { $0.presentationTime < next.time }.count : cut ?? waiting.count
        try tracks[index].closeSegment(
          count, start: starts[position].time, end: next,
          following: position + 2 < starts.count ? starts[position + 2] : nil, date: listedDate,
          markerOffset: offset, to: &outputs)
        promise()
        list(index)
        hasNews = true
      }
      guard settings.partDuration > 0, starts.position(of: tracks[index].sequence) != nil else {
        continue
      }
      let before = tracks[index].chunks.count
      var frontier = starts.frontier
      if let position = starts.position(of: tracks[index].sequence) {
        try tracks[index].cutTextParts(
          before: frontier, from: starts[position].time, date: listedDate, to: &outputs)
        // What comes after it belongs to the next segment, if a keyframe comes soon enough.
        if position + 1 < starts.count { frontier = min(frontier, starts[position + 1].time) }
      }
      try tracks[index].cutParts(before: frontier, date: listedDate, to: &outputs)
      if tracks[index].chunks.count != before { list(index) }
    }
    while starts.count > 1, tracks.allSatisfy({ $0.sequence > starts.firstNumber }) {
      starts.removeFirst()
    }
    if let key = encryptions.keys.min(), starts.count > 0, key < starts[0].key {
      encryptions[key] = nil
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
        markerOffset: offset, to: &outputs)
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
  var fileDate: Int64? { date.map { $0 &- offset } }
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
    case .file, .removal, .loss, .encryptedHeaders: return self
    }
  }
}
