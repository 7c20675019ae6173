// SPDX-License-Identifier: MPL-2.0

import GStreamer
import ISOBMFF
import Packager
import StereoVideo

/// `mvhevchlssink`: writes HLS and DASH.
let mvhevcHLSSink = ElementDeclaration<MVHEVCHLSSink>(
  name: "mvhevchlssink",
  typeName: "GstMVHEVCHLSSink",
  longName: "MV-HEVC HLS sink",
  klass: "Sink/Muxer/Video",
  description: "Writes spatial video as HLS and DASH over the same CMAF segments, "
    + "with an additional rendition for one eye",
  author: author,
  padTemplates: [
    PadTemplate("video_%u", .sink, .request, caps: HLSInput.videoCaps),
    PadTemplate("audio_%u", .sink, .request, caps: HLSInput.audioCaps),
    PadTemplate("subtitle_%u", .sink, .request, caps: HLSInput.subtitleCaps),
  ],
  properties: HLSSettings.properties, signals: PresentationOutput.signals)

/// A sink with request pads. Each pad is one rendition, or two for layered video: both eyes, and
/// the base eye for players that show one.
///
/// A `Packager` decides what to write. The sink does not wait for the clock and so adds no latency:
/// data is written as it arrives.
final class MVHEVCHLSSink: RequestPadImplementation {
  typealias Settings = HLSSettings

  struct Streaming {
    let element: MVHEVCHLSSink
    /// Looks for silent streams; nil while nothing is passed over.
    var ticker: Ticker?
    var packager: Packager<Buffer>
    var output: PresentationOutput
    var keyFile: KeyFile
    /// Inputs by pad name.
    var inputs: [String: HLSInput] = [:]
    /// Buffers held until each pad has its first one, which decides the leading rendition.
    var held: [(pad: String, buffer: Buffer)] = []
    /// Total size of the held buffers, in bytes.
    var heldSize = 0
    var hasBegun = false
    /// Whether anything has been written.
    var hasSamples = false
    /// Whether writing a file has failed. Nothing more is written then, so the playlists on disk
    /// list only complete files.
    var isBroken = false
    /// Pads whose new format cannot be written, which the user knows.
    var unusable: Set<String> = []
    /// Renditions without keyframes where segments begin, which the user knows.
    var lost: Set<String> = []
    /// Renditions with damaged pictures that are encrypted, which the user knows.
    var damaged: Set<String> = []
    var hasPostedEnd = false
    var hasWarned = false
    /// Whether the user knows why markers are not in the playlists.
    var hasToldMarkers = false
    /// Whether the folder has been taken over from earlier runs.
    var hasTakenOver = false
    /// The latest jump of a stream's timestamps, which is undone.
    var timelineShift: RunningTime = 0
  }

  let instance: ElementInstance
  let settings = Locked(HLSSettings())
  let pads = Locked<[Pad]>([])
  private let pacing = InterleaveLimiter()
  let silence = SilenceWatch()
  /// Since the last start, also after the end.
  let numbers = Locked(HLSStatistics())

  init(_ instance: ElementInstance) throws {
    self.instance = instance
    becomeSink()
  }

  func start() throws -> Streaming {
    pacing.forget()
    silence.forget()
    numbers.withLock { $0 = HLSStatistics() }
    let keyFile = try KeyFile(path: settings.current.keyFile)
    var packager = Packager<Buffer>(settings.current.packager)
    packager.encrypt(by: keyFile.keys)
    let ticker =
      settings.current.padTimeout == 0
      ? nil : Ticker(every: SilenceWatch.interval, for: self) { self.passOverSilent() }
    return Streaming(
      element: self, ticker: ticker, packager: packager,
      output: PresentationOutput(element: self), keyFile: keyFile)
  }

  /// Completes the playlists, even if the stream is stopped in the middle or ended by an error.
  /// With `append`, another run is to continue it then, so players are not told that it is over.
  func stop(_ streaming: consuming Streaming) {
    var streaming = streaming
    streaming.packager.isToBeContinued = settings.current.continues
    do {
      try streaming.endAll()
    } catch {
      post(error)
    }
  }

  // MARK: Pads

  func makePad(template: String, name: String) throws -> Pad {
    let pad = try Pad(
      instance, template: template, name: name,
      .sink(
        chain: MVHEVCHLSSink.receive, event: MVHEVCHLSSink.handle,
        unserializedEvent: MVHEVCHLSSink.handleAtOnce
      ).waiting(MVHEVCHLSSink.wait, activated: MVHEVCHLSSink.activate))
    if MuxInput.Kind(name) == .video { pad.addFilter(AccessUnitJoiner()) }
    pads.withLock { $0.append(pad) }
    return pad
  }

