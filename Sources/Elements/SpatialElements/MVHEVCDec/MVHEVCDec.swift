// SPDX-License-Identifier: MPL-2.0

import GStreamer
import ISOBMFF
import StereoVideo

/// `mvhevcdec`: decodes layered H.265 to both eyes, using any available H.265 decoder.
let mvhevcDec = ElementDeclaration<MVHEVCDec>(
  name: "mvhevcdec",
  typeName: "GstMVHEVCDec",
  longName: "MV-HEVC decoder",
  klass: "Codec/Decoder/Video",
  description: "Decodes both eyes of MV-HEVC with the highest-ranking decoder for plain H.265",
  author: author,
  padTemplates: [
    PadTemplate("sink", .sink, caps: LayeredCaps.decodable),
    PadTemplate("left", .source, caps: Caps("video/x-raw")),
    PadTemplate("right", .source, caps: Caps("video/x-raw")),
  ],
  properties: [
    .choice(
      "view", nick: "View",
      blurb: "Eyes to decode; unless both, the other eye's pad gets EOS at once",
      default: .both, at: \.view)
  ])

/// A bin of three elements: the layered stream is flattened to a single layer, decoded by a plain
/// decoder, and the frames are paired again. The decoder handles two pictures for each stereo
/// frame.
final class MVHEVCDec: BinImplementation {
  struct Settings {
    var view = ViewChoice.both
  }

  /// Parts of the bin between `start` and `stop`.
  struct Streaming {
    let flattening: Element
    let decoder: InnerDecoder
    let pairing: Element
  }

  let instance: ElementInstance
  let settings = Locked(Settings())
  private let sink: GhostPad
  private let left: GhostPad
  private let right: GhostPad

  init(_ instance: ElementInstance) throws {
    self.instance = instance
    sink = try GhostPad(instance, template: "sink")
    left = try GhostPad(instance, template: "left")
    right = try GhostPad(instance, template: "right")
    for pad in [sink, left, right] { add(pad) }
  }

  func start() throws -> Streaming {
    let flattening = try layerFlattening.makePart()
    let pairing = try eyePairing.makePart()
    let parts = Streaming(
      flattening: flattening,
      decoder: InnerDecoder(in: self, between: flattening, and: pairing), pairing: pairing)
    let view = settings.current.view
    let first = flattening.implementation(LayerFlattening.self)
    first?.view.withLock { $0 = view }
    first?.decoder.withLock { $0 = parts.decoder }
    pairing.implementation(EyePairingElement.self)?.sendUpstream.withLock {
      $0 = { [weak first] event in first?.sendUpstream(event) ?? false }
    }
    do {
      for part in [flattening, pairing] { try addPart(part) }
      try parts.decoder.choose()
      try sink.setTarget(flattening.staticPad("sink"))
      try left.setTarget(pairing.staticPad("left"))
      try right.setTarget(pairing.staticPad("right"))
    } catch {
      stop(parts)
      throw error
    }
    return parts
  }

  func stop(_ parts: consuming Streaming) {
    for pad in [sink, left, right] { try? pad.setTarget(nil) }
    parts.flattening.implementation(LayerFlattening.self)?.decoder.withLock { $0 = nil }
    parts.decoder.remove()
    for part in [parts.flattening, parts.pairing] { removePart(part) }
  }
}

/// Eyes to decode, as a property.
enum ViewChoice: Int32, EnumType {
  case both = 0
  case left = 1
  case right = 2
  case base = 3

  static let typeName = "GstMVHEVCDecView"

  var names: (nick: String, description: String) {
    switch self {
    case .both: ("both", "Both eyes")
    case .left: ("left", "The left eye")
    case .right: ("right", "The right eye")
    case .base: ("base", "The eye in the base layer; the dependent layer is ignored")
    }
  }
}

/// `mvhevcautodemux`: the demuxer that autopluggers (`playbin3`, `decodebin3`, `uridecodebin3`)
/// choose for movies with two layers, and only for those. It is `mvhevcdemux` without the layered
/// streams, which autopluggers cannot decode: each eye is a selectable video stream.
let mvhevcAutoDemux = ElementDeclaration<MVHEVCDemux>(
  name: "mvhevcautodemux",
  typeName: MVHEVCDemux.autoplugged,
  longName: "MV-HEVC movie demuxer for autopluggers",
  klass: "Codec/Demuxer/Video",
  description: "Exposes each eye of MV-HEVC (spatial) movies as a selectable video stream",
  author: author,
  // One above qtdemux, which handles all other movies.
  rank: .primary.above,
  padTemplates: [PadTemplate("sink", .sink, caps: layeredMovie.caps)]
    + mvhevcDemux.padTemplates.filter { $0.direction == .source },
  properties: mvhevcDemux.properties)

/// Recognizes movies with two layers, so that `mvhevcautodemux` is chosen for them.
let layeredMovie = TypeFinder(
  "mv-hevc-movie", rank: .primary.above,
  extensions: ["mov", "mp4", "m4v", "qt"],
  caps: Caps("video/quicktime", ["layers": 2])
) { data in
  guard LayeredMovieProbe.isLayered(fileSize: data.size, peek: data.bytes(at:count:)) else {
    return nil
  }
  return Caps("video/quicktime", ["layers": 2])
}
