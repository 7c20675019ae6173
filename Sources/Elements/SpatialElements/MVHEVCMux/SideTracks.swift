// SPDX-License-Identifier: MPL-2.0

import GStreamer
import ISOBMFF
import StereoVideo

/// A track made from metadata of the streams, such as chapters and time codes. Its samples are
/// written when the movie's duration is known.
struct SideTrack {
  enum Content {
    case timeCode(TimeCodeTrack)
    /// Chapters in the order of time.
    case chapters([Chapter])
  }

  /// Number of the movie's track, counted from 0.
  let track: Int
  let content: Content
  /// Running time of the first picture (time code) or of the movie's start (chapters).
  let start: RunningTime
}

/// The side tracks of a movie.
struct SideTracks {
  /// Chapters from a stream, used unless the application has set some.
  var chapters: [Chapter] = []
  private var all: [SideTrack] = []

  /// The numbers of their tracks in the movie, counted from 0.
  var numbers: [Int] { all.map(\.track) }

  /// Adds tracks for the time codes of the pictures and for chapters, if there are any and the
  /// movie has no such tracks yet.
  mutating func add(
    to tracks: inout [TrackDescription], _ pads: MuxPads, origin: RunningTime,
    chaptersOfApplication set: [Chapter]
  ) {
    let main = tracks.firstIndex { $0.isVideo } ?? (tracks.isEmpty ? nil : 0)
    guard let main else { return }
    func isNew(_ type: FourCC) -> Bool { !tracks[main].references.contains { $0.type == type } }
    func add(
      _ track: TrackDescription, _ type: FourCC, _ content: SideTrack.Content, _ start: RunningTime
    ) {
      let id = TrackID(rawValue: UInt32(clamping: tracks.count + 1))
      tracks[main].references.append(TrackReference(type: type, track: id))
      all.append(SideTrack(track: tracks.count, content: content, start: start))
      tracks.append(track)
    }
    if isNew("tmcd"), let first = pads.firstPicture, let code = first.buffer.timeCode,
      let timeCode = TimeCodeTrack(code)
    {
      var track = TrackDescription(
        .other(timeCode.sampleEntry), timescale: timeCode.frameRate.numerator)
      track.mediaHeader = TimeCodeTrack.mediaHeader
      add(track, "tmcd", .timeCode(timeCode), first.time)
    }
    let chapters = set.isEmpty ? self.chapters : set
    if isNew("chap"), !chapters.isEmpty {
      var track = TrackDescription(.other(TimedText.chapters), timescale: 1000)
      track.mediaHeader = TimedText.chapterHeader
      track.isEnabled = false
      add(track, "chap", .chapters(chapters.sorted { $0.start < $1.start }), origin)
    }
  }

  /// Writes the samples.
  ///
  /// - Parameter endTime: the end of the movie, as running time.
  mutating func write(to movie: MovieFileWriter, until endTime: RunningTime) throws {
    defer { all = [] }
    for side in all {
      switch side.content {
      case .timeCode(let code):
        try append(code.sample, from: side.start, to: endTime, of: side.track, movie)
      case .chapters(let chapters):
        for (index, chapter) in chapters.enumerated() {
          let start = side.start + chapter.start
          guard start < endTime else { break }
          let next = index + 1 < chapters.count ? chapters[index + 1].start : chapter.stop
          let stop = next.map { side.start + $0 } ?? endTime
          try append(
            TimedText.chapter(chapter.title), from: start, to: min(stop, endTime), of: side.track,
            movie)
        }
      }
    }
  }

  private func append(
    _ sample: [UInt8], from start: RunningTime, to stop: RunningTime, of track: Int,
    _ movie: MovieFileWriter
  ) throws {
    try movie.append(
      Buffer(sample),
      MovieFileWriter.Timing(
        presentationTime: start, decodeTime: start,
        duration: ClockTime(clamping: stop - start)), to: track)
  }
}

extension TimeCodeTrack {
  fileprivate init?(_ code: TimeCode) {
    guard let numerator = UInt32(exactly: code.frameRate.numerator),
      let denominator = UInt32(exactly: code.frameRate.denominator),
      let frame = UInt32(exactly: code.frame)
    else { return nil }
    self.init(
      frameRate: (numerator, denominator), isDropFrame: code.isDropFrame, firstFrame: frame)
  }
}

extension MuxPads {
  /// The buffer that waits at the first pad with pictures, and its running time.
  fileprivate var firstPicture: (buffer: Buffer, time: RunningTime)? {
    for pad in all where [.eye, .video].contains(MuxInput.Kind(pad.name)) {
      if let buffer = pad.peek(), let time = pad.runningTime(buffer) { return (buffer, time) }
    }
    return nil
  }
}