  func releasePad(_ pad: Pad) {
    let name = pad.name
    pads.withLock { $0.removeAll { $0.name == name } }
    pacing.remove(name)
    silence.remove(name)
    _ = withStreaming(pad) { streaming in
      _ = self.run { try streaming.end(name) }
    }
  }

  // MARK: Data

  /// Blocks while this stream is too far ahead of the others, as its data would stay in memory.
  private func wait(_ pad: Pad, for buffer: Buffer) throws {
    guard let timestamp = buffer.dts ?? buffer.pts,
      let time = pad.currentSegment?.signedRunningTime(timestamp)
    else { return }
    // Segments need not wait for a text that has to wait.
    if pad.isSubtitles {
      _ = withStreaming(pad) { streaming in
        _ = self.run { try streaming.reachText(time, of: pad.name) }
      }
    }
    try pacing.wait(
      pad.name, time: time, size: buffer.size, isLive: { pad.peerLatency?.isLive ?? true },
      warn: postWarning)
  }

  private func activate(_ pad: Pad, _ isActive: Bool) {
    pacing.setFlushing(!isActive, pad.name)
  }

  private func handleAtOnce(_ pad: Pad, _ event: Event) throws -> Bool {
    if case .flushStart = event.kind { pacing.setFlushing(true, pad.name) }
    return pad.forward(event)
  }

  private func receive(_ pad: Pad, _ buffer: Buffer, _ streaming: inout Streaming) throws {
    if !pad.isSubtitles { noteArrival(at: pad.name) }
    try streaming.receive(pad, buffer)
  }

  // MARK: Silence

  private func noteArrival(at name: String) {
    guard let now = currentRunningTime.map(RunningTime.init(clamping:)),
      silence.note(name, now: now)
    else { return }
    log.info(self, "\(name) receives data again")
    postMessage("hls-pad-silent", ["pad": .string(name), "silent": .bool(false)])
  }

  /// Lets the others continue without live streams that have given nothing for `pad-timeout`.
  private func passOverSilent() {
    let patience = settings.current.padTimeout
    guard patience > 0, isPlaying, let now = currentRunningTime.map(RunningTime.init(clamping:))
    else { return silence.pause() }
    let names = silence.overdue(now: now, patience: patience).filter { name in
      pads.current.first { $0.name == name }?.peerLatency?.isLive ?? false
    }
    for name in names {
      silence.setSilent(name)
      postMessage("hls-pad-silent", ["pad": .string(name), "silent": .bool(true)])
      postWarning(
        ElementError(
          .failedStream,
          "The pad \(name) received nothing for \(patience.seconds) s; its playlists have a gap "
            + "until it receives data again, and the others continue (property pad-timeout)."))
    }
    let reached = silence.reached(now: now)
    guard !names.isEmpty || reached != nil else { return }
    _ = withStreaming { streaming in
      _ = self.run { try streaming.passOver(names, until: reached) }
    }
  }

  private func handle(
    _ pad: Pad, _ event: Event, _ streaming: inout Streaming
  ) throws -> Bool {
    let name = pad.name
    pacing.noteThread(of: name)
    switch event.kind {
    case .flushStop:
      pacing.setFlushing(false, name)
      silence.remove(name)
    case .gap:
      if let end = event.gapEnd.flatMap({ pad.currentSegment?.signedRunningTime($0) }) {
        pacing.pass(end, of: name)
        if pad.isSubtitles { try streaming.reachText(end, of: name) }
      }
    case .caps(let caps): try streaming.setCaps(caps, of: pad)
    case .segment(let segment):
      guard segment.isInTime else {
        throw ElementError(.format, "The stream on \(name) has no time segment.")
      }
      streaming.inputs[name, default: HLSInput(name)].segment = segment
    case .tags(let tags):
      guard !tags.isGlobal else { break }
      let input = streaming.inputs[name, default: HLSInput(name)]
      input.stream.tags = input.stream.tags.merging(tags)
      streaming.inputs[name] = input
      try streaming.describeSubtitles(of: pad)
    case .custom(MarkerEvent.name), .custom(MarkerEvent.demuxedName):
      try streaming.takeMarker(event, of: name)
    case .custom(MarkerEvent.metadataName): streaming.takeMetadata(event, of: name)
    case .endOfStream:
      pacing.end(name)
      silence.remove(name)
      try streaming.end(name)
    default: break
    }
    return true
  }
}

extension MVHEVCHLSSink {
  /// Wall-clock time of running time 0, in nanoseconds since 1970; nil if the pipeline has no
  /// clock.
  var dateOfRunningTime0: Int64? {
    currentRunningTime.map { nanosecondsSince1970() &- RunningTime(clamping: $0).nanoseconds }
  }
}
