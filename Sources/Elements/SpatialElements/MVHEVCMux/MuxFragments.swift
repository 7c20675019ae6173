// SPDX-License-Identifier: MPL-2.0

import GStreamer
import ISOBMFF
import StereoVideo

/// Handling of the fragments at the end, as a property: names and values are those of `mp4mux`.
enum FragmentMode: Int32, EnumType {
  case dashOrMSS = 0
  case firstMoovThenFinalise = 1

  static let typeName = "GstMVHEVCMuxFragmentMode"

  var names: (nick: String, description: String) {
    switch self {
    case .dashOrMSS: ("dash-or-mss", "Fragments for streaming")
    case .firstMoovThenFinalise:
      (
        "first-moov-then-finalise",
        "Fragments while recording, one index at the end: a crash loses at most the last fragment"
      )
    }
  }
}

/// Whether tracks of fragmented files have edit lists, as a property: names and values are those of
/// `isofmp4mux`.
enum EditListMode: Int32, EnumType {
  case auto = 0
  case always = 1
  case never = 2

  static let typeName = "GstMVHEVCMuxWriteEdtsMode"

  var names: (nick: String, description: String) {
    switch self {
    case .auto: ("auto", "If a track needs one, except in CMAF")
    case .always: ("always", "If a track needs one")
    case .never: ("never", "None: signed composition offsets are used instead")
    }
  }

  /// Whether tracks that need an edit list have one; nil for the format's default.
  var hasEditLists: Bool? { self == .auto ? nil : self == .always }
}

/// Handling of the initialization segment at the end, as a property: names and values are those of
/// `isofmp4mux`.
enum HeaderUpdateMode: Int32, EnumType {
  case none = 0
  case rewrite = 1
  case update = 2
  case caps = 3

  static let typeName = "GstMVHEVCMuxHeaderUpdateMode"

  var names: (nick: String, description: String) {
    switch self {
    case .none: ("none", "Keep it as first written")
    case .rewrite: ("rewrite", "Overwrite it with the final values")
    case .update: ("update", "Write it again, with the final values, after the last fragment")
    case .caps:
      (
        "caps",
        "Put the final values in the source pad's caps; if a stream changes its format, write "
          + "another initialization segment to the caps and the file"
      )
    }
  }
}

/// Requests by the application about coming fragments, made by signals.
struct SplitRequests {
  /// Whether the initialization segment is to be written again.
  var header = false
  /// Running times at or after which a fragment is to begin.
  private var splits: Set<RunningTime> = []
  /// Maximum number of pending requests; further ones are ignored.
  private static let most = 1000

  mutating func split(at time: RunningTime) {
    if splits.count < Self.most { splits.insert(time) }
  }

  /// Whether a fragment is to begin with a sample at this time.
  func isSplit(at time: RunningTime) -> Bool { splits.contains { $0 <= time } }

  /// Removes the requests that a fragment beginning at this time satisfies.
  mutating func begin(at time: RunningTime) { splits = splits.filter { $0 > time } }
}

/// Settings for fragmented movies.
struct FragmentSettings {
  /// Minimum duration of fragments; 0 for a file without fragments.
  var duration: ClockTime = 0
  /// Duration of chunks; 0 for fragments in one piece.
  var chunkDuration: ClockTime = 0
  var mode = FragmentMode.dashOrMSS
  var hasRandomAccessIndex = false
  var sendsKeyframeRequests = true
  var headerUpdate = HeaderUpdateMode.none
  var hasDuration = false
  var editLists = EditListMode.auto
  var firstSequenceNumber: UInt32 = 1

  /// Longest time that data stays in the element.
  var latency: ClockTime { chunkDuration > 0 ? min(chunkDuration, duration) : duration }

  /// Whether the file becomes a progressive movie at the end.
  var isFinalised: Bool { duration > 0 && mode == .firstMoovThenFinalise }
  /// Whether another initialization segment is written if a stream's format changes.
  var followsFormats: Bool { duration > 0 && !isFinalised && headerUpdate == .caps }
  /// Whether the file is completed by overwriting its start.
  var needsSeekableSink: Bool { duration == 0 || isFinalised || headerUpdate == .rewrite }

  static func properties<Owner: HasSettings>(
    at path: WritableKeyPath<Owner.Settings, FragmentSettings>
  ) -> [Property<Owner>] {
    [
      .time(
        "fragment-duration", nick: "Fragment duration",
        blurb: "Minimum duration of fragments, which all begin with a keyframe, in nanoseconds "
          + "(0 = not fragmented: one index at the end of the file)",
        at: path.appending(path: \.duration)),
      .time(
        "chunk-duration", nick: "Chunk duration",
        blurb: "Duration of the chunks in which fragments are sent before they are complete, "
          + "in nanoseconds (0 = in one piece)",
        at: path.appending(path: \.chunkDuration)),
      .choice(
        "fragment-mode", nick: "Fragment mode",
        blurb: "What happens to the fragments at the end of the file",
        default: .dashOrMSS, at: path.appending(path: \.mode)),
      .bool(
        "write-mfra", nick: "Write mfra",
        blurb: "Whether a fragmented file ends with a table of random access points",
        default: false, at: path.appending(path: \.hasRandomAccessIndex)),
      .bool(
        "send-force-keyunit", nick: "Send force-keyunit events",
        blurb: "Whether to request keyframes from encoders where fragments should begin",
        default: true, at: path.appending(path: \.sendsKeyframeRequests)),
      .choice(
        "header-update-mode", nick: "Header update mode",
        blurb: "What happens to the initialization segment at the end of a fragmented file",
        default: HeaderUpdateMode.none, at: path.appending(path: \.headerUpdate)),
      .bool(
        "write-mehd", nick: "Write mehd",
        blurb: "Whether the initialization segment contains the movie's duration, which is known "
          + "only at the end, so that it needs a header-update-mode",
        default: false, at: path.appending(path: \.hasDuration)),
      .choice(
        "write-edts-mode", nick: "Write edts mode",
        blurb: "Whether tracks of fragmented files have edit lists (edts)",
        default: EditListMode.auto, at: path.appending(path: \.editLists)),
      .uint(
        "start-fragment-sequence-number", nick: "Start fragment sequence number",
        blurb: "Sequence number of the first fragment", in: 0...UInt32.max, default: 1,
        at: path.appending(path: \.firstSequenceNumber)),
    ]
  }
}

