// SPDX-License-Identifier: MPL-2.0

import HEVC
import ISOBMFF
import StereoVideo

/// How far a stream has come.
struct PlayedStream: Sendable {
  let id: StreamID
  let role: PlayerStream.Role
  /// Somebody takes its samples.
  var isSelected = true
  /// The next sample does not continue the last one.
  private(set) var isDiscontinuous = true
  /// It has been told that nothing more comes.
  var hasEnded = false
  /// An eye waits for a random access point.
  var waitsForSync = true
  /// By how much the stream's timestamps are later than those of the samples that it is made of.
  let shift: Nanoseconds
  /// By how much samples come late, at the most so far: an eye's pictures wait for others.
  private(set) var latency: Nanoseconds = 0
  /// The segment that has been told, with the stream's own timestamps; nil before the first, and
  /// behind a flush.
  private(set) var segment: PlaybackSegment?

  init(id: StreamID, role: PlayerStream.Role, shift: Nanoseconds = 0) {
    (self.id, self.role, self.shift) = (id, role, shift)
  }

  /// Back to before the first sample.
  mutating func restart() {
    isDiscontinuous = true
    hasEnded = false
    waitsForSync = true
    segment = nil
  }

  /// What comes next does not continue what came last.
  mutating func interrupt() { isDiscontinuous = true }

  /// Flags of the next sample that come from the stream's history.
  mutating func takeDiscontinuity() -> Sample.Flags {
    defer { isDiscontinuous = false }
    return isDiscontinuous ? .discontinuity : []
  }

  /// Whether somebody takes its samples; where nobody does, an eye begins anew when somebody will.
  mutating func isTaken() -> Bool {
    if !isSelected { waitsForSync = true }
    return isSelected
  }

  /// Whether an eye's sample is wanted now, of an access unit that decoding can start at or not.
  mutating func takes(isSync: Bool) -> Bool {
    if waitsForSync, isSync { waitsForSync = false }
    return !waitsForSync
  }

  /// Tells that nothing more comes; before that, what part of the stream ends, where that has not
  /// been told.
  mutating func end(_ start: SegmentStart, _ outputs: inout OutputQueue) {
    if segment == nil { begin(start, &outputs) }
    hasEnded = true
    outputs.append(.endOfStream(id))
  }

  /// Tells what part of the stream comes.
  mutating func begin(_ start: SegmentStart, _ outputs: inout OutputQueue) {
    var start = start
    start.segment.start = saturatingSum(start.segment.start, shift)
    start.segment.stop = start.segment.stop.map { saturatingSum($0, shift) }
    start.segment.position = saturatingSum(start.segment.position, shift)
    segment = start.segment
    outputs.append(.segment(id, start))
  }

  /// Tells that nothing comes between two timestamps of the samples that the stream is made of.
  func gap(from start: Nanoseconds, to end: Nanoseconds, _ outputs: inout OutputQueue) {
    guard isSelected, segment != nil else { return }
    outputs.append(.gap(id, start: saturatingSum(start, shift), duration: end - start))
  }

  // MARK: Giving samples

  mutating func give(_ sample: Sample, _ outputs: inout OutputQueue) {
    var sample = sample
    sample.flags.formUnion(takeDiscontinuity())
    outputs.append(.sample(id, sample))
  }

  /// Gives what of an access unit is for an eye.
  ///
  /// - Parameter format: what the eye's format says beside the parameter sets.
  mutating func give(
    _ eye: Eye, of unit: LayeredSample, from eyes: inout EyeSamples?, _ format: EyeFormat?,
    _ outputs: inout OutputQueue
  ) {
    guard takes(isSync: !unit.flags.contains(.delta)) else { return }
    let output: EyeSamples.Output?
    do {
      output = try eyes?.split(unit, for: eye, placement)
    } catch {
      outputs.warn(.damagedFrame(of: eye, "\(error)"))
      interrupt()
      return
    }
    guard let output else { return }
    noteLatency(of: eye, unit, eyes, &outputs)
    if let failure = output.failure { outputs.warn(.damagedFrame(of: eye, "\(failure)")) }
    if let warning = output.warning {
      outputs.warn(
        PlayerWarning(
          .layers, "The \(eye) eye is not for every decoder.", detail: "\(warning)"))
    }
    for sample in output.earlier { give(sample, &outputs) }
    if let sets = output.parameterSets, let format {
      outputs.append(.format(id, .eye(format.with(sets))))
    }
    for sample in output.samples { give(sample, &outputs) }
  }

