// SPDX-License-Identifier: MPL-2.0

internal import GStreamer
internal import ISOBMFF
internal import StereoVideo

/// `timerange`: the part of a stream between two stream times. The first one becomes running time
/// 0. It exists only in this program, for what a joined movie has besides its pictures.
///
/// Audio that begins before the range and lasts into it passes, with a negative running time: the
/// muxer cuts it by its edit list. Texts and the like are shortened: some players apply the edit
/// lists of their tracks to whole samples.
final class TimeRange: ElementImplementation {
  struct Settings {
    var from: ClockTime = 0
    /// Not limited if it is the largest time.
    var until: ClockTime = .max
  }

  struct Streaming {
    var hasBegun = false
    var hasEnded = false
    var isAudio = false
    /// A buffer from before the range that lasts until the next one, as it has no duration.
    var previous: Buffer?
    /// The segment that upstream has sent last.
    var segment: Segment?
  }

  let instance: ElementInstance
  let settings = Locked(Settings())
  private let sink: Pad
  private let source: Pad

  init(_ instance: ElementInstance) throws {
    self.instance = instance
    sink = try Pad(
      instance, template: "sink", .sink(chain: TimeRange.receive, event: TimeRange.handle))
    source = try Pad(instance, template: "src", .source(event: TimeRange.handleUpstream))
    add(sink)
    add(source)
  }

  func start() throws -> Streaming { Streaming() }

  func receive(_ pad: Pad, _ buffer: Buffer, _ streaming: inout Streaming) throws {
    guard !streaming.hasEnded else { throw FlowReturn.eos }
    let settings = settings.current
    // What has no time belongs to what comes before it.
    if let pts = buffer.pts, let segment = streaming.segment {
      // Before the beginning of the stream, as what primes an audio decoder.
      guard let time = segment.unclippedStreamTime(pts) else { return }
      guard time >= settings.from || time + (buffer.duration ?? 0) > settings.from else {
        streaming.previous = buffer.duration == nil ? buffer : nil
        return
      }
      if let previous = streaming.previous.take(), time > settings.from {
        try push(previous, in: segment, &streaming)
      }
      guard time < settings.until else {
        streaming.hasEnded = true
        source.push(.endOfStream)
        throw FlowReturn.eos
      }
      return try push(buffer, in: segment, &streaming)
    }
    guard streaming.hasBegun else { return }
    try source.push(buffer).check()
  }

  private func push(_ buffer: Buffer, in segment: Segment, _ streaming: inout Streaming) throws {
    streaming.hasBegun = true
    try source.push(streaming.isAudio ? buffer : shortened(buffer, segment)).check()
  }

  /// Returns a buffer that lies in the range.
  private func shortened(_ buffer: Buffer, _ segment: Segment) -> Buffer {
    let settings = settings.current
    guard let pts = buffer.pts, let start = segment.unclippedStreamTime(pts) else { return buffer }
    let end = buffer.duration.map { start + $0 }
    let (first, last) = (max(start, settings.from), end.map { min($0, settings.until) })
    guard first != start || last != end else { return buffer }
    let copy = buffer.copied()
    copy.pts = pts + (first - start)
    if let last, last > first { copy.duration = last - first }
    return copy
  }

  func handle(_ pad: Pad, _ event: Event, _ streaming: inout Streaming) throws -> Bool {
    guard !streaming.hasEnded else { return true }
    let settings = settings.current
    switch event.kind {
    case .caps(let caps):
      streaming.isAudio = caps.mediaType?.hasPrefix("audio/") ?? false
      return source.push(event)
    case .segment(let segment):
      streaming.segment = segment
      return source.push(.segment(Self.moved(segment, settings)).following(event))
    case .gap where !streaming.hasBegun: return true
    case .tableOfContents:
      guard let chapters = event.chapters else { return true }
      let kept = Self.moved(chapters, settings)
      guard !kept.isEmpty, let moved = Event.tableOfContents(kept) else { return true }
      return source.push(moved.following(event))
    case .endOfStream:
      // A text without a duration lasts to the end.
      if let previous = streaming.previous.take(), !streaming.isAudio,
        let segment = streaming.segment
      {
        try push(previous, in: segment, &streaming)
      }
      return pad.forward(event)
    case .tags(let tags): return source.push(.tags(tags.withoutChapterBox).following(event))
    default: return pad.forward(event)
    }
  }

  /// Refuses seeks, which would leave the range.
  func handleUpstream(_ pad: Pad, _ event: Event) throws -> Bool {
    if case .seek = event.kind { return false }
    return pad.forward(event)
  }

  /// Returns a segment whose running time is 0 at the beginning of the range.
  private static func moved(_ segment: Segment, _ settings: Settings) -> Segment {
    guard segment.isInTime else { return segment }
    var moved = segment
    guard let time = segment.time else { return segment }
    let from = settings.from
    if time >= from {
      moved.base = time - from
      moved.time = time - from
    } else {
      moved.start = segment.start + (from - time)
      (moved.base, moved.time) = (0, 0)
    }
    if settings.until < .max, settings.until > time {
      let stop = segment.start + (settings.until - time)
      moved.stop = min(segment.stop ?? stop, stop)
    }
    moved.position = moved.start
    return moved
  }

  private static func moved(_ chapters: [Chapter], _ settings: Settings) -> [Chapter] {
    let starts = chapters.map(\.start)
    return chapters.enumerated().compactMap { index, chapter in
      let next = starts.dropFirst(index + 1).first
      let stop = chapter.stop ?? next ?? .max
      guard chapter.start < settings.until, stop > settings.from else { return nil }
      return Chapter(
        title: chapter.title,
        start: chapter.start > settings.from ? chapter.start - settings.from : 0,
        stop: chapter.stop.map { min($0, settings.until) - settings.from })
    }
  }

  static let declaration = ElementDeclaration<TimeRange>(
    name: "timerange", typeName: "GstTimeRange", longName: "Range of times", klass: "Generic",
    description: "The part of a stream between two times, moved to the beginning",
    author: "gst-spatial developers",
    padTemplates: [
      PadTemplate("sink", .sink, caps: .any), PadTemplate("src", .source, caps: .any),
    ],
    properties: [
      .time("from", nick: "From", blurb: "Where the range begins", default: 0, at: \.from),
      .time("until", nick: "Until", blurb: "Where the range ends", default: .max, at: \.until),
    ])
}

extension TagList {
  /// The tags without the box of chapters (`chpl`), whose times are those of the whole movie; the
  /// chapters are also in an event or in a track.
  var withoutChapterBox: TagList {
    let type = Int(("chpl" as FourCC).rawValue)
    return removing("private-data") { $0.information?.int("type") == type }
  }
}
