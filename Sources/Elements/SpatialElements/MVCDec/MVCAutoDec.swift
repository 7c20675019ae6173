// SPDX-License-Identifier: MPL-2.0

import GStreamer
import StereoVideo

/// `mvcautodec`: decodes one eye of H.264 MVC, with one pad in and one pad out, as `playbin3` and
/// `decodebin3` expect of a decoder. They choose it for the profiles of MVC, which parsers report.
let mvcAutoDec = ElementDeclaration<MVCAutoDec>(
  name: "mvcautodec",
  typeName: "GstMVCAutoDec",
  longName: "H.264 MVC decoder for autopluggers",
  klass: "Codec/Decoder/Video",
  description: "Decodes one eye of H.264 MVC (3D discs and camcorders) for autopluggers",
  author: author,
  // One above decoders of plain H.264, hardware decoders included.
  rank: .primary.above,
  padTemplates: [
    // Nothing that other decoders do not take: before it knows the profile, parsebin would leave
    // plain H.264 in a format that it believes to be decodable here.
    PadTemplate(
      "sink", .sink,
      caps: Caps(
        "video/x-h264",
        [
          "stream-format": .strings(["avc", "byte-stream"]), "alignment": "au",
          "profile": .strings(["stereo-high", "multiview-high"]),
        ])),
    PadTemplate("src", .source, caps: Caps("video/x-raw")),
  ],
  properties: [
    .choice(
      "eye", nick: "Eye",
      blurb: "Eye to decode (none = that of the base view, as any decoder does)",
      default: .none, at: \.eye),
    MVCInput.baseEye(at: \.baseEye),
  ])

/// A bin of `mvcdec` and a funnel: which of its two pads has the pictures of the base view is known
/// only when they come.
final class MVCAutoDec: BinImplementation {
  struct Settings {
    var eye = EyeChoice.none
    var baseEye = EyeChoice.none
  }

  /// Parts of the bin between `start` and `stop`.
  struct Streaming {
    let decoder: Element
    let funnel: Element
  }

  let instance: ElementInstance
  let settings = Locked(Settings())
  private let sink: GhostPad
  private let source: GhostPad

  init(_ instance: ElementInstance) throws {
    self.instance = instance
    sink = try GhostPad(instance, template: "sink")
    source = try GhostPad(instance, template: "src")
    for pad in [sink, source] { add(pad) }
  }

  func start() throws -> Streaming {
    let parts = Streaming(decoder: try mvcDec.makePart(), funnel: try Element("funnel"))
    let settings = settings.current
    parts.decoder.implementation(MVCDec.self)?.settings.withLock {
      $0.view =
        switch settings.eye {
        case .none: .base
        case .left: .left
        case .right: .right
        }
      $0.baseEye = settings.baseEye
    }
    do {
      for part in [parts.decoder, parts.funnel] { try addPart(part) }
      for eye in Eye.allCases { try parts.decoder.link(eye.rawValue, to: parts.funnel, "sink_%u") }
      try sink.setTarget(parts.decoder.staticPad("sink"))
      try source.setTarget(parts.funnel.staticPad("src"))
    } catch {
      stop(parts)
      throw error
    }
    return parts
  }

  func stop(_ parts: consuming Streaming) {
    for pad in [sink, source] { try? pad.setTarget(nil) }
    for part in [parts.decoder, parts.funnel] { removePart(part) }
  }
}
