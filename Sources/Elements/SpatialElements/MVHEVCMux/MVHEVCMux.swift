// SPDX-License-Identifier: MPL-2.0

import GStreamer
import ISOBMFF
import StereoVideo

/// `mvhevcmux`: writes a spatial movie, encoding or weaving the two eyes on the way.
let mvhevcMux = ElementDeclaration<MVHEVCMux>(
  name: "mvhevcmux",
  typeName: "GstMVHEVCMux",
  longName: "MV-HEVC movie muxer",
  klass: "Codec/Muxer",
  description: "Writes an MV-HEVC (spatial) movie: encodes two raw eyes, weaves two H.265 eyes, "
    + "or takes layered video unchanged",
  author: author,
  // Below qtmux and mp4mux: for what these cannot write.
  rank: .marginal,
  padTemplates: [
    // The first that fits is linked where no pad is named, by gst-launch and by encodebin.
    PadTemplate("video_%u", .sink, .request, caps: MuxVideoCaps.template),
    PadTemplate("left", .sink, .request, caps: StereoEyeCaps.template),
    PadTemplate("right", .sink, .request, caps: StereoEyeCaps.template),
    PadTemplate("audio_%u", .sink, .request, caps: MuxAudioCaps.template),
    PadTemplate("subtitle_%u", .sink, .request, caps: MuxSubtitles.template),
    PadTemplate("meta_%u", .sink, .request, caps: MuxMetaCaps.template),
    PadTemplate("src", .source, caps: Caps("video/quicktime")),
  ],
  properties: MVHEVCMux.movieProperties + SpatialSettings.sphereProperties(at: \.spatial)
    + FragmentSettings.properties(at: \.fragments)
    + EncoderSettings.properties(at: \.encoder) + PairingSettings.properties(at: \.pairing),
  signals: [
    .action("send-headers") { $0.sendHeaders() },
    .action("split-at-running-time", at: { $0.split(at: $1) }),
  ],
  interfaces: [.tagSetter, .tocSetter, .preset])

/// A muxer with request sink pads and one source pad for the bytes of the file.
///
/// The index of a movie is written at its end, so that memory does not grow with the size of
/// the file; the peer of the source pad has to be seekable, like `filesink`. A fragmented movie can
/// be sent to any peer.
final class MVHEVCMux: EyePairing {
  struct Settings: HasEncoderSettings, HasPairingSettings {
    var encoder = EncoderSettings()
    var pairing = PairingSettings()
    var container = ContainerChoice.quickTime
    /// In seconds since 1970; it takes precedence over tags.
    var creationTime: Int64?
    var fragments = FragmentSettings()
    /// Spatial metadata from properties; it takes precedence over tags.
    var spatial = SpatialSettings()
  }

  struct Streaming {
    let element: MVHEVCMux
    let output: CoalescingOutput
    /// One stream for each sink pad that has received an event or buffer.
    private(set) var inputs: [MuxInput] = []
    /// Global-scope tags received so far.
    var globalTags = TagList()
    /// The fragment settings when the movie began.
    var fragments = FragmentSettings()
    /// The movie that is being written; nil before the first data.
    var movie: MovieFileWriter?
    /// Whether data comes from a live source, so that its times can jump ahead.
    var isLive = false
    /// Whether a track of the movie has stereo views.
    var isSpatial = false
    /// Nil if there are no eyes to encode or weave.
    var eyes: EyesTrack?
    var sideTracks = SideTracks()
    var progress = MuxProgress()
    /// The latest jump of a stream's timestamps, which is undone.
    var timelineShift: RunningTime = 0
    var unlinkedPads = UnlinkedPads()
    /// Running time of the next keyframe to request, for the start of a fragment; nil before the
    /// first.
    var nextKeyframe: RunningTime?

    init(_ element: MVHEVCMux) {
      self.element = element
      output = CoalescingOutput(element)
    }

    /// Returns the stream of a pad, and makes it on first use.
    mutating func muxInput(_ pad: Pad) -> MuxInput {
      let name = pad.name
      if let known = inputs.first(where: { $0.name == name }) { return known }
      let input = MuxInput(name)
      inputs.append(input)
      return input
    }

