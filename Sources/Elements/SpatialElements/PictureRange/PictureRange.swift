// SPDX-License-Identifier: MPL-2.0

import GStreamer
import StereoVideo

/// `picturerange`: passes some of a movie's pictures, which it seeks and checks one by one.
let pictureRange = ElementDeclaration<PictureRange>(
  name: "picturerange",
  typeName: "GstPictureRange",
  longName: "Range of pictures",
  klass: "Filter/Video",
  description: "Seeks to a picture of a movie, passes a number of them, each with the time that a "
    + "list has for it, and ends the stream",
  author: author,
  padTemplates: [
    PadTemplate("sink", .sink, caps: Caps("video/x-raw")),
    PadTemplate("src", .source, caps: Caps("video/x-raw")),
  ],
  properties: [
    .string(
      "times", nick: "Times",
      blurb: "A file with the stream time of each picture of the movie, in order: 8 bytes each, in "
        + "nanoseconds, the lowest byte first (not set = all pictures pass)",
      at: \.times),
    .uint(
      "first", nick: "First picture", blurb: "The number of the first picture to pass, from 0",
      in: 0...UInt32.max, default: 0, at: \.first),
    .uint(
      "count", nick: "Count", blurb: "How many pictures pass (0 = all to the end of the list)",
      in: 0...UInt32.max, default: 0, at: \.count),
    .bool(
      "seeks", nick: "Seeks",
      blurb: "Seek to the first picture; false if another element of this kind does so in the same "
        + "movie", default: true, at: \.seeks),
    .time(
      "tolerance", nick: "Tolerance",
      blurb: "By how much the time of a picture may differ from the list, in nanoseconds",
      default: PictureRange.defaultTolerance, at: \.tolerance),
  ])

/// Passes buffers unchanged, and cuts in the only way that was right with all demuxers and decoders
/// of GStreamer 1.22:
///
/// - It seeks accurately to half a picture before the first one, without a stop. With a stop,
///   `matroskademux` leaves out the keyframe that the last pictures of an open group need.
/// - It seeks when the first decoded picture arrives: a flush while `decodebin` plugs breaks it.
/// - It seeks to the beginning as well if the first picture comes with another segment than after a
///   seek, as from a `matroskademux` whose first time is not the lowest one.
/// - It chooses by time. A picture that lasts beyond the position of a seek is clipped to begin
///   there, and seeks to keyframes begin at the audio before them.
/// - It ends the stream itself, after the last picture.
final class PictureRange: ElementImplementation {
  /// A tenth of a millisecond: more than times are rounded in decoders, less than any picture
  /// lasts.
  static let defaultTolerance = ClockTime.millisecond / 10

  struct Settings {
    var times: String?
    var first: UInt32 = 0
    var count: UInt32 = 0
    var seeks = true
    var tolerance = PictureRange.defaultTolerance
  }

  struct Streaming {
    /// Nil if all pictures pass.
    var wanted: WantedPictures?
    /// Whether to seek to the beginning if the first segment moves the pictures.
    var mayBeginAgain: Bool
  }

  /// How far the element's own seek is.
  enum SeekProgress {
    case none, due, underWay
  }

  let instance: ElementInstance
  let settings = Locked(Settings())
  let sink: Pad
  let source: Pad
  /// Also used by the thread of the seek, and by that of the flush.
  private let seek = Locked(SeekProgress.none)
  /// How long the range lasts, for events and queries from downstream; nil if all pictures pass.
  private let duration = Locked<ClockTime?>(nil)

  init(_ instance: ElementInstance) throws {
    self.instance = instance
    sink = try Pad(
      instance, template: "sink",
      .sink(
        chain: PictureRange.receive, event: PictureRange.handle,
        unserializedEvent: PictureRange.handleUnserialized, query: PictureRange.answer))
    source = try Pad(
      instance, template: "src",
      .source(query: PictureRange.answerDownstream, event: PictureRange.handleUpstream))
    add(sink)
    add(source)
  }

  func start() throws -> Streaming {
    let settings = settings.current
    let wanted = try settings.times.map { path in
      try WantedPictures(
        path: path, first: settings.first, count: settings.count, tolerance: settings.tolerance)
    }
    seek.withLock { $0 = wanted != nil && settings.seeks && settings.first > 0 ? .due : .none }
    duration.withLock { $0 = wanted?.duration }
    return Streaming(wanted: wanted, mayBeginAgain: settings.seeks && settings.first == 0)
  }

