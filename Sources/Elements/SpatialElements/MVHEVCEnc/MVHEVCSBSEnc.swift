// SPDX-License-Identifier: MPL-2.0

import GStreamer
import StereoVideo

/// `mvhevcsbsenc`: encodes frames with two eyes into one stream of layered H.265.
///
/// One pad in and one pad out is what `encodebin`, and with it GES, `transcodebin` and many
/// applications, expect of an encoder. They find only elements of rank marginal and above. As this
/// may be the only H.265 encoder that is installed, it encodes nothing that may have one eye.
let mvhevcSBSEnc = ElementDeclaration<MVHEVCSBSEnc>(
  name: "mvhevcsbsenc",
  typeName: "GstMVHEVCSBSEnc",
  longName: "MV-HEVC encoder for frames with two eyes",
  klass: "Codec/Encoder/Video",
  description: "Encodes side-by-side, top-bottom or frame-by-frame stereo video into one MV-HEVC "
    + "stream",
  author: author,
  rank: .marginal,
  padTemplates: [
    PadTemplate("sink", .sink, caps: StereoEyeCaps.raw),
    PadTemplate("src", .source, caps: LayeredCaps.template),
  ],
  properties: SBSSplit.properties(at: \.split) + [EyeChoice.heroEye(at: \.heroEye)]
    + EncoderSettings.properties(at: \.encoder),
  interfaces: [.preset])

/// A bin of `sbssplit` and `mvhevcenc`.
final class MVHEVCSBSEnc: BinImplementation {
  struct Settings: HasEncoderSettings {
    var split = SBSSplit.Settings(guesses: false)
    var encoder = EncoderSettings()
    var heroEye = EyeChoice.none
  }

  /// Parts of the bin between `start` and `stop`.
  struct Streaming {
    let split: Element
    let encoder: Element
  }

  let instance: ElementInstance
  let settings = Locked(Settings())
  private let parts = Locked<Streaming?>(nil)
  private let sink: GhostPad
  private let source: GhostPad

  init(_ instance: ElementInstance) throws {
    self.instance = instance
    sink = try GhostPad(instance, template: "sink")
    source = try GhostPad(instance, template: "src")
    for pad in [sink, source] { add(pad) }
  }

  func start() throws -> Streaming {
    let made = Streaming(split: try sbsSplit.makePart(), encoder: try mvhevcEnc.makePart())
    do {
      for part in [made.split, made.encoder] { try addPart(part) }
      for eye in Eye.allCases { try made.split.link(eye.rawValue, to: made.encoder, eye.rawValue) }
      try sink.setTarget(made.split.staticPad("sink"))
      try source.setTarget(made.encoder.staticPad("src"))
    } catch {
      stop(made)
      throw error
    }
    parts.withLock { $0 = made }
    settingsChanged()
    return made
  }

  func stop(_ made: consuming Streaming) {
    parts.withLock { $0 = nil }
    for pad in [sink, source] { try? pad.setTarget(nil) }
    for part in [made.encoder, made.split] { removePart(part) }
  }

  /// Hands the settings to the parts.
  func settingsChanged() {
    guard let parts = parts.current else { return }
    let new = settings.current
    parts.split.implementation(SBSSplit.self)?.settings.withLock { $0 = new.split }
    parts.encoder.implementation(MVHEVCEnc.self)?.settings.withLock {
      ($0.encoder, $0.heroEye) = (new.encoder, new.heroEye)
    }
  }
}
