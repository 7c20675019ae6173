import CGStreamer
import GStreamer
import StereoVideo

/// `sbssplit`: cuts frames that hold two eyes into one stream an eye.
let sbsSplit = ElementDeclaration<SBSSplit>(
  name: "sbssplit",
  typeName: "GstSBSSplit",
  baseClass: .element,
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
      type: gst_video_multiview_frame_packing_get_type(),
      default: GST_VIDEO_MULTIVIEW_FRAME_PACKING_NONE.rawValue, at: \.inputMode),
    .flagSet(
      "input-flags-override", nick: "Input flags override",
      blurb: "What else is to be known of the packing that input-mode-override names: "
        + "right-view-first, half-aspect",
      type: gst_video_multiview_flags_get_type(), default: 0, at: \.inputFlags),
  ])

/// One sink, two sources that are always there; either may stay unlinked.
///
/// Where the peer of an eye's pad takes GstVideoMeta, the eye's buffers refer to the packed
/// frame's memory by offsets and strides; a filter that works in place then copies before it
/// writes. Where it does not, the eye is copied into a pool of its own.
final class SBSSplit: ElementSubclass, HasSettings, @unchecked Sendable {
  struct Settings {
    var inputMode = GST_VIDEO_MULTIVIEW_FRAME_PACKING_NONE.rawValue
    var inputFlags: UInt32 = 0
  }

  static let log = DebugCategory("sbssplit", "stereo frame splitter")

  let settings = Locked(Settings())
  let sink: Pad
  /// The eyes' source pads. Only the sink pad's thread uses what follows.
  let left: EyePad
  let right: EyePad
  let combiner = FlowCombiner()
  /// nil until the first caps.
  var input: PackedVideo?
  /// Frame by frame: which eye comes next, and when the pair started.
  var sequence = FrameSequence()

  required init(_ instance: ElementInstance) throws {
    sink = try Pad(
      instance, template: "sink",
      functions: PadFunctions<SBSSplit>(
        chain: SBSSplit.receive, event: SBSSplit.handle, query: SBSSplit.answer))
    let functions = PadFunctions<SBSSplit>(query: SBSSplit.answerDownstream)
    left = EyePad(.left, try Pad(instance, template: "left", functions: functions))
    right = EyePad(.right, try Pad(instance, template: "right", functions: functions))
    try super.init(instance)
    add(sink)
    for eyePad in [left, right] {
      eyePad.pad.useFixedCaps()
      add(eyePad.pad)
      combiner.add(eyePad.pad)
    }
  }

  func eyePad(_ eye: Eye) -> EyePad { eye == .left ? left : right }

  override func start() throws {
    reset()
  }

  override func stop() {
    reset()
  }

  private func reset() {
    input = nil
    sequence = FrameSequence()
    combiner.reset()
    left.reset()
    right.reset()
  }
}

/// The source pad of one eye, and how its buffers are made.
final class EyePad {
  let eye: Eye
  let pad: Pad
  /// Where frames are copied to; nil while the peer takes references.
  var pool: VideoBufferPool?
  var info: VideoInfo?

  init(_ eye: Eye, _ pad: Pad) {
    self.eye = eye
    self.pad = pad
  }

  func reset() {
    pool = nil
    info = nil
  }
}
