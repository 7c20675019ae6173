// SPDX-License-Identifier: MPL-2.0

import GStreamer
import StereoVideo

/// `stereotagger`: marks which eye a stream shows and how the pair was shot.
let stereoTagger = ElementDeclaration<StereoTagger>(
  name: "stereotagger",
  typeName: "GstStereoTagger",
  longName: "Stereo tagger",
  klass: "Formatter/Metadata/Video",
  description: "Marks which eye a video stream shows and how the stereo pair was shot",
  author: author,
  padTemplates: [
    PadTemplate("sink", .sink, caps: .any),
    PadTemplate("src", .source, caps: .any),
  ],
  properties: [
    .choice(
      "eye", nick: "Eye", blurb: "The eye that the stream shows (caps field multiview-mode)",
      default: .none, at: \.eye),
    .choice(
      "hero-eye", nick: "Hero eye", blurb: "The eye to show if only one can be shown",
      default: .none, at: \.spatial.heroEye),
    .double(
      "horizontal-field-of-view", nick: "Horizontal field of view",
      blurb: "Horizontal angle covered by one eye's picture, in degrees (0 = unknown)",
      in: 0...360, default: 0, at: \.spatial.horizontalFieldOfView),
    .double(
      "baseline", nick: "Baseline",
      blurb: "Distance between the centres of the two lenses, in millimetres (0 = unknown)",
      in: 0...100_000, default: 0, at: \.spatial.baseline),
    .double(
      "disparity-adjustment", nick: "Disparity adjustment",
      blurb: "Horizontal shift of the two pictures against each other, in picture widths "
        + "(written only if set, even to 0)",
      in: -1...1, default: 0, at: \.spatial.disparityAdjustment),
    .choice(
      "projection", nick: "Projection",
      blurb: "How the picture maps onto the viewer's surroundings", default: .none,
      at: \.spatial.projection),
  ] + SpatialSettings.sphereProperties(at: \.spatial) + [
    .choice(
      "orientation", nick: "Orientation",
      blurb: "How players turn the pictures (tag image-orientation); rotate-0 after an element "
        + "that turned them", default: .none, at: \.orientation),
    .int(
      "view-id", nick: "View id", blurb: "ViewId of the stream's pictures (-1 = not set)",
      in: -1...65535, default: -1, at: \.viewID),
    .int(
      "layer-id", nick: "Layer id",
      blurb: "nuh_layer_id of the stream's pictures (-1 = not set)", in: -1...63,
      default: -1, at: \.layerID),
  ])

/// Changes only caps, tags and metas: no pixel or sample is read, and no memory is copied.
final class StereoTagger: TransformImplementation {
  struct Settings {
    var eye = EyeChoice.none
    var spatial = SpatialSettings()
    var orientation = OrientationChoice.none
    var viewID: Int32 = -1
    var layerID: Int32 = -1

    fileprivate var marksBuffers: Bool { eye != .none || viewID >= 0 || layerID >= 0 }
  }

  struct Streaming {
    /// Settings for the data in flight; fixed when the caps are set.
    var marking = Settings()
    var hasSentTags = false
  }

  let instance: ElementInstance
  let settings = Locked(Settings())

  init(_ instance: ElementInstance) throws {
    self.instance = instance
  }

  func start() throws -> Streaming {
    if let warning = settings.current.spatial.unitWarning { postWarning(warning) }
    return Streaming()
  }

  func transformCaps(_ caps: Caps, from direction: PadTemplate.Direction) -> Caps {
    guard let eye = settings.current.eye.eye else { return caps }
    let fields = ["multiview-mode", "multiview-flags", "views"]
    return switch direction {
    case .source: caps.with(removing: fields)
    case .sink: caps.with(["multiview-mode": .string(eye.rawValue)], removing: fields)
    }
  }

  func setCaps(input: Caps, output: Caps, _ streaming: inout Streaming) throws {
    streaming.marking = settings.current
    setPassthrough(!streaming.marking.marksBuffers)
  }

  func transformInPlace(_ buffer: borrowing UniqueBuffer, _ streaming: inout Streaming) throws {
    let marking = streaming.marking
    StereoViewMeta.set(
      eye: marking.eye.eye, viewID: marking.viewID >= 0 ? marking.viewID : nil,
      layerID: marking.layerID >= 0 ? marking.layerID : nil, on: buffer)
  }

  func sinkEvent(_ event: Event, _ streaming: inout Streaming) throws -> Bool {
    switch event.kind {
    case .streamStart:
      // A new stream starts without tags.
      streaming.hasSentTags = false
    case .tags(let tags) where !tags.isGlobal:
      streaming.hasSentTags = true
      return forwardSinkEvent(.tags(try adding(to: tags)).following(event), &streaming)
    case .segment where !streaming.hasSentTags:
      streaming.hasSentTags = true
      let forwarded = forwardSinkEvent(event, &streaming)
      let own = try adding(to: TagList())
      if !own.isEmpty { sourcePad.push(.tags(own)) }
      return forwarded
    default: break
    }
    return forwardSinkEvent(event, &streaming)
  }

  /// Returns the stream's tags merged with this element's own, which take precedence.
  private func adding(to tags: TagList) throws -> TagList {
    let own = TagList()
    let spatial = settings.current.spatial
    spatial.metadata.write(to: own)
    if let orientation = settings.current.orientation.orientation {
      own.set(Tag.imageOrientation, .string(orientation.tag))
    }
    try spatial.sphereTags().write(to: own)
    let isStale = spatial.contradicts(SpatialMetadata(tags))
    return tags.removing(isStale ? [StereoTags.horizontalFieldOfView] : []).merging(own)
  }
}
