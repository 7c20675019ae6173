// SPDX-License-Identifier: MPL-2.0

internal import ISOBMFF

/// Markers, which are listed in all media playlists and in the manifest, and at which segments
/// start.
extension Packager {
  /// Number of markers that are remembered: more than a day of them, or the fastest ones are given
  /// up.
  private static var limit: Int { 1000 }

  /// Adds a marker. One that is known already, which senders repeat, is ignored.
  ///
  /// A segment starts at the first keyframe from its time on, and encoders are asked for one there.
  ///
  /// - Returns: Whether it is new.
  public mutating func append(_ marker: Marker) -> Bool {
    let slack: Int64 = 10_000_000
    guard
      !markers.contains(where: {
        $0.id == marker.id && $0.role == marker.role && ($0.time &- marker.time).magnitude <= slack
      })
    else { return false }
    if markers.count >= Self.limit { markers.removeFirst() }
    let started = marker.role == .in ? start(of: marker) : nil
    markers.append(marker)
    var tags = [(marker.time, MarkerTag.Kind.range(marker, started: started))]
    switch marker.role {
    case .out:
      tags.append((marker.time, .cueOut(marker.duration)))
      if marker.returnsByItself, let end = marker.end { tags.append((end, .cueIn)) }
    case .in: tags.append((marker.time, .cueIn))
    case .other: break
    }
    for (place, kind) in tags {
      let tag = MarkerTag(place: place, kind: kind)
      if !settings.hasCues, tag.cue != nil { continue }
      if tracks.isEmpty, earlyTags.count < Self.limit { earlyTags.append(tag) }
      for index in tracks.indices {
        if tracks[index].markerTags.count >= 3 * Self.limit {
          tracks[index].markerTags.removeFirst()
        }
        tracks[index].markerTags.append(tag)
      }
    }
    if isAligned { cut(at: marker) }
    return true
  }

  /// The marker that started what another one ends: that of the same event, or the last one.
  private func start(of marker: Marker) -> Marker? {
    let open = markers.filter { start in
      start.role == .out && start.time <= marker.time
        && !markers.contains { $0.role == .in && $0.time >= start.time }
    }
    return open.last { $0.id == marker.id } ?? open.last
  }

  /// Makes segments start at a marker.
  mutating func cut(at marker: Marker) {
    guard marker.role != .other else { return }
    starts.cut(at: marker.time &+ offset)
    if marker.returnsByItself, let end = marker.end { starts.cut(at: end &+ offset) }
    outputs += starts.takeRequests().map { .keyframe(at: $0) }
  }

  /// The events of a period of the manifest (ISO/IEC 23009-1 5.10.2).
  ///
  /// - Parameters:
  ///   - start: Start of the period on the timeline of the files, in nanoseconds.
  ///   - end: Start of the next one; nil for the last.
  func events(from start: Int64, to end: Int64?) -> [MediaPresentation.Event] {
    markers.filter { marker in
      let time = marker.time &+ offset
      return time >= start && end.map { time < $0 } ?? true && !marker.message.isEmpty
    }.map { marker in
      MediaPresentation.Event(
        start: UInt64(clamping: marker.time &+ offset), duration: marker.duration,
        message: marker.message)
    }
  }

  /// Forgets the markers before the window.
  mutating func forgetMarkers(before time: Int64) {
    let day: Int64 = 86_400_000_000_000
    markers.removeAll { marker in
      (marker.end ?? marker.time &+ (marker.role == .out ? day : 0)) &+ offset < time
    }
  }
}

extension RenditionTrack {
  /// Start of the first segment that the manifest lists, in nanoseconds; nil without one.
  var listedStart: Int64? {
    guard let period = periods.first(where: { !$0.timeline.isEmpty }),
      let first = period.timeline.first
    else { return nil }
    let clock = TrackClock(timescale: period.rendition.track.timescale)
    return Int64(clamping: clock.nanoseconds(first.start))
  }

  /// Returns the tags that belong to a segment, and removes them.
  ///
  /// - Parameters:
  ///   - start: Start of the segment in nanoseconds.
  ///   - end: Its end; nil for the last one.
  ///   - offset: Added to the times of markers to obtain those in the files.
  ///   - date: Wall-clock time of time 0 in the files; without it, there are no ranges.
  mutating func takeTags(
    from start: Int64, to end: Int64?, offset: Int64, date: Int64?
  ) -> (ranges: [DateRange], cues: [String]) {
    guard !markerTags.isEmpty else { return ([], []) }
    let slack: Int64 = 1_000_000
    var (ranges, cues): ([DateRange], [String]) = ([], [])
    markerTags.removeAll { tag in
      let place = tag.place &+ offset
      if let cue = tag.cue {
        guard place <= start &+ slack else { return false }
        cues.append(cue)
      } else {
        guard end.map({ place < $0 &- slack }) ?? true else { return false }
        if let date, let range = tag.range(date: date &+ offset) { ranges.append(range) }
      }
      return true
    }
    return (ranges, cues)
  }
}
