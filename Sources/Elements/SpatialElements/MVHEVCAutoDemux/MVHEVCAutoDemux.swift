// SPDX-License-Identifier: MPL-2.0

import GStreamer
import ISOBMFF

/// `mvhevcautodemux`: what autopluggers (`playbin3`, `decodebin3`, `uridecodebin3`) take for movies
/// with two layers, and for no others. It is `mvhevcdemux` without the layered streams, which
/// nothing that an autoplugger knows decodes: the eyes are two video streams to choose from.
let mvhevcAutoDemux = ElementDeclaration<MVHEVCDemux>(
  name: "mvhevcautodemux",
  typeName: MVHEVCDemux.autoplugged,
  longName: "MV-HEVC movie demuxer for autopluggers",
  klass: "Codec/Demuxer/Video",
  description: "Gives each eye of MV-HEVC (spatial) movies as a video stream to choose",
  author: author,
  // One more than qtdemux has, which takes all other movies.
  rank: .primary.above,
  padTemplates: [PadTemplate("sink", .sink, caps: layeredMovie.caps)]
    + mvhevcDemux.padTemplates.filter { $0.direction == .source },
  properties: mvhevcDemux.properties)

/// Tells movies with two layers from others, which `mvhevcautodemux` takes.
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
