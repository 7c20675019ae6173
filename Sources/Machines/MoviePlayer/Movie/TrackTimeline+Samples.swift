// SPDX-License-Identifier: MPL-2.0

import ISOBMFF

/// Where in a track's samples decoding has to start.
extension TrackTimeline {
  /// The sample that decoding has to start at for what is shown at a time of the movie.
  func sample(at time: Nanoseconds, _ samples: TrackSamples) -> Int {
    let edit = edits[edit(at: time)]
    guard let start = edit.mediaStart else { return 0 }
    guard time > edit.movieStart else { return firstSample(for: start, samples) }
    return syncSample(for: mediaTime(of: edit.timestamp(at: time)), samples)
  }

  /// The sample that decoding starts at for an edit. Sound that lies less than a second before the
  /// first one is given too: decoders settle on it, and a remux keeps it.
  func firstSample(for mediaStart: Int64, _ samples: TrackSamples) -> Int {
    if kind == .audio, mediaStart < Int64(timescale),
      edits.first(where: { $0.mediaStart != nil })?.mediaStart == mediaStart
    {
      return 0
    }
    return syncSample(for: mediaStart, samples)
  }

  /// The random access point from which on the sample that is shown at a media time decodes:
  /// leading pictures need the one before theirs.
  private func syncSample(for mediaTime: Int64, _ samples: TrackSamples) -> Int {
    guard let shown = samples.index(atPresentationTime: mediaTime) else { return 0 }
    var candidate = shown
    while let sync = samples.syncSample(atOrBefore: candidate) {
      guard let record = samples.sample(at: sync), record.presentationTime > mediaTime, sync > 0
      else { return sync }
      candidate = sync - 1
    }
    return 0
  }

  /// When a sample is shown in the edit that plays at `time`; not before that begins.
  func movieTime(
    ofSample index: Int, near time: Nanoseconds, _ samples: TrackSamples
  ) -> Nanoseconds? {
    let edit = edits[edit(at: time)]
    guard edit.mediaStart != nil, let record = samples.sample(at: index) else { return nil }
    return max(edit.movieTime(of: pts(record.presentationTime)), edit.movieStart)
  }

  /// The sample behind the last one that is needed for what is shown before a time.
  func end(at time: Nanoseconds, _ samples: TrackSamples) -> Int {
    let last = time > 0 ? time - 1 : 0
    let edit = edits[edit(at: last)]
    guard edit.mediaStart != nil, last >= edit.movieStart else { return samples.count }
    let shown = samples.index(atPresentationTime: mediaTime(of: edit.timestamp(at: last)))
    return shown.flatMap { samples.syncSample(after: $0) } ?? samples.count
  }

  /// Where the last edit ends that goes on to the end of the media.
  func mediaEnd(_ samples: TrackSamples) -> Nanoseconds {
    guard let last = edits.last else { return 0 }
    // What is shown last need not be decoded last.
    let end = (max(0, samples.count - Self.reorderLimit)..<samples.count)
      .compactMap { samples.sample(at: $0) }
      .map { saturatingDifference($0.presentationTime, -Int64($0.duration)) }.max()
    return end.map { max(last.movieTime(of: pts($0)), last.movieStart) } ?? last.movieStart
  }

  /// No picture waits for more others to be decoded (H.265 A.4.2), itself included.
  private static var reorderLimit: Int { 17 }
}
