// SPDX-License-Identifier: MPL-2.0

/// The lists of a presentation: media playlists, the multivariant playlist and the manifest.
extension Packager {
  /// Makes all playlists promise the duration of the longest segment.
  mutating func promise() {
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
  mutating func list(_ index: Int) {
    if settings.partDuration > 0 {
      let told = tracks.compactMap(\.part.promised).max()
      // All of them now: what the last one to be listed promises would change the hold-back.
      for track in tracks.indices { tracks[track].part.promise(atMost: told ?? .max) }
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
  mutating func listAll() {
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
    let times = tracks.compactMap(\.listedStart)
    forgetMarkers(before: times.min() ?? .min)
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
    // Jitter of timestamps is no reason to wait longer, nor is a segment that has left the lists.
    let longest =
      tracks.compactMap { $0.playlist.segments.suffix(12).map(\.duration).max() }.max() ?? 0
    var live = MediaPresentation.Live(
      availabilityStartTime: date, publishTime: date &+ max(starts.frontier, 0),
      minimumUpdatePeriod: segment,
      delay: 3 * (longest > segment + segment / 4 ? min(longest, 1 << 60) : segment),
      clock: FileNames.address(of: path, from: path))
    if settings.kind == .live, settings.playlistLength > 0 {
      let (window, isEndless) = segment.multipliedReportingOverflow(
        by: UInt64(settings.playlistLength))
      live.timeShiftBufferDepth = isEndless ? nil : window
      // Players that begin at the end of the window lose the segment that they ask for.
      let margin = max(segment * 2, window / 4)
      if !isEndless {
        live.delay = min(live.delay, max(window - min(window, margin), segment * 2))
      }
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
    presentation.periods = starts.enumerated().compactMap { index, start in
      let representations = tracks.compactMap { track in
        track.periods.first { $0.start == start }.flatMap {
          track.representation($0, path: path)
        }
      }
      guard !representations.allSatisfy(\.segments.isEmpty) else { return nil }
      var period = MediaPresentation.Period(UInt64(clamping: start), representations)
      period.events = events(
        from: index == 0 ? .min : start, to: index + 1 < starts.count ? starts[index + 1] : nil)
      return period
    }
    return presentation
  }
}
