import CGStreamer
import GStreamer
import HEVC
import ISOBMFF

/// `mvhevcdemux`: reads movies, and gives each eye of layered H.265 as a stream of its own.
let mvhevcDemux = ElementDeclaration<MVHEVCDemux>(
  name: "mvhevcdemux",
  typeName: "GstMVHEVCDemux",
  baseClass: .element,
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
  ])

/// One sink, and sources for what the input turns out to hold: `left` and `right` for the first
/// layered stereo track, and for every track its samples as they are.
///
/// Where upstream can be read anywhere (pull mode), a task of the sink pad reads and hands out the
/// samples in the order of decoding; else they are handed out in the order they come. What a pad
/// says and carries is the same either way.
final class MVHEVCDemux: ElementSubclass, @unchecked Sendable {
  static let log = DebugCategory("mvhevcdemux", "MV-HEVC movie demuxer")

  static let sinkCaps: Caps = {
    let caps = Caps("video/quicktime")
    for media in ["video/mj2", "audio/x-m4a", "application/x-3gp", "video/x-h265"] {
      caps.append(media, [])
    }
    return caps
  }()
  static let eyeCaps = Caps(
    "video/x-h265", ["stream-format": "hvc1", "alignment": "au", "parsed": true])

  /// What applications ask about from their own threads.
  struct Status {
    /// On the movie's time line.
    var position: ClockTime = 0
    var duration: ClockTime?
    /// The part of the movie that is played.
    var play = Segment()
    var isSeekable = false
    /// Where the fragments lie of a movie that is pushed, if it says that.
    var fragments: FragmentIndex?
  }

  /// Where the data comes from, and what it turned out to be.
  enum Input {
    /// Nothing is known yet.
    case unknown
    case movie
    case elementaryStream(ElementaryInput)
  }

  let status = Locked(Status())
  let sink: Pad
  let combiner = FlowCombiner()
  /// The seek whose flush events upstream sends us alone.
  let ownSeek = Locked<UInt32?>(nil)
  /// The seek that was done last.
  let followedSeek = Locked<UInt32?>(nil)
  /// The seek in push mode that waits for upstream to go there.
  let pendingSeek = Locked<PendingSeek?>(nil)

  // What follows is used with the sink pad's stream lock held.

  var input = Input.unknown
  var movie: Movie?
  /// The movie with its first fragment: what streams are described by, since a stream that is read
  /// in order shows no more of itself before it plays.
  var basis: Movie?
  var fileType: FileType?
  /// Whether all fragments are known.
  var isComplete = false
  /// In bytes; nil where it is not known, and in push mode.
  var fileSize: UInt64?
  var tracks: [DemuxTrack] = []
  var elementaryStreams: [DemuxStream] = []
  var globalTags: TagList?
  /// The part of the movie that is played; stream time.
  var play = Segment()
  /// The seek that is followed, for sequence numbers.
  var cause: Event?
  var readAhead = ReadAhead(trackCount: 0)
  /// What has been read since the last seek.
  var budget = SampleBudget()
  /// Something of the movie could be read.
  var hasPlayed = false
  var reverse: ReversePlay?
  var push = PushInput()
  /// Caps of the upstream stream in push mode.
  var upstreamCaps: Caps?
  var warned: Set<String> = []

  required init(_ instance: ElementInstance) throws {
    sink = try Pad(
      instance, template: "sink",
      functions: PadFunctions<MVHEVCDemux>(
        chain: MVHEVCDemux.receive, event: MVHEVCDemux.handle,
        query: MVHEVCDemux.answerUpstream, activate: MVHEVCDemux.activate,
        activateMode: MVHEVCDemux.activateMode))
    try super.init(instance)
    add(sink)
  }

  var streams: [DemuxStream] { tracks.flatMap(\.streams) + elementaryStreams }

  override func start() throws { forget() }

  override func stop() {
    for stream in streams {
      combiner.remove(stream.pad)
      remove(stream.pad)
    }
    forget()
  }

  private func forget() {
    status.withLock { $0 = Status() }
    ownSeek.withLock { $0 = nil }
    followedSeek.withLock { $0 = nil }
    pendingSeek.withLock { $0 = nil }
    combiner.reset()
    input = .unknown
    movie = nil
    basis = nil
    fileType = nil
    isComplete = false
    fileSize = nil
    tracks = []
    elementaryStreams = []
    globalTags = nil
    play = Segment()
    cause = nil
    readAhead = ReadAhead(trackCount: 0)
    budget = SampleBudget()
    hasPlayed = false
    reverse = nil
    push = PushInput()
    upstreamCaps = nil
    warned = []
  }

  /// Tells the application once what is left out or guessed.
  func warn(_ message: String, debug: String = "") {
    guard warned.count < 64, warned.insert(message).inserted else { return }
    postWarning(ElementError(.demux, message, debug: debug))
  }

  /// What all streams are told.
  func pushToAll(_ event: Event) {
    for stream in streams { stream.pad.push(event) }
  }

  /// An event of this element's, as an answer to the seek that is followed.
  func following(_ event: Event) -> Event {
    cause.map { event.following($0) } ?? event
  }
}