  private mutating func noteLatency(
    of eye: Eye, _ unit: LayeredSample, _ eyes: EyeSamples?, _ outputs: inout OutputQueue
  ) {
    let frame = min(unit.frameDuration ?? unit.duration ?? 0, .second)
    let latest = Nanoseconds(clamping: eyes?.delay(of: eye) ?? 0) * frame
    guard latest > latency else { return }
    latency = latest
    outputs.append(.statusChanged)
  }

  /// Gives what is held back of an eye.
  mutating func drain(_ eyes: inout EyeSamples?, _ outputs: inout OutputQueue) {
    guard case .eye(let eye) = role, isSelected else { return }
    for sample in eyes?.drain(eye, placement) ?? [] { give(sample, &outputs) }
  }

  private var placement: EyeSamples.Placement {
    EyeSamples.Placement(shift: shift, stop: segment?.stop)
  }
}

extension PlayerWarning {
  fileprivate static func damagedFrame(of eye: Eye, _ detail: String) -> PlayerWarning {
    PlayerWarning(
      .damaged, "A frame of the \(eye) eye is damaged and left out.", detail: detail)
  }
}

/// Which streams a movie gives.
extension MoviePlayback {
  /// A file of more tracks than these is none that anyone made.
  private static let maximumTrackCount = 64

  /// The first track that may hold two eyes in layers, so that its first sample has to be looked
  /// at.
  static func layeredTrack(of movie: Movie) -> Int? {
    movie.tracks.firstIndex { track in
      guard track.samples.count > 0, case .video(let entry)? = track.sampleEntries.first else {
        return false
      }
      return LayeredContent.isPossible(in: entry)
    }
  }

  /// A movie at its start, whose streams are given.
  ///
  /// - Parameters:
  ///   - basis: the movie with its first fragment, which is what streams are described by: a
  ///     stream that is read in order shows no more of itself before it plays.
  ///   - first: the first sample of the track at ``layeredTrack(of:)``.
  ///   - options: which streams are offered.
  init(
    _ movie: Movie, basis: Movie, fileType: FileType?, isComplete: Bool,
    fragments: FragmentIndex?, first: ByteSlice?, _ options: PlayerOptions,
    _ outputs: inout OutputQueue
  ) throws(MoviePlayerError) {
    self.movie = movie
    self.fileType = fileType
    self.isComplete = isComplete
    self.fragments = fragments
    tracks = []
    for issue in movie.issues { outputs.note(issue) }
    var builder = StreamBuilder(movie: basis, options)
    let layered = Self.layeredTrack(of: basis)
    for (index, track) in basis.tracks.enumerated() {
      guard !track.sampleEntries.isEmpty, track.samples.count > 0 || movie.isFragmented else {
        continue
      }
      guard tracks.count < Self.maximumTrackCount || index == layered else {
        outputs.warn(
          PlayerWarning(
            .tracks,
            "The movie has \(movie.tracks.count) tracks; \(Self.maximumTrackCount) of them are "
              + "played."))
        continue
      }
      tracks.append(builder.add(index, first: index == layered ? first : nil, &outputs))
    }
    guard !tracks.isEmpty else { throw .noTracks }
    outputs.append(.streams(builder.streams))
  }
}

/// Makes the streams of a movie's tracks.
struct StreamBuilder {
  let movie: Movie
  private let options: PlayerOptions
  private(set) var streams: [PlayerStream] = []
  private var counts: [PlayerStream.Kind: Int] = [:]

  init(movie: Movie, _ options: PlayerOptions = PlayerOptions()) {
    self.movie = movie
    self.options = options
  }

