// SPDX-License-Identifier: MPL-2.0

import GStreamer
import MoviePlayer

/// `mvhevcdemux`: reads movies and outputs each eye of layered H.265 as a separate stream.
let mvhevcDemux = ElementDeclaration<MVHEVCDemux>(
  name: "mvhevcdemux",
  typeName: "GstMVHEVCDemux",
  longName: "MV-HEVC movie demuxer",
  klass: "Codec/Demuxer/Video",
  description: "Reads MV-HEVC (spatial) and other movies and layered H.265 streams, "
    + "and outputs each eye as plain H.265",
  author: author,
  padTemplates: [
    PadTemplate("sink", .sink, caps: MVHEVCDemux.sinkCaps),
    PadTemplate("left", .source, .sometimes, caps: MVHEVCDemux.eyeCaps),
    PadTemplate("right", .source, .sometimes, caps: MVHEVCDemux.eyeCaps),
    PadTemplate("video_%u", .source, .sometimes, caps: .any),
    PadTemplate("audio_%u", .source, .sometimes, caps: .any),
    PadTemplate("meta_%u", .source, .sometimes, caps: .any),
  ],
  properties: [
    .fraction(
      "framerate", nick: "Frame rate",
      blurb: "Frames per second of H.265 without container and timestamps, overriding the rate in "
        + "the stream; 0/1 to use the stream's",
      at: \.frameRate),
    .bool(
      "announce-keyframes", nick: "Announce keyframes",
      blurb:
        "Whether a keyframe of video follows an event GstForceKeyUnit, so that an encoder after "
        + "a decoder makes a keyframe of the same picture", default: false,
      at: \.announcesKeyframes),
  ])

/// One sink pad, and source pads for the content of the input: `left` and `right` for the first
/// layered stereo track, and one for each track with its samples as stored.
///
/// A `MoviePlayer` does the work. This element connects it to GStreamer: it gets the bytes that the
/// player asks for, and turns the player's output into pads, events and buffers. In pull mode, a
/// task of the sink pad drives it; in push mode, the upstream thread does.
final class MVHEVCDemux: ElementImplementation {
  struct Settings: Sendable {
    /// In frames per second; nil to use the stream's rate.
    var frameRate: Fraction?
    var announcesKeyframes = false
  }

  /// Type name of the element that exposes only the eyes as video streams.
  static let autoplugged = "GstMVHEVCAutoDemux"

  fileprivate static let sinkCaps: Caps = {
    let caps = Caps("video/quicktime")
    for media in ["video/mj2", "audio/x-m4a", "application/x-3gp", "video/x-h265"] {
      caps.append(media, [])
    }
    return caps
  }()
  fileprivate static let eyeCaps = Caps(
    "video/x-h265", ["stream-format": "hvc1", "alignment": "au", "parsed": true])

  struct Streaming {
    let element: MVHEVCDemux
    private let owned = Owned()
    /// Indexed by the player's stream ids.
    var outputs: [DemuxOutput] = []
    let combiner = FlowCombiner()
    /// The seek event being served; its sequence number is used for the events pushed.
    var cause: Event?
    /// Group id of the streams if upstream provides none.
    var ownGroup: UInt32?
    var stepCount = 0
    /// Memory that large samples are read into.
    let memory = RecycledMemory()

    init(element: MVHEVCDemux) {
      self.element = element
    }

    /// Nil until the first input.
    var player: MoviePlayer? {
      _read { yield owned.player }
      nonmutating _modify { yield &owned.player }
    }

    // The accessors above allocate memory for what they yield: acceptable, but not for each sample.

    var hasPlayer: Bool { owned.player != nil }
    /// Position in stream time.
    var position: ClockTime { owned.player?.position ?? 0 }

    /// Temporary file for bytes whose use is not known yet, if there are too many for memory.
    var spool: ByteSpool? {
      _read { yield owned.spool }
      nonmutating _modify { yield &owned.spool }
    }

    /// Noncopyable state, boxed because the streaming state has to be copyable.
    private final class Owned {
      var player: MoviePlayer?
      var spool: ByteSpool?
    }
  }

  /// State that other threads ask for or change.
  struct Shared: Sendable {
    /// In the order of the player's streams.
    var pads: [Pad] = []
    /// Position in stream time.
    var position: ClockTime = 0
    /// Nil if unknown.
    var duration: ClockTime?
    /// The segment being played.
    var segment = PlaybackSegment()
    /// Nil if the input is not seekable.
    var seekMap: SeekMap?
    /// Latency of each pad.
    var latencies: [ClockTime] = []
    /// Whether seeks have to be done by upstream elements.
    var isSoughtUpstream = false
    /// Sequence number of a seek made by this element; its flush events stay inside it.
    var ownSeek: UInt32?
    /// Sequence number of the last seek done; the same seek arrives on every pad.
    var followedSeek: UInt32?
    /// A seek for which upstream has been asked to go to a byte offset.
    var pendingSeek: (plan: SeekPlan, event: Event)?
  }

  let instance: ElementInstance
  let settings = Locked(Settings())
  let sink: Pad
  let shared = Locked(Shared())

  init(_ instance: ElementInstance) throws {
    self.instance = instance
    sink = try Pad(
      instance, template: "sink",
      .sink(
        chain: MVHEVCDemux.receive, event: MVHEVCDemux.handle,
        unserializedEvent: MVHEVCDemux.handleAtOnce, query: MVHEVCDemux.answerUpstream
      ).pulling(step: MVHEVCDemux.pull, ended: MVHEVCDemux.finish))
    add(sink)
  }

  func start() throws -> Streaming {
    shared.withLock { $0 = Shared() }
    return Streaming(element: self)
  }

  func stop(_ streaming: consuming Streaming) {
    for output in streaming.outputs { remove(output.pad) }
    shared.withLock { $0 = Shared() }
  }
}
