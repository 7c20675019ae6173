// SPDX-License-Identifier: MPL-2.0

internal import GStreamer
internal import ISOBMFF
internal import MoviePlayer
internal import StereoMedia
internal import StereoVideo

extension PictureTimes {
  /// Reads the times of a movie's pictures: of QuickTime and MP4 from the index, of other formats
  /// by reading all of the file, without decoding.
  ///
  /// - Throws: a ``PartError`` if the movie cannot be sought in exactly, or has no times.
  package static func scan(_ path: String) async throws -> PictureTimes {
    let container: ContainerFacts
    do {
      container = try ContainerFacts(path: path)
    } catch {
      throw PartError(.final, "\(error)")
    }
    if case .movie(let facts) = container {
      guard let track = facts.video else { throw PartError(.final, "'\(path)' has no video") }
      let reader = facts.reader
      let shown = ShownSample.all(
        of: track, movieTimescale: reader.movie.timescale,
        limit: Int(clamping: min(reader.size, 1 << 26)))
      return try PictureTimes(shown.map(\.time), runningTimeShift: 0, of: path)
    }
    switch CopiedFormat(path: path) {
    case .transportStream?:
      throw PartError(
        .final,
        "'\(path)' is a transport stream, whose times change with a seek, so that it cannot be cut "
          + "into parts",
        help: "remux it first: ffmpeg -i \(path) -c copy movie.mkv; or convert it in one piece")
    case .byteStream?, .h264ByteStream?:
      throw PartError(
        .final, "'\(path)' has no container, and so no times of its pictures",
        help: "put it into MP4 or Matroska first, or convert it in one piece")
    case .matroska?, nil: return try await demuxed(path)
    }
  }

  /// The most pictures before a segment that takes the place of the first one.
  fileprivate static let maximumEarlyPictures = 32

  /// The findings of a pass over a file.
  fileprivate struct Found {
    var timestamps: [ClockTime] = []
    var segment: Segment?
    var hasVideo = false
    /// The defect of the times, in words.
    var problem: String?
  }

  private static func demuxed(_ path: String) async throws -> PictureTimes {
    let pipeline = try Pipeline(parsing: "filesrc name=source ! parsebin name=parse")
    try pipeline.element(named: "source")?.set("location", parsing: path)
    let found = Locked(Found())
    // The probe of a pad must not hold it.
    let watched = Locked<[Pad]>([])
    pipeline.element(named: "parse")?.onPadAdded { [weak pipeline] pad in
      guard let pipeline, let sink = try? Element("fakesink") else { return }
      sink.set("sync", "false")
      sink.set("async", "false")
      let type = (pad.currentCaps ?? pad.possibleCaps).mediaType ?? ""
      if type.hasPrefix("video/") || type.hasPrefix("image/"),
        found.withLock({ found in
          defer { found.hasVideo = true }
          return !found.hasVideo
        })
      {
        watched.withLock { $0.append(pad) }
        pad.watchBuffers { [weak pad] picture in
          if let pad { found.withLock { $0.note(picture, pad.currentSegment) } }
          return true
        }
      }
      guard (try? pipeline.add(sink)) != nil, let target = sink.staticPad("sink") else { return }
      sink.followParentState()
      try? pad.link(to: target)
    }
    do {
      try await pipeline.run()
    } catch {
      throw PartError(.final, "'\(path)' cannot be read: \(error)")
    }
    watched.withLock { $0 = [] }
    let result = found.current
    guard result.problem == nil, let segment = result.segment else {
      throw PartError(
        .final,
        "'\(path)' cannot be converted in parts: \(result.problem ?? "it has no pictures")",
        help: "remux it to MP4, or convert it in one piece, without --work")
    }
    // Outside of the segment, a picture is not shown.
    let shown = result.timestamps.sorted().filter { segment.streamTime($0) != nil }
    var shift: Int64 = 0
    if let first = shown.first, let time = segment.streamTime(first),
      let running = segment.signedRunningTime(first)
    {
      shift = running.nanoseconds - Int64(clamping: time.nanoseconds)
    }
    return try PictureTimes(
      shown.compactMap { segment.streamTime($0) }, runningTimeShift: shift, of: path)
  }
}

extension PictureTimes.Found {
  fileprivate mutating func note(_ picture: PassingBuffer, _ segment: Segment?) {
    guard problem == nil else { return }
    guard let pts = picture.pts, let segment, segment.isInTime else {
      problem = "its picture \(timestamps.count) has no time"
      return
    }
    // GStreamer 1.22 begins a Matroska file whose first time is not the lowest one with two
    // segments. Times are those of the second one, as after a seek; `picturerange` sees to that.
    if let first = self.segment, first.unclippedStreamTime(pts) != segment.unclippedStreamTime(pts),
      timestamps.count > PictureTimes.maximumEarlyPictures
    {
      problem = "its times jump after the beginning"
      return
    }
    timestamps.append(pts)
    self.segment = segment
  }
}
