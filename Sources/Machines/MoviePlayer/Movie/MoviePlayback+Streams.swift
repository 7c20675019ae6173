// SPDX-License-Identifier: MPL-2.0

import HEVC
import ISOBMFF
import StereoVideo

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
