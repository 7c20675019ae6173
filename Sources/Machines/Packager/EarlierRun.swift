// SPDX-License-Identifier: MPL-2.0

/// The playlists and files an earlier run has left of a rendition. After a restart, players find
/// everything listed before, followed by a discontinuity.
public struct EarlierRun: Sendable {
  /// The media playlist that the earlier run wrote last.
  public var playlist: MediaPlaylist
  /// The I-frame playlist; nil if there is none.
  public var iFrames: MediaPlaylist?
  /// Contents of the parts of the segment that was open, in order; empty if they cannot be read.
  public var openParts: [[UInt8]]
  /// Sizes of the listed segments in bytes, by which peaks are measured; empty if they are not
  /// known.
  public var sizes: [UInt64] = []
  /// Whether its segments stay listed. Otherwise they are replaced: numbers continue all the same,
  /// as those of a playlist must not go back (RFC 8216 6.2.2), and the files are removed when no
  /// player can request them any more.
  public var isListed = true

  /// Creates the state of an earlier run from its parsed playlists.
  public init(_ playlist: MediaPlaylist, iFrames: MediaPlaylist? = nil, openParts: [[UInt8]] = []) {
    (self.playlist, self.iFrames, self.openParts) = (playlist, iFrames, openParts)
  }
}

extension FileNames {
  /// Returns the path of a rendition's media playlist.
  public func playlistPath(of rendition: Rendition) -> String {
    playlistPath(ofRendition: rendition.name)
  }

  /// Returns the path of the media playlist of a rendition with a name.
  public func playlistPath(ofRendition name: String) -> String {
    Self.fill(playlist, rendition: name)
  }

  /// Returns the path of a rendition's I-frame playlist.
  public func iFramePlaylistPath(of rendition: Rendition) -> String {
    Self.fill(iFramePlaylist, rendition: rendition.name)
  }

  /// Returns the paths of a playlist's segments.
  public func segmentPaths(of rendition: Rendition, in playlist: MediaPlaylist) -> [String] {
    let names = RenditionNames(self, rendition)
    return playlist.segments.indices.map { names.segment(playlist.mediaSequence &+ UInt64($0)) }
  }

  /// Returns the paths of the parts of a playlist's open segment.
  public func openPartPaths(of rendition: Rendition, in playlist: MediaPlaylist) -> [String] {
    let segment = RenditionNames(self, rendition).segment(playlist.nextSequence)
    return playlist.openParts.indices.map { Self.part($0, of: segment) }
  }
}

extension RenditionTrack {
  /// Maximum difference between the segment numbers at which renditions of the earlier run stopped.
  private static var maximumGap: UInt64 { 100 }

  /// Lists the segments of the earlier run before the new ones. The segment that was open then ends
  /// with the parts it had.
  mutating func resume(_ earlier: EarlierRun, to outputs: inout [Output]) {
    guard earlier.isListed else { return replace(earlier) }
    var playlist = earlier.playlist.reopened(
      as: playlist.kind, targetDuration: settings.targetDuration)
    if var segment = earlier.playlist.openSegment {
      let path = names.segment(playlist.nextSequence)
      segment.uri = names.address(path)
      segment.duration = max(segment.parts.reduce(0) { $0 &+ $1.duration }, 1_000_000)
      let isText = rendition.subtitles != nil
      segment.isGap =
        segment.map == nil && !isText || earlier.openParts.count != segment.parts.count
      if !segment.isGap {
        let parts = isText ? [WebVTT.joined(earlier.openParts)] : earlier.openParts
        outputs.append(.file(.segment, path: path, parts.map { .bytes($0) }))
      }
      playlist.append(segment)
    }
    measure(earlier, in: playlist)
    resume(
      playlist, iFrames: earlier.iFrames, partTarget: earlier.playlist.lowLatency?.partTarget ?? 0)
  }

  /// Measures the bit rates of the segments that stay listed: `BANDWIDTH` is the peak of all (RFC
  /// 8216 4.3.4.2).
  private mutating func measure(_ earlier: EarlierRun, in playlist: MediaPlaylist) {
    bitRate.raiseTargetDuration(to: playlist.targetDuration)
    iFrameBitRate.raiseTargetDuration(to: playlist.targetDuration)
    var sizes = earlier.sizes
    if playlist.segments.count == sizes.count + 1 {
      sizes.append(earlier.openParts.reduce(0) { $0 + UInt64($1.count) })
    }
    for (segment, size) in zip(playlist.segments, sizes) where !segment.isGap && size > 0 {
      bitRate.add(bytes: size, duration: segment.duration)
    }
    for picture in earlier.iFrames?.segments ?? [] {
      guard let range = picture.byteRange else { continue }
      iFrameBitRate.add(bytes: range.length, duration: picture.duration)
    }
  }

  /// Starts after the segments of the earlier run, which are not listed any more.
  private mutating func replace(_ earlier: EarlierRun) {
    let old = earlier.playlist
    var files: [[String]] = []
    for (number, segment) in zip(old.mediaSequence..., old.segments) {
      files.append(paths(of: segment, number))
    }
    if let open = old.openSegment { files.append(paths(of: open, old.nextSequence)) }
    let maps = Set(old.segments.compactMap { $0.map?.uri })
    files.append(maps.sorted().compactMap(initializationPath))
    resume(after: old, iFrames: earlier.iFrames, leaving: files)
  }

