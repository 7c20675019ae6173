// SPDX-License-Identifier: MPL-2.0

import GStreamer
import MoviePlayer

/// `mvhevcdemux`: reads movies, and gives each eye of layered H.265 as a stream of its own.
let mvhevcDemux = ElementDeclaration<MVHEVCDemux>(
  name: "mvhevcdemux",
  typeName: "GstMVHEVCDemux",
  longName: "MV-HEVC movie demuxer",
  klass: "Codec/Demuxer/Video",
  description: "Reads MV-HEVC (spatial) and other movies and layered H.265 streams, "
    + "and gives each eye as plain H.265",
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
      blurb: "Frames a second of H.265 without a container and without timestamps, whatever it "
        + "says itself; 0/1 for what it says",
      at: \.frameRate)
  ])

/// One sink, and sources for what the input turns out to hold: `left` and `right` for the first
/// layered stereo track, and for every track its samples as they are.
///
/// A `MoviePlayer` does the work. This element is what stands between it and GStreamer: it gets the
/// bytes that the player asks for, and makes pads, events and buffers of what the player gives.
/// Where upstream can be read anywhere (pull mode), a task of the sink pad does that; else whoever
/// pushes.
final class MVHEVCDemux: ElementImplementation {
  struct Settings: Sendable {
    /// Nil for what the stream says.
    var frameRate: Fraction?
  }

  static let log = DebugCategory("mvhevcdemux", "MV-HEVC movie demuxer")

  /// The type that gives the eyes alone.
  static let autoplugged = "GstMVHEVCAutoDemux"

  static let sinkCaps: Caps = {
    let caps = Caps("video/quicktime")
    for media in ["video/mj2", "audio/x-m4a", "application/x-3gp", "video/x-h265"] {
      caps.append(media, [])
    }
    return caps
  }()
  static let eyeCaps = Caps(
    "video/x-h265", ["stream-format": "hvc1", "alignment": "au", "parsed": true])

  struct Streaming {
    let element: MVHEVCDemux
    private let owned = Owned()
    /// By the player's numbers of their streams.
    var outputs: [DemuxOutput] = []
    let combiner = FlowCombiner()
    /// The seek that is followed, for sequence numbers.
    var cause: Event?
    /// What ties the streams together, where upstream does not.
    var ownGroup: UInt32?
    var stepCount = 0
    /// What large samples are read into.
    let memory = RecycledMemory()

    init(element: MVHEVCDemux) {
      self.element = element
    }

    /// Nil before anything of the input has come.
    var player: MoviePlayer? {
      _read { yield owned.player }
      nonmutating _modify { yield &owned.player }
    }

    // The accessors above make memory for what they yield: no matter, but not for each sample.

    var hasPlayer: Bool { owned.player != nil }
    /// How far the movie has been played, on its own time line.
    var position: ClockTime { owned.player?.position ?? 0 }

    /// Where bytes lie of which nobody knows yet what they are, if there are too many for memory.
    var spool: ByteSpool? {
      _read { yield owned.spool }
      nonmutating _modify { yield &owned.spool }
    }

    /// What cannot be copied, as the state of a streaming thread has to be.
    private final class Owned {
      var player: MoviePlayer?
      var spool: ByteSpool?
    }
  }

  /// What other threads ask about, as it is now.
  struct Facts: Sendable {
    /// In the order of the player's streams.
    var pads: [Pad] = []
    /// How far the movie has been played, on its own time line.
    var position: ClockTime = 0
    /// Nil where it is not known.
    var duration: ClockTime?
    /// The part of the movie that is played, on its own time line.
    var segment = PlaybackSegment()
    /// Nil where nothing can be sought.
    var seekMap: SeekMap?
    /// By how much data comes late on each of the pads.
    var latencies: [ClockTime] = []
    /// Whoever wants to go elsewhere has to ask upstream.
    var isSoughtUpstream = false
  }

  /// Seeks that are under way, and the last.
  struct Seeks: Sendable {
    /// The one whose flush events upstream sends this element alone.
    var own: UInt32?
    /// The one that was done last, for all of the application's.
    var followed: UInt32?
    /// The one for which upstream has been asked to go to the right byte.
    var pending: (plan: SeekPlan, event: Event)?
  }

  let instance: ElementInstance
  let settings = Locked(Settings())
  let sink: Pad
  let facts = Locked(Facts())
  let seeks = Locked(Seeks())

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
    facts.withLock { $0 = Facts() }
    seeks.withLock { $0 = Seeks() }
    return Streaming(element: self)
  }

  func stop(_ streaming: consuming Streaming) {
    for output in streaming.outputs { remove(output.pad) }
    facts.withLock { $0 = Facts() }
    seeks.withLock { $0 = Seeks() }
  }
}