    var description: MuxDescription {
      MuxDescription(element: element, inputs: inputs, globalTags: globalTags)
    }

    /// Returns the stream of an eye; nil if its pad has received nothing.
    func muxInput(_ eye: Eye) -> MuxInput? { inputs.first { $0.name == eye.rawValue } }

    /// Forgets the streams of pads that have been released.
    mutating func keepInputs(of pads: [AggregatorPad]) {
      inputs.removeAll { input in !pads.contains { $0.name == input.name } }
    }
  }

  let instance: ElementInstance
  let settings = Locked(Settings())
  let pairing = PairingState()
  let keyframes = KeyframeRequests()
  let demands = Locked(SplitRequests())
  /// Whether the movie has begun: its tracks are fixed, so no more pads can be requested.
  let hasBegun = Locked(false)

  init(_ instance: ElementInstance) throws {
    self.instance = instance
  }

  func start() throws -> Streaming {
    keyframes.forget()
    pairing.forget()
    demands.withLock { $0 = SplitRequests() }
    // A fragment or chunk is sent when it is complete.
    let latency = settings.current.fragments.latency
    if latency > 0 { setLatency(min: latency, max: nil) }
    setQueuedDuration(0)
    return Streaming(self)
  }

  func stop(_ streaming: consuming Streaming) {
    hasBegun.withLock { $0 = false }
  }

  func padName(template: String, requested: String?) throws -> String {
    guard !hasBegun.current else {
      log.warning(self, "no further pad: the movie has begun and its tracks are fixed")
      throw ElementError(.pad, "The movie has begun, so its tracks are fixed.")
    }
    let taken = Set(sinkPads.map(\.name))
    // `s. ! mux. s. ! mux.` asks twice for the first template that fits.
    let isSecondEye = requested == nil && Eye(rawValue: template) != nil && taken.contains(template)
    let other = isSecondEye ? Eye(rawValue: template)?.other.rawValue : nil
    return try PadTemplate.name(for: other ?? template, requested: requested, taken: taken)
  }

  func padFilter(name: String) -> (any BufferFilter)? {
    MuxInput.Kind(name) == .video ? AccessUnitJoiner() : nil
  }

  func aggregate(timeout: Bool, _ streaming: inout Streaming) throws {
    try skipSilentPads(timeout: timeout)
    try streaming.saving { try $0.step() }
  }

  // MARK: Events and queries

  /// Refuses seeks, which would make the sink start the file again.
  func sourceEvent(_ event: Event) -> Bool {
    if case .seek = event.kind {
      log.info(self, "refusing a seek: written data cannot be changed")
      return false
    }
    return keyframes.add(event) || forwardSourceEvent(event)
  }

  func sinkQuery(_ pad: AggregatorPad, _ query: borrowing Query) -> Bool {
    let caps = pad.templateCaps
    let taken = Eye(rawValue: pad.name) == nil ? caps : StereoEyeCaps.any
    return query.answerAsReader(
      of: taken, possible: caps, keeping: LayeredFrameEncoder.keptCount)
      || forwardSinkQuery(pad, query)
  }

  func sinkEvent(
    _ pad: AggregatorPad, _ event: Event, _ streaming: inout Streaming
  ) throws -> Bool {
    if let chapters = event.chapters, !chapters.isEmpty { streaming.sideTracks.chapters = chapters }
    switch event.kind {
    case .caps(let caps):
      if let eye = Eye(rawValue: pad.name) { warnIfOther(caps, than: eye) }
      try streaming.saving { try $0.setCaps(caps, of: pad) }
      return true
    case .tags(let tags): streaming.add(tags, of: pad)
    case .segment: streaming.unlinkedPads.watch(self)
    default: _ = keyframes.add(event)
    }
    return forwardSinkEvent(pad, event, &streaming)
  }
}

