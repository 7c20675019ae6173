// SPDX-License-Identifier: MPL-2.0

/// The playlists of a rendition: what they promise, and what leaves them.
extension RenditionTrack {
  /// Promises no shorter segments than there are.
  ///
  /// - Parameter seconds: The target duration that all renditions share (RFC 8216 6.2.4).
  mutating func raiseTargetDuration(to seconds: Int) {
    playlist.raiseTargetDuration(to: seconds)
    iFrames?.raiseTargetDuration(to: seconds)
    bitRate.raiseTargetDuration(to: seconds)
    iFrameBitRate.raiseTargetDuration(to: seconds)
  }

  /// Lists the keyframes of a segment in the I-frame playlist. A segment without any hands its
  /// discontinuity on to the next one, as a gap does that begins at one.
  mutating func listKeyframes(of segment: MediaSegment) {
    guard iFrames != nil else { return }
    startsKeyframeDiscontinuity = startsKeyframeDiscontinuity || segment.startsDiscontinuity
    for (entry, size) in Self.keyframes(of: segment, in: chunks) {
      var entry = entry
      entry.startsDiscontinuity = startsKeyframeDiscontinuity
      startsKeyframeDiscontinuity = false
      iFrames?.append(entry)
      iFrameBitRate.add(bytes: size, duration: entry.duration)
    }
  }

  /// Announces no more parts, and marks the playlists as ended if they are final.
  mutating func endPlaylists(isFinal: Bool) {
    playlist.preloadHint = nil
    guard isFinal else { return }
    playlist.hasEnded = true
    iFrames?.hasEnded = true
    guard settings.kind == .onDemand else { return }
    playlist.kind = .onDemand
    iFrames?.kind = .onDemand
  }

  /// - Parameters:
  ///   - lowLatency: The values common to all renditions; the part target is the rendition's own.
  ///   - reports: The state of the other renditions, with the paths of their playlists.
  mutating func setLowLatency(
    _ lowLatency: LowLatency, reports: [(path: String, sequence: UInt64, part: UInt64?)]
  ) {
    var lowLatency = lowLatency
    lowLatency.partTarget = part.target
    playlist.lowLatency = lowLatency
    playlist.renditionReports = reports.map {
      RenditionReport(
        uri: FileNames.address(of: $0.path, from: names.playlist), lastSequence: $0.sequence,
        lastPart: $0.part)
    }
  }

  mutating func hintNextPart() {
    guard settings.partDuration > 0 else { return }
    playlist.preloadHint = names.address(names.part(chunks.count, of: sequence))
  }

  /// The last segment or part, for the rendition reports of other playlists.
  var last: (sequence: UInt64, part: UInt64?)? {
    if !chunks.isEmpty { return (sequence, UInt64(chunks.count - 1)) }
    guard let segment = playlist.segments.last else { return nil }
    return (sequence - 1, segment.parts.isEmpty ? nil : UInt64(segment.parts.count - 1))
  }

  // MARK: Old segments

  /// Removes old segments from the playlist, and their files after they have been unlisted for as
  /// long as they were listed.
  mutating func removeOld(at time: Int64, to outputs: inout [Output]) {
    if settings.kind == .live, settings.playlistLength > 0 { unlistOld(at: time) }
    outputs += unlisted.take(at: time).map { .removal(path: $0) }
  }

  private mutating func unlistOld(at time: Int64) {
    let listed = playlist.duration
    let first = playlist.mediaSequence
    let removed = playlist.removeAll(but: settings.playlistLength)
    for (index, segment) in removed.enumerated() {
      let number = first + UInt64(index)
      let files = paths(of: segment, number)
      let due = time &+ Int64(clamping: listed &+ segment.duration)
      unlisted.add(segment.isGap ? [] : files, due: due)
      if earlierCount > 0 {
        earlierCount -= 1
        continue
      }
      if periods[0].timeline.isEmpty { periods.removeFirst() }
      periods[0].timeline.removeFirst()
      periods[0].removedCount += 1
    }
    iFrames?.removeFirst(in: Set(removed.map(\.uri)))
  }

  /// Returns the paths of a segment's files.
  func paths(of segment: MediaSegment, _ number: UInt64) -> [String] {
    Set([names.segment(number), names.fragments(number)]).sorted()
      + segment.parts.indices.map { names.part($0, of: number) }
  }
}