  /// A track of the movie with its streams: the eyes that can be had, and the samples as they are.
  mutating func add(
    _ index: Int, first: ByteSlice?, _ outputs: inout OutputQueue
  ) -> PlayedTrack {
    let track = movie.tracks[index]
    let timeline = TrackTimeline(track, movieTimescale: movie.timescale)
    if let warning = timeline.warning {
      outputs.warn(
        PlayerWarning(.edits, warning, detail: "track \(track.id.rawValue)"))
    }
    var layers: LayeredContent.Layers?
    var eyeFormat: EyeFormat?
    if case .video(let entry)? = track.sampleEntries.first {
      switch LayeredContent(entry, first: first) {
      case .plain: break
      case .unreadable(let warning): outputs.warn(warning)
      case .layers(let found):
        if let warning = found.warning { outputs.warn(warning) }
        layers = found
        eyeFormat = EyeFormat(
          parameterSets: SingleLayerParameterSets(), description: description(entry, track),
          spatial: entry.spatialMetadata, isMono: found.viewCount == 1)
      }
    }
    let formats = track.sampleEntries.map {
      format($0, track, viewCount: layers?.viewCount ?? 1)
    }
    let number = counts[timeline.kind, default: 0]
    counts[timeline.kind] = number + 1
    let isUnselected = isUnselected(track)
    var played: [PlayedStream] = []
    func add(_ role: PlayerStream.Role, _ format: StreamFormat, shift: Nanoseconds = 0) {
      let id = StreamID(rawValue: streams.count)
      streams.append(
        PlayerStream(
          id: id, role: role, kind: timeline.kind, number: number, track: track, format: format,
          isUnselected: isUnselected))
      played.append(PlayedStream(id: id, role: role, shift: shift))
    }
    for eye in Eye.allCases {
      guard let sets = layers?.parameterSets[eye], let eyeFormat else { continue }
      add(
        .eye(eye), .eye(eyeFormat.with(sets)),
        shift: layers?.shift(of: eye, frameDuration: frameDuration(track)) ?? 0)
    }
    if let format = formats.first, options.offersLayers || played.isEmpty {
      add(.samples, .samples(format))
    }
    return PlayedTrack(
      track, index: index, timeline: timeline, formats: formats, eyeFormat: eyeFormat,
      eyes: layers?.eyes, streams: played)
  }

  /// That of the first frame; nil where there is none.
  private func frameDuration(_ track: Track) -> Nanoseconds? {
    track.samples.sample(at: 0).map {
      scale(UInt64($0.duration), .second, UInt64(max(track.timescale, 1)))
    }
  }

  private func format(_ entry: SampleEntry, _ track: Track, viewCount: Int) -> SampleFormat {
    guard case .video(let video) = entry else {
      return SampleFormat(entry: entry, description: VideoDescription(), viewCount: 1)
    }
    return SampleFormat(
      entry: entry, description: description(video, track), viewCount: viewCount)
  }

  private func description(_ entry: VisualSampleEntry, _ track: Track) -> VideoDescription {
    var description = VideoDescription(entry)
    guard track.handlerType == "vide", let first = track.samples.sample(at: 0),
      let last = track.samples.sample(at: track.samples.count - 1)
    else { return description }
    let steps = Int64(clamping: track.samples.count - 1)
    let length = saturatingDifference(last.decodeTime, first.decodeTime)
    let isConstant =
      steps == 0
      || length == steps.multipliedReportingOverflow(by: Int64(first.duration)).partialValue
    if isConstant {
      description.frameRate = Ratio(track.timescale, first.duration)
    } else if length > 0 {
      description.averageFrameDuration = scale(
        UInt64(clamping: length), .second,
        UInt64(track.timescale).multipliedReportingOverflow(by: steps.magnitude).partialValue)
    }
    return description
  }

  /// Whether a track is not meant to be played unasked. Where that is so of all video or all sound,
  /// it is a mistake.
  private func isUnselected(_ track: Track) -> Bool {
    guard !track.isEnabled else { return false }
    guard ["vide", "soun"].contains(track.handlerType) else { return true }
    return movie.tracks.contains { $0.isEnabled && $0.handlerType == track.handlerType }
  }
}
