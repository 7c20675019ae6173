// SPDX-License-Identifier: MPL-2.0

import AVC
import GStreamer
import MoviePlayer
import StereoVideo
import TransportStream

/// `mvctsdemux`: reads transport streams of 3D discs and camcorders, in which each eye has a stream
/// of its own, and outputs one stream of both.
let mvctsDemux = ElementDeclaration<MVCTSDemux>(
  name: "mvctsdemux",
  typeName: "GstMVCTSDemux",
  longName: "H.264 MVC transport stream demuxer",
  klass: "Codec/Demuxer/Video",
  description: "Reads H.264 MVC in MPEG transport streams (m2ts, MTS, SSIF) and outputs both views "
    + "as one stream, with the audio",
  author: author,
  padTemplates: MVCTSDemux.padTemplates(Caps("video/mpegts", ["systemstream": true])),
  properties: MVCTSDemux.properties)

/// `mvctsautodemux`: the demuxer that autopluggers choose for transport streams whose second view
/// has a stream of its own, and only for those; `tsdemux` drops it.
let mvctsAutoDemux = ElementDeclaration<MVCTSDemux>(
  name: "mvctsautodemux",
  typeName: "GstMVCTSAutoDemux",
  longName: "H.264 MVC transport stream demuxer for autopluggers",
  klass: "Codec/Demuxer/Video",
  description: "Exposes both views of H.264 MVC in transport streams as one stream",
  author: author,
  rank: .primary.above,
  padTemplates: MVCTSDemux.padTemplates(multiviewTransportStream.caps),
  properties: MVCTSDemux.properties)

/// Recognizes transport streams whose second view has a stream of its own.
let multiviewTransportStream = TypeFinder(
  "mvc-transport-stream", rank: .primary.above, extensions: ["m2ts", "mts", "ssif", "ts"],
  caps: Caps("video/mpegts", ["systemstream": true, "views": 2])
) { data in
  guard let start = data.bytes(at: 0, count: TransportStreamReader.startSize),
    TransportStreamReader.mayBegin(with: start)
  else { return nil }
  // The program map is repeated ten times a second; most files have it within some kilobytes. Of
  // what is pushed, less may have come.
  let whole = Int(clamping: min(data.size ?? 1 << 18, 1 << 18))
  let counts = [whole] + (11...17).reversed().map { 1 << $0 }.filter { $0 < whole }
  guard let bytes = counts.lazy.compactMap({ data.bytes(at: 0, count: $0) }).first else {
    return nil
  }
  var reader = TransportStreamReader(hasAudio: false)
  guard (try? reader.push(bytes.span.bytes)) != nil, let program = reader.program,
    program.base != nil, program.dependent != nil
  else { return nil }
  return Caps("video/mpegts", ["systemstream": true, "views": 2])
}

/// A task of the sink pad reads the input if upstream has random access; then times can be sought.
/// Else the upstream thread pushes it.
final class MVCTSDemux: ElementImplementation {
  struct Settings {
    var program: Int32 = -1
  }

  /// State that other threads ask for.
  struct Shared: Sendable {
    var pads: [Pad] = []
    /// Nil if the input cannot be sought in.
    var span: TransportStreamSpan?
    /// The stream time 0, in ticks of 90 kHz.
    var origin: Int64 = 0
    /// The segment being played, in stream time, with the current position.
    var segment = PlaybackSegment()
    /// Sequence number of the last seek done; the same seek arrives on every pad.
    var followedSeek: UInt32?
  }

  static func padTemplates(_ sink: Caps) -> [PadTemplate] {
    [
      PadTemplate("sink", .sink, caps: sink),
      PadTemplate(
        "video_%u", .source, .sometimes,
        caps: Caps("video/x-h264", ["stream-format": "avc", "alignment": "au"])),
      PadTemplate("audio_%u", .source, .sometimes, caps: .any),
    ]
  }

  static var properties: [Property<MVCTSDemux>] {
    [
      .int(
        "program-number", nick: "Program number",
        blurb: "Number of the program to read; -1 for the first one with H.264 video",
        in: -1...65535, default: -1, at: \.program)
    ]
  }

  let instance: ElementInstance
  let settings = Locked(Settings())
  let shared = Locked(Shared())
  let sink: Pad

  init(_ instance: ElementInstance) throws {
    self.instance = instance
    sink = try Pad(
      instance, template: "sink",
      .sink(chain: MVCTSDemux.receive, event: MVCTSDemux.handle)
        .pulling(step: MVCTSDemux.pull, ended: MVCTSDemux.finish))
    add(sink)
  }

  /// The number of the program to read; nil for the first one with H.264 video.
  var program: Int? {
    let number = settings.current.program
    return number < 0 ? nil : Int(number)
  }

  func start() throws -> Streaming {
    shared.withLock { $0 = Shared() }
    return Streaming(self, program: program)
  }

  func stop(_ streaming: consuming Streaming) {
    for output in streaming.outputs { remove(output.pad) }
    shared.withLock { $0 = Shared() }
  }

  private func handle(_ pad: Pad, _ event: Event, _ streaming: inout Streaming) throws -> Bool {
    switch event.kind {
    case .streamStart: streaming.group = event.group
    case .endOfStream: try streaming.end(event)
    case .flushStop:
      streaming.flush()
      streaming.push(event)
    // Times are those of the transport stream.
    case .segment, .caps: break
    default: streaming.push(event)
    }
    return true
  }

  private func receive(_ pad: Pad, _ buffer: Buffer, _ streaming: inout Streaming) throws {
    try buffer.withBytes { try streaming.receive($0.bytes) }
  }
}
