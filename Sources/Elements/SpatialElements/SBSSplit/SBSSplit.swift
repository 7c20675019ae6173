// SPDX-License-Identifier: MPL-2.0

import GStreamer
import StereoVideo

/// `sbssplit`: cuts frames that hold two eyes into one stream an eye.
let sbsSplit = ElementDeclaration<SBSSplit>(
  name: "sbssplit",
  typeName: "GstSBSSplit",
  longName: "Stereo frame splitter",
  klass: "Filter/Converter/Video",
  description: "Cuts side-by-side, top-bottom or frame-by-frame stereo video into its two eyes "
    + "without copying pixels",
  author: author,
  padTemplates: [
    PadTemplate("sink", .sink, caps: Caps("video/x-raw")),
    PadTemplate("left", .source, caps: Caps("video/x-raw")),
    PadTemplate("right", .source, caps: Caps("video/x-raw")),
  ],
  properties: [
    .choice(
      "input-mode-override", nick: "Input mode override",
      blurb: "How the two eyes are packed, where the caps do not say it or are wrong",
      default: .none, at: \.inputMode),
    .flags(
      "input-flags-override", nick: "Input flags override",
      blurb: "What else is to be known of the packing that input-mode-override names: "
        + "right-view-first, half-aspect",
      at: \.inputFlags),
  ])

/// One sink, two sources that are always there; either may stay unlinked.
///
/// Where the peer of an eye's pad takes GstVideoMeta, the eye's buffers refer to the packed
/// frame's memory by offsets and strides; a filter that works in place then copies before it
/// writes. Where it does not, the eye is copied into a pool of its own.
final class SBSSplit: ElementImplementation {
  struct Settings {
    var inputMode = MultiviewFramePacking.none
    var inputFlags = MultiviewFlags()
  }

  struct Streaming {
    var source: EyeSource
    /// nil until the first caps.
    var input: FramePackedVideo?
    /// Frame by frame: which eye comes next, and when the pair started.
    var sequence = FrameSequence()
  }

  static let log = DebugCategory("sbssplit", "stereo frame splitter")

  let instance: ElementInstance
  let settings = Locked(Settings())
  let sink: Pad
  let pads: EyePads

  init(_ instance: ElementInstance) throws {
    self.instance = instance
    sink = try Pad(
      instance, template: "sink",
      .sink(chain: SBSSplit.receive, event: SBSSplit.handle, query: SBSSplit.answer))
    pads = try EyePads(instance, .source(query: SBSSplit.answerDownstream))
    add(sink)
    for eye in Eye.allCases { add(pads[eye]) }
  }

  func start() throws -> Streaming { Streaming(source: EyeSource(pads)) }
}