  // MARK: Data

  func receive(_ pad: Pad, _ buffer: Buffer, _ streaming: inout Streaming) throws {
    guard streaming.wanted != nil else { return try source.push(buffer).check() }
    guard seek.current == .none else { return startSeek(streaming) }
    guard streaming.wanted?.isComplete == false else { throw FlowReturn.eos }
    guard let pts = buffer.pts, let segment = pad.currentSegment,
      let time = segment.unclippedStreamTime(pts)
    else {
      throw ElementError(
        .format, "A picture has no time, so that the pictures of a range cannot be told apart.")
    }
    if streaming.mayBeginAgain, let wanted = streaming.wanted {
      streaming.mayBeginAgain = false
      if wanted.begins(at: pts), !wanted.begins(at: time) {
        seek.withLock { $0 = .due }
        return startSeek(streaming)
      }
    }
    guard try streaming.wanted?.accept(time) == true else { return }
    let flow = source.push(buffer)
    try flow.check()
    guard streaming.wanted?.isComplete == true else { return }
    log.info(self, "the last picture of the range, at \(time.seconds) s")
    source.push(.endOfStream)
    throw FlowReturn.eos
  }

  /// Starts the seek, in another thread, if it has not been started; what arrives until its flush
  /// is dropped.
  private func startSeek(_ streaming: Streaming) {
    let isDue = seek.withLock { seek in
      defer { seek = .underWay }
      return seek == .due
    }
    guard isDue, let position = streaming.wanted?.seekPosition else { return }
    var wanted = Seek()
    wanted.format = .time
    wanted.flags = [.flush, .accurate]
    wanted.start = .set(Int64(clamping: position.nanoseconds))
    log.info(self, "seeking to \(position.seconds) s")
    let event = Event.seek(wanted)
    callAsync { [self] in
      guard !sink.push(event) else { return }
      post(
        ElementError(
          .seek,
          "The movie cannot be sought in, so that only its beginning can be read; remux it to MP4 "
            + "or Matroska first."))
    }
  }

  // MARK: Events

  func handle(_ pad: Pad, _ event: Event, _ streaming: inout Streaming) throws -> Bool {
    if streaming.wanted?.isComplete == true {
      if case .flushStop = event.kind {
      } else {
        // Tags of a parser may follow. Downstream has ended and would refuse them, which GStreamer
        // makes an error of the next picture.
        return true
      }
    }
    // The default handling forwards all events but this one.
    if case .caps = event.kind { return source.push(event) }
    guard streaming.wanted != nil else { return pad.forward(event) }
    switch event.kind {
    case .flushStop:
      streaming.wanted?.reset()
      let isOwn = seek.withLock { seek in
        defer { if seek == .underWay { seek = .none } }
        return seek == .underWay
      }
      // Nothing has passed before the element's own seek.
      return isOwn || pad.forward(event)
    case .endOfStream:
      // The range has ended, or a short movie has before the seek took effect.
      guard seek.current == .none, let wanted = streaming.wanted, !wanted.isComplete else {
        return true
      }
      throw wanted.endedEarly
    case .gap where seek.current != .none || streaming.wanted?.hasBegun != true: return true
    default: return pad.forward(event)
    }
  }

  func handleUnserialized(_ pad: Pad, _ event: Event) throws -> Bool {
    if case .flushStart = event.kind, seek.current == .underWay { return true }
    return pad.forward(event)
  }

  /// Refuses seeks, which would leave the range.
  func handleUpstream(_ pad: Pad, _ event: Event) throws -> Bool {
    if case .seek = event.kind, duration.current != nil {
      log.info(self, "refusing a seek: the range is fixed")
      return false
    }
    return pad.forward(event)
  }

  // MARK: Queries

  func answer(_ pad: Pad, _ query: borrowing Query) -> Bool {
    switch query.kind {
    case .caps, .acceptCaps, .allocation: source.queryPeer(query)
    default: pad.forward(query)
    }
  }

  func answerDownstream(_ pad: Pad, _ query: borrowing Query) -> Bool {
    switch query.kind {
    case .caps: return sink.queryPeer(query)
    case .duration(.time):
      guard let duration = duration.current else { return pad.forward(query) }
      query.answerDuration(duration)
      return true
    default: return pad.forward(query)
    }
  }
}