extension MVHEVCMux.Streaming {
  fileprivate mutating func setCaps(_ caps: Caps, of pad: AggregatorPad) throws {
    let input = muxInput(pad)
    let old = input.caps
    input.caps = caps
    input.examineUpstream(of: pad)
    if let eye = Eye(rawValue: input.name) {
      let mayEnd = element.settings.current.fragments.followsFormats
      try eyes?.input.setCaps(caps, of: eye, mayEnd: mayEnd)
    } else if let movie, let old, !caps.continues(old) {
      let fragments = element.settings.current.fragments
      // Readers know several sample entries of video, but not of audio.
      let isProgressive = fragments.duration == 0 && input.kind == .video
      guard fragments.followsFormats || isProgressive, let track = input.track, !input.needsData
      else {
        throw ElementError(
          .format,
          "The format of \(input.name) changed mid-stream, \(caps.changes(since: old)), which a "
            + "movie cannot follow; a fragmented one can, with header-update-mode=caps, if the "
            + "caps describe the format completely.",
          debug: "\(old) became \(caps)")
      }
      let entry = try description.describe(input, first: pad.firstData).sampleEntry
      if isProgressive {
        movie.changeSampleEntry(entry, of: track)
      } else {
        try movie.setSampleEntry(entry, of: track)
      }
    }
  }

  fileprivate mutating func add(_ tags: TagList, of pad: AggregatorPad) {
    if tags.isGlobal {
      globalTags = globalTags.merging(tags)
    } else {
      let input = muxInput(pad)
      input.tags = input.tags.merging(tags)
    }
  }
}

/// The file format, as a property.
enum ContainerChoice: Int32, EnumType {
  case quickTime = 0
  case mp4 = 1
  case cmaf = 2

  static let typeName = "GstMVHEVCMuxContainer"

  var names: (nick: String, description: String) {
    switch self {
    case .quickTime: ("mov", "QuickTime")
    case .mp4: ("mp4", "MP4")
    case .cmaf: ("cmaf", "CMAF: fragments of one track, for HLS and DASH")
    }
  }

  var container: MovieContainer { self == .quickTime ? .quickTime : .mp4 }

  /// The source pad's caps for a file that is not fragmented.
  var caps: Caps {
    self == .quickTime
      ? Caps("video/quicktime", ["variant": "apple"])
      : Caps("video/quicktime", ["variant": "iso"])
  }
}

extension MVHEVCMux {
  /// Properties of the movie itself; those of the encoder come from `EncoderSettings`.
  fileprivate static var movieProperties: [Property<MVHEVCMux>] {
    [
      .choice(
        "container", nick: "Container", blurb: "File format", default: .quickTime,
        at: \.container),
      .int64(
        "creation-time", nick: "Creation time",
        blurb: "When the movie was made, in seconds since 1970-01-01 00:00 UTC (not set = from the "
          + "tags, else from the environment variable SOURCE_DATE_EPOCH, else now)",
        in: -2_082_844_800...(1 << 40), default: 0, at: \.creationTime),
      EyeChoice.heroEye(at: \.spatial.heroEye),
      .double(
        "horizontal-field-of-view", nick: "Horizontal field of view",
        blurb: "Horizontal angle covered by one eye's picture, in degrees "
          + "(0 = from tag stereo-horizontal-field-of-view, else the projection's, or 63.4)",
        in: 0...360, default: 0, at: \.spatial.horizontalFieldOfView),
      .double(
        "baseline", nick: "Baseline",
        blurb: "Distance between the centres of the two lenses, in millimetres "
          + "(0 = from tag stereo-baseline, else 63.5 for flat pictures)",
        in: 0...100_000, default: 0, at: \.spatial.baseline),
      .double(
        "disparity-adjustment", nick: "Disparity adjustment",
        blurb: "Horizontal shift of the two pictures against each other, in picture widths "
          + "(not set = from tag stereo-disparity-adjustment, else 0 for flat pictures)",
        in: -1...1, default: 0, at: \.spatial.disparityAdjustment),
      .choice(
        "projection", nick: "Projection",
        blurb: "How the picture maps onto the viewer's surroundings "
          + "(none = from tag stereo-projection, else rectilinear)",
        default: .none, at: \.spatial.projection),
    ]
  }
}
