// SPDX-License-Identifier: MPL-2.0

import GStreamer
import ISOBMFF
import StereoVideo

/// The track of the two eyes, which are encoded or woven here.
struct EyesTrack {
  private let element: MVHEVCMux
  private(set) var input: StereoInput
  /// The input whose parameter sets are in the movie's sample entry.
  private var describedInput: StereoInput?
  /// Whether the encoders have been drained.
  private var hasEnded = false

  /// Throws if an eye has no caps.
  init(_ element: MVHEVCMux, _ inputs: [MuxInput], baseEye: Eye) throws {
    self.element = element
    input = try Self.makeInput(element, inputs, baseEye: baseEye)
  }

  private static func makeInput(
    _ element: MVHEVCMux, _ inputs: [MuxInput], baseEye: Eye, following earlier: StereoInput? = nil
  ) throws -> StereoInput {
    let input = StereoInput(
      settings: element.settings.current.encoder, pairs: element.makePairs(),
      keyframes: element.keyframes, baseEye: baseEye, following: earlier)
    for eye in Eye.allCases {
      guard let caps = inputs.first(where: { $0.name == eye.rawValue })?.caps else {
        throw ElementError(
          .mux, "The \(eye) eye's stream ended before its first frame, so there is no pair.")
      }
      try input.setCaps(caps, of: eye)
    }
    return input
  }

  /// The movie that the track belongs to.
  struct Place {
    let movie: MovieFileWriter
    let description: MuxDescription
  }

  /// Takes the next pair of frames. If their size or format has changed, drains the previous input
  /// into the movie and makes a new one.
  mutating func take(
    left: AggregatorPad, right: AggregatorPad, to place: Place, _ progress: inout MuxProgress
  ) throws {
    if input.isOver {
      try drain(to: place, &progress)
      input = try Self.makeInput(
        element, place.description.inputs, baseEye: input.baseEye, following: input)
    }
    element.followSettings(input)
    try write(try input.take(left: left, right: right), to: place, &progress)
    for warning in input.warnings() { element.postWarning(warning) }
  }

  /// Writes layered access units.
  private mutating func write(
    _ frames: [LayeredFrame], to place: Place, _ progress: inout MuxProgress
  ) throws {
    // In a fragmented file, the sample entry comes before the first sample.
    if !frames.isEmpty, describedInput !== input {
      describedInput = input
      try describe(in: place)
    }
    for frame in frames {
      let dependency: SampleDependency =
        frame.isSync ? .independent : frame.isReference ? .dependent : .disposable
      try place.movie.append(
        frame.buffer,
        MovieFileWriter.Timing(
          presentationTime: frame.presentationTime, decodeTime: frame.decodeTime,
          // The duration matters only for the movie's last picture.
          duration: frame.duration ?? (progress.hasPictures ? 0 : LayeredFrame.stillDuration),
          isSync: frame.isSync,
          dependency: dependency),
        to: MuxPads.eyesTrack)
      progress.addPicture(
        at: frame.presentationTime, decodedAt: frame.decodeTime, duration: frame.duration ?? 0)
    }
  }

  /// Sets the track's sample entry, if the parameter sets are known.
  func describe(in place: Place) throws {
    try place.description.setEyesEntry(input, of: place.movie)
  }

  /// Writes the frames that are still in the encoders.
  ///
  /// - Parameter isEnd: whether it is the end of the stream, so that the settings decide.
  private mutating func drain(
    to place: Place, _ progress: inout MuxProgress, isEnd: Bool = false
  ) throws {
    while let frames = try input.drain(
      all: !isEnd || element.settings.current.encoder.drainsAtEnd)
    {
      try write(frames, to: place, &progress)
      progress.post(from: element, of: place.movie)
    }
  }

  /// Ends the track, after the frames that are still in the encoders unless they are unwanted.
  /// Later calls do nothing.
  mutating func end(in place: Place, _ progress: inout MuxProgress) throws {
    guard !hasEnded else { return }
    hasEnded = true
    try drain(to: place, &progress, isEnd: true)
    try place.movie.end(MuxPads.eyesTrack)
    guard describedInput != nil else {
      throw ElementError(
        .mux, "The streams ended before the first pair of frames, so there is no picture to write.")
    }
    if let warning = input.pairs.warning(isFinal: true) { element.postWarning(warning) }
  }
}

/// The extent of a movie so far, and reports on it.
struct MuxProgress {
  /// Latest decode time of the samples so far, as running time.
  private(set) var lastTime = RunningTime.min
  /// End of the last sample so far, as running time.
  private(set) var endTime: RunningTime = 0
  /// End of the last picture to be shown so far, as running time.
  private(set) var pictureEnd: RunningTime = 0
  private var pictureCount = 0
  private var lastPictureTime: RunningTime = 0
  private var report = ProgressReport("mvhevcmux-progress")

  var hasPictures: Bool { pictureCount > 0 }

  mutating func addSample(
    at time: RunningTime, decodedAt decodeTime: RunningTime, duration: ClockTime
  ) {
    lastTime = max(lastTime, decodeTime)
    endTime = max(endTime, time + duration)
  }

  mutating func addPicture(
    at time: RunningTime, decodedAt decodeTime: RunningTime, duration: ClockTime
  ) {
    addSample(at: time, decodedAt: decodeTime, duration: duration)
    lastPictureTime = max(lastPictureTime, time)
    pictureEnd = max(pictureEnd, time + duration)
    pictureCount += 1
  }

  /// Posts a progress message if one is due, or if it is the last one.
  mutating func post(from element: MVHEVCMux, of movie: MovieFileWriter, isFinal: Bool = false) {
    report.post(
      from: element, runningTime: lastPictureTime, frames: pictureCount, bytes: movie.byteCount,
      isFinal: isFinal)
  }
}