extension MVHEVCMux {
  /// Returns a writer for the kind of file in the settings.
  ///
  /// - Parameter origin: the running time of the movie's start.
  func makeFile(
    _ tracks: [TrackDescription], metadata: MovieMetadata, origin: RunningTime,
    output: CoalescingOutput
  ) throws -> MovieFileWriter {
    let settings = settings.current
    guard settings.fragments.duration > 0 else {
      guard settings.container != .cmaf else {
        throw ElementError(
          .mux, "CMAF needs fragments; set fragment-duration, for example to 2000000000.")
      }
      return try ProgressiveMovieFile(
        container: settings.container.container, metadata: metadata, tracks: tracks,
        origin: origin, output: output)
    }
    guard settings.container != .cmaf || tracks.count == 1 else {
      throw ElementError(
        .mux, "A CMAF file has one track, but there are \(tracks.count); write one file for each.")
    }
    return try FragmentedMovieFile(
      FragmentedMovieFile.Options(
        format: settings.container == .cmaf ? .cmaf : .movie(settings.container.container),
        duration: settings.fragments.duration,
        chunkDuration: settings.fragments.chunkDuration > 0
          ? settings.fragments.chunkDuration : nil,
        isFinalised: settings.fragments.isFinalised,
        hasRandomAccessIndex: settings.fragments.hasRandomAccessIndex,
        headerUpdate: settings.fragments.headerUpdate, hasDuration: settings.fragments.hasDuration,
        hasEditLists: settings.fragments.editLists.hasEditLists,
        firstSequenceNumber: settings.fragments.firstSequenceNumber),
      metadata: metadata, tracks: tracks, origin: origin, demands: demands, output: output)
  }

  /// The source pad's caps before the initialization segment is known.
  var fileCaps: Caps {
    let settings = settings.current
    guard settings.fragments.duration > 0, !settings.fragments.isFinalised else {
      return settings.container.caps
    }
    return Caps(
      "video/quicktime", ["variant": settings.container == .cmaf ? "cmaf" : "iso-fragmented"])
  }

  func announce(streamHeader: Buffer) {
    setSourceCaps(fileCaps.with(["streamheader": .array([.buffer(streamHeader)])]))
  }

  /// Repeats the initialization segment before the next fragment.
  func sendHeaders() { demands.withLock { $0.header = true } }

  /// Starts a fragment at a running time, with a keyframe that is requested from encoders.
  func split(at time: ClockTime?) {
    guard let time else { return }
    demands.withLock { $0.split(at: RunningTime(clamping: time)) }
    // A keyframe since that time may be in an earlier fragment.
    keyframes.add(RunningTime(clamping: time), always: true)
    for pad in sinkPads where MuxInput.Kind(pad.name) == .video {
      pad.push(.forceKeyUnit(at: RunningTime(clamping: time)))
    }
  }
}

extension MVHEVCMux.Streaming {
  /// Requests keyframes from the encoders, up to one fragment ahead of a running time.
  mutating func requestKeyframes(at time: RunningTime) {
    let distance = fragments.duration
    guard distance > 0, fragments.sendsKeyframeRequests else { return }
    var next = nextKeyframe ?? max(time, 0) + distance
    // After a gap of any length, one request is enough.
    if next < time { next = time }
    while next <= time + distance, next < .max {
      element.keyframes.add(next)
      for pad in element.sinkPads where MuxInput.Kind(pad.name) == .video {
        pad.push(.forceKeyUnit(at: next - shift(of: pad.name)))
      }
      next = next + distance
    }
    nextKeyframe = next
  }

  /// Makes the last request again: an encoder whose times have jumped was asked in the old ones.
  mutating func repeatRequest() {
    nextKeyframe = nextKeyframe.map { $0 - RunningTime(clamping: fragments.duration) }
  }
}

extension FragmentedMovieFile {
  /// How a file is cut into fragments.
  struct Options {
    let format: FragmentFormat
    /// A fragment ends at the first sync sample this long after its start.
    let duration: ClockTime
    /// Duration of the chunks that fragments are written in; nil for whole fragments.
    var chunkDuration: ClockTime?
    /// Whether the file becomes a progressive movie at its end, which needs a seekable output.
    var isFinalised = false
    /// Whether the file ends with a table of random access points (`mfra`).
    var hasRandomAccessIndex = false
    var headerUpdate = HeaderUpdateMode.none
    /// Whether the initialization segment has the movie's duration (`mehd`), as far as it is known.
    var hasDuration = false
    /// Whether tracks that need an edit list have one; nil for the format's default.
    var hasEditLists: Bool?
    var firstSequenceNumber: UInt32 = 1
  }
}
