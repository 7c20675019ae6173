// SPDX-License-Identifier: MPL-2.0

import GStreamer
import StereoVideo

/// `mvcdec`: decodes H.264 MVC to both eyes, using any available H.264 decoder.
let mvcDec = ElementDeclaration<MVCDec>(
  name: "mvcdec",
  typeName: "GstMVCDec",
  longName: "H.264 MVC decoder",
  klass: "Codec/Decoder/Video",
  description: "Decodes both eyes of H.264 MVC (3D discs and camcorders) with the highest-ranking "
    + "decoder for plain H.264",
  author: author,
  padTemplates: [
    PadTemplate("sink", .sink, caps: MVCInput.template),
    PadTemplate("left", .source, caps: Caps("video/x-raw")),
    PadTemplate("right", .source, caps: Caps("video/x-raw")),
  ],
  properties: [ViewChoice.view(at: \.view), MVCInput.baseEye(at: \.baseEye)])

/// A bin of three elements: both views are flattened to one stream, decoded by a plain decoder, and
/// the frames are paired again. The decoder handles two pictures for each stereo frame.
final class MVCDec: BinImplementation {
  struct Settings {
    var view = ViewChoice.both
    var baseEye = EyeChoice.none
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
    let settings = settings.current
    return try pads.start(self, mvcFlatten, .h264) {
      $0.settings.withLock { ($0.decodedView, $0.baseEye) = (settings.view, settings.baseEye) }
    }
  }

  func stop(_ parts: consuming EyeDecoderBin.Parts) { pads.stop(self, parts) }
}
