// SPDX-License-Identifier: MPL-2.0

import ISOBMFF

/// A track that is played: its streams, and how far it has come.
///
/// The samples are no part of it: they grow with the movie, and are given to what asks about them.
struct PlayedTrack: Sendable {
  /// A sample, or several equal ones that are handed out together.
  struct Item: Sendable {
    let record: SampleRecord
    let count: Int
    /// In bytes.
    let size: UInt64
    /// The presentation time of what follows it, in units of the track's timescale.
    let presentationEnd: Int64
    /// The decode time on the movie's time line, for choosing between tracks.
    let order: Int64

    /// Where it ends in the file.
    var end: UInt64 { record.offset.addingReportingOverflow(size).partialValue }
  }

  // MARK: What it is

  let id: TrackID
  /// Into the movie's tracks.
  var index: Int
  var timeline: TrackTimeline
  /// What the samples consist of, by sample entry.
  var formats: [SampleFormat]
  /// Of PCM and its like: how many frames are handed out together; 1 for others.
  var itemLength: Int
  /// What the eyes' formats say beside their parameter sets; nil where there are none.
  var eyeFormat: EyeFormat?
  /// How the eyes are had; nil where there are none.
  var eyes: EyeSamples?
  /// The next sample is another encoder's, and says anew what the layers are.
  var hasUnknownLayers = false
  /// Those of the eyes come first.
  var streams: [PlayedStream]

  // MARK: Where it is

  /// The next sample.
  var next = 0
  /// Samples from here on are not for now: the end of a group that is played backwards.
  var limit = Int.max
  /// Into the timeline's edits.
  var edit = 0
  /// Nothing comes any more, but for a seek.
  var hasEnded = false
  /// The sample entry of the last sample.
  var sampleEntryIndex = 0
  /// Where on the movie's time line the last sample ended.
  var end: Nanoseconds = 0
  /// What part of the movie comes next has not been told.
  var needsSegment = true
  /// A segment has been told since the last seek.
  var hasBegun = false
  /// Gaps that were told since the last seek.
  var gapCount = 0
  /// The next item, where it has been looked up, and whether it has been found to be played.
  var candidate: (item: Item, isNext: Bool)?
  /// What comes next does not continue what came last, and the eyes have not been told.
  var isInterrupted = false

  init(
    _ track: Track, index: Int, timeline: TrackTimeline, formats: [SampleFormat],
    eyeFormat: EyeFormat?, eyes: EyeSamples?, streams: [PlayedStream]
  ) {
    id = track.id
    self.index = index
    self.timeline = timeline
    self.formats = formats
    itemLength = Self.itemLength(track)
    self.eyeFormat = eyeFormat
    self.eyes = eyes
    self.streams = streams
  }

  /// Samples of PCM and its like that make up about a tenth of a second.
  private static func itemLength(_ track: Track) -> Int {
    guard case .audio(let entry)? = track.sampleEntries.first else { return 1 }
    switch entry.coding {
    case .pcm: return max(1, Int(entry.sampleRate / 10))
    case .other("alaw"), .other("ulaw"):
      let duration = track.samples.sample(at: 0)?.duration ?? 0
      return max(1, Int(track.timescale / 10 / max(duration, 1)))
    default: return 1
    }
  }

  var kind: PlayerStream.Kind { timeline.kind }

  /// Samples come now and then.
  var isSparse: Bool { kind == .other }

  var isSelected: Bool { streams.contains(where: \.isSelected) }

  var isAnyEyeSelected: Bool {
    streams.contains { $0.role != .samples && $0.isSelected }
  }

  /// Silence of more than this is told in parts of it, so that nobody waits for the stream. Of
  /// sparse ones, before an ordinary queue beside them is full.
  var gapLength: Nanoseconds { isSparse ? .second / 2 : .second }

  /// Of video, only samples that decode by themselves are played.
  func hasKeyUnitsOnly(_ segment: PlaybackSegment) -> Bool {
    segment.flags.contains(.keyUnitsOnly) && kind == .video
  }

  /// Audio of which nothing is read or handed out.
  func isMuted(_ segment: PlaybackSegment) -> Bool {
    segment.flags.contains(.withoutAudio) && kind == .audio
  }

  // MARK: Times

  /// The edit that is played; nil behind the last.
  var currentEdit: TimelineEdit? {
    timeline.edits.indices.contains(edit) ? timeline.edits[edit] : nil
  }

  /// The time on the movie's time line of a timestamp, by the edit that is played.
  func movieTime(ofPTS pts: Nanoseconds) -> Nanoseconds {
    currentEdit?.movieTime(of: pts) ?? 0
  }

  /// How long an item is shown.
  func duration(of item: Item) -> Nanoseconds {
    duration(from: item.record.presentationTime, to: item.presentationEnd)
  }

  /// How long the frame of a sample is shown where all frames are.
  func frameDuration(of record: SampleRecord) -> Nanoseconds {
    duration(
      from: record.presentationTime, to: record.presentationTime &+ Int64(record.duration))
  }

  private func duration(from start: Int64, to end: Int64) -> Nanoseconds {
    let start = timeline.pts(start)
    return max(timeline.pts(end), start) - start
  }
}
