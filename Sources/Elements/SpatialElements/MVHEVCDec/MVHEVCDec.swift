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
  properties: [ViewChoice.view(at: \.view)])

/// A bin of three elements: the layered stream is flattened to a single layer, decoded by a plain
/// decoder, and the frames are paired again. The decoder handles two pictures for each stereo
/// frame.
final class MVHEVCDec: BinImplementation {
  struct Settings {
    var view = ViewChoice.both
  }

  let instance: ElementInstance
  let settings = Locked(Settings())
  private let pads: EyeDecoderBin

  init(_ instance: ElementInstance) throws {
    self.instance = instance
    pads = try EyeDecoderBin(instance)
    for pad in pads.all { add(pad) }
  }

  func start() throws -> EyeDecoderBin.Parts {
    let view = settings.current.view
    return try pads.start(self, layerFlattening, .h265) { $0.view.withLock { $0 = view } }
  }

  func stop(_ parts: consuming EyeDecoderBin.Parts) { pads.stop(self, parts) }
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