  /// Returns the path of an initialization section in a playlist; nil if it is not one of this
  /// rendition's names.
  private func initializationPath(_ address: String) -> String? {
    let stem = address.lastIndex(of: ".").map { address[..<$0] } ?? address[...]
    let digits = stem.reversed().drop { !$0.isNumber }.prefix { $0.isNumber }.reversed()
    guard let number = UInt64(String(digits)) else { return nil }
    let path = names.initialization(number)
    return names.address(path) == address ? path : nil
  }

  /// Starts at a segment number that another rendition has reached, after gap segments up to there.
  ///
  /// - Parameters:
  ///   - discontinuity: Discontinuity sequence of the first segment, if the playlist has no earlier
  ///     one: it is the same in all renditions (RFC 8216 6.2.4).
  ///   - time: Earliest start of the first segment, in nanoseconds.
  /// - Throws: ``PackagerError/apart(rendition:sequence:other:)`` if the number is too far away.
  mutating func begin(
    with number: UInt64, discontinuity: UInt64, at time: Int64
  ) throws(PackagerError) {
    if playlist.segments.isEmpty {
      resume(at: max(number, sequence), discontinuity: discontinuity)
    } else {
      try skip(to: number)
    }
    beginPeriods(at: time)
  }

  /// Discontinuity sequence of the first segment of this run.
  var nextDiscontinuity: UInt64 {
    playlist.discontinuitySequence &+ UInt64(playlist.segments.count(where: \.startsDiscontinuity))
      &+ (startsDiscontinuity ? 1 : 0)
  }

  private mutating func skip(to number: UInt64) throws(PackagerError) {
    guard sequence < number else { return }
    guard number - sequence <= Self.maximumGap else {
      throw .apart(rendition: rendition.name, sequence: sequence, other: number)
    }
    var playlist = playlist
    while playlist.nextSequence < number {
      var gap = MediaSegment(
        names.address(names.segment(playlist.nextSequence)),
        duration: UInt64(settings.target), map: playlist.segments.last?.map)
      gap.isGap = true
      playlist.append(gap)
    }
    resume(playlist, iFrames: iFrames, partTarget: 0)
  }

  /// Whether a segment of this run is listed.
  var hasOwnSegments: Bool { playlist.segments.count > earlierCount }

  /// Continues the playlists of an earlier run, before the first sample.
  mutating func resume(
    _ earlier: MediaPlaylist, iFrames earlierIFrames: MediaPlaylist?, partTarget: UInt64
  ) {
    playlist = earlier
    if let iFrames, let earlierIFrames {
      self.iFrames = earlierIFrames.reopened(
        as: iFrames.kind, targetDuration: iFrames.targetDuration)
    }
    part.resume(partTarget)
    earlierCount = playlist.segments.count
    startsDiscontinuity = earlierCount > 0
  }

  /// Starts after the segments of an earlier run, without listing them.
  ///
  /// - Parameter files: The files of its segments, and its initialization sections.
  mutating func resume(
    after old: MediaPlaylist, iFrames oldIFrames: MediaPlaylist?, leaving files: [[String]]
  ) {
    func start(_ new: MediaPlaylist, after old: MediaPlaylist) -> MediaPlaylist {
      var playlist = MediaPlaylist(
        new.kind, targetDuration: max(new.targetDuration, old.targetDuration),
        mediaSequence: old.nextSequence + (old.openSegment == nil ? 0 : 1),
        discontinuitySequence: old.discontinuitySequence &+ 1
          &+ UInt64(old.segments.count(where: \.startsDiscontinuity)))
      playlist.isIFramesOnly = new.isIFramesOnly
      return playlist
    }
    playlist = start(playlist, after: old)
    if let iFrames, let oldIFrames { self.iFrames = start(iFrames, after: oldIFrames) }
    replaced = files
    replacedDuration = Int64(clamping: old.duration)
  }

  /// Starts at a segment number, before the first sample.
  private mutating func resume(at number: UInt64, discontinuity: UInt64) {
    playlist = MediaPlaylist(
      playlist.kind, targetDuration: playlist.targetDuration, mediaSequence: number,
      discontinuitySequence: discontinuity)
    guard let old = iFrames, old.segments.isEmpty else { return }
    var empty = MediaPlaylist(
      old.kind, targetDuration: old.targetDuration, mediaSequence: old.mediaSequence,
      discontinuitySequence: discontinuity)
    empty.isIFramesOnly = true
    iFrames = empty
  }

  /// Starts the first period at the open segment.
  mutating func beginPeriods(at time: Int64) {
    // A run has at most as many initialization segments as media segments, so this number is
    // unused.
    if sequence > 0, earlierCount > 0 || !replaced.isEmpty { initializationCount = sequence }
    for files in replaced { unlisted.add(files, due: time &+ replacedDuration) }
    periods = [RenditionPeriod(start: time, rendition: rendition, firstSequence: sequence)]
  }
}
