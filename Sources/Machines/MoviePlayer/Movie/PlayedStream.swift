// SPDX-License-Identifier: MPL-2.0

import HEVC
import ISOBMFF
import StereoVideo

/// The playback state of a stream.
struct PlayedStream: Sendable {
  let id: StreamID
  let role: PlayerStream.Role
  /// Whether the stream is selected.
  var isSelected = true
  /// Whether the next sample does not continue the previous one.
  private(set) var isDiscontinuous = true
  /// Whether the end of the stream has been sent.
  var hasEnded = false
  /// Whether an eye needs a random access point before it can continue.
  var waitsForSync = true
  /// Delay of the stream's timestamps relative to those of the source samples.
  let shift: ClockTime
  /// The largest delay so far of an eye's picture that waits for others.
  private(set) var latency: ClockTime = 0
  /// The segment announced last, with the stream's own timestamps; nil before the first and after a
  /// flush.
  private(set) var segment: PlaybackSegment?

  init(id: StreamID, role: PlayerStream.Role, shift: ClockTime = 0) {
    (self.id, self.role, self.shift) = (id, role, shift)
  }

  /// Returns to the state before the first sample.
  mutating func restart() {
    isDiscontinuous = true
    hasEnded = false
    waitsForSync = true
    segment = nil
  }

  /// Marks the next sample as a discontinuity.
  mutating func interrupt() { isDiscontinuous = true }

  /// Returns the discontinuity flag for the next sample, and clears it.
  private mutating func takeDiscontinuity() -> Sample.Flags {
    defer { isDiscontinuous = false }
    return isDiscontinuous ? .discontinuity : []
  }

  /// Whether the stream is selected. An eye that is not needs a random access point when it is
  /// selected again.
  mutating func isTaken() -> Bool {
    if !isSelected { waitsForSync = true }
    return isSelected
  }

  /// Whether a sample of an eye can be output, given whether decoding can start at its access unit.
  mutating func takes(isSync: Bool) -> Bool {
    if waitsForSync, isSync { waitsForSync = false }
    return !waitsForSync
  }

  /// Sends the end of the stream, preceded by a segment if there was none.
  mutating func end(_ start: SegmentStart, _ outputs: inout OutputQueue) {
    if segment == nil { begin(start, &outputs) }
    hasEnded = true
    outputs.append(.endOfStream(id))
  }

  /// Announces a segment.
  mutating func begin(_ start: SegmentStart, _ outputs: inout OutputQueue) {
    var start = start
    start.segment.start += shift
    start.segment.stop = start.segment.stop.map { $0 + shift }
    start.segment.position += shift
    segment = start.segment
    outputs.append(.segment(id, start))
  }

  /// Sends a gap between two timestamps of the source samples.
  func gap(from start: ClockTime, to end: ClockTime, _ outputs: inout OutputQueue) {
    guard isSelected, segment != nil else { return }
    outputs.append(.gap(id, start: start + shift, duration: end - start))
  }

  // MARK: Giving samples

  mutating func give(_ sample: Sample, _ outputs: inout OutputQueue) {
    var sample = sample
    sample.flags.formUnion(takeDiscontinuity())
    outputs.append(.sample(id, sample))
  }

  /// Outputs the samples of an eye that an access unit completes.
  ///
  /// - Parameter format: The eye's format; its parameter sets are replaced.
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
          .layers, "Some decoders cannot decode the \(eye) eye.", detail: "\(warning)"))
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
    let latest = frame * (eyes?.delay(of: eye) ?? 0)
    guard latest > latency else { return }
    latency = latest
    outputs.append(.statusChanged)
  }

  /// Outputs the samples that the eye still holds.
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
      .damaged, "A damaged frame of the \(eye) eye is left out.", detail: detail)
  }
}

/// Creation of the streams of a movie.
extension MoviePlayback {
  /// No real movie has more tracks.
  private static let maximumTrackCount = 64

  /// Returns the first track that may contain two layered eyes, whose first sample must be
  /// inspected.
  static func layeredTrack(of movie: Movie) -> Int? {
    movie.tracks.firstIndex { track in
      guard track.samples.count > 0, case .video(let entry)? = track.sampleEntries.first else {
        return false
      }
      return LayeredContent.isPossible(in: entry)
    }
  }

  /// Creates the playback of a movie at its start and outputs its streams.
  ///
  /// - Parameters:
  ///   - basis: The movie with its first fragment, from which the streams are described: nothing
  ///     more is known of a stream read in order before it plays.
  ///   - first: The first sample of the track at ``layeredTrack(of:)``.
  ///   - options: Which streams are offered.
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
    let dependent = basis.dependentViews
    for (index, track) in basis.tracks.enumerated() where !dependent.contains(index) {
      guard !track.sampleEntries.isEmpty, track.samples.count > 0 || movie.isFragmented else {
        continue
      }
      guard tracks.count < Self.maximumTrackCount || index == layered else {
        outputs.warn(
          PlayerWarning(
            .tracks,
            "The movie has \(movie.tracks.count) tracks; only \(Self.maximumTrackCount) are "
              + "played."))
        continue
      }
      tracks.append(builder.add(index, first: index == layered ? first : nil, &outputs))
    }
    guard !tracks.isEmpty else { throw .noTracks }
    outputs.append(.streams(builder.streams))
  }
}

/// Creates the streams of a movie's tracks.
struct StreamBuilder {
  let movie: Movie
  private let options: PlayerOptions
  private(set) var streams: [PlayerStream] = []
  private var counts: [PlayerStream.Kind: Int] = [:]

  init(movie: Movie, _ options: PlayerOptions = PlayerOptions()) {
    self.movie = movie
    self.options = options
  }

  /// Creates a track with its streams: the eyes that can be extracted, and the samples as they are.
  mutating func add(
    _ index: Int, first: ByteSlice?, _ outputs: inout OutputQueue
  ) -> PlayedTrack {
    let track = movie.withDependentView(index)
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
    func add(_ role: PlayerStream.Role, _ format: StreamFormat, shift: ClockTime = 0) {
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
      track, index: index, dependent: movie.dependentView(of: index), timeline: timeline,
      formats: formats, eyeFormat: eyeFormat, eyes: layers?.eyes, streams: played)
  }

  /// Returns the duration of the first frame; nil if there is none.
  private func frameDuration(_ track: Track) -> ClockTime? {
    track.samples.sample(at: 0).map { ClockTime($0.duration, perSecond: max(track.timescale, 1)) }
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
    let length = last.decodeTime.saturatingSubtracting(first.decodeTime)
    let isConstant =
      steps == 0
      || length == steps.multipliedReportingOverflow(by: Int64(first.duration)).partialValue
    if isConstant {
      description.frameRate = Ratio(track.timescale, first.duration)
    } else if length > 0 {
      description.averageFrameDuration = ClockTime(length, perSecond: track.timescale) / steps
    }
    return description
  }

  /// Whether a track is disabled, and so not meant for playback by default. If all video or all
  /// audio tracks are disabled, that is taken for an authoring mistake.
  private func isUnselected(_ track: Track) -> Bool {
    guard !track.isEnabled else { return false }
    guard ["vide", "soun"].contains(track.handlerType) else { return true }
    return movie.tracks.contains { $0.isEnabled && $0.handlerType == track.handlerType }
  }
}
