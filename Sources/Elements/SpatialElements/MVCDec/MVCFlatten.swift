// SPDX-License-Identifier: MPL-2.0

import AVC
import GStreamer
import StereoVideo

/// `mvcflatten`: converts H.264 MVC to one plain stream of both eyes' pictures, in the order base,
/// dependent, base, dependent; also the first part of `mvcdec`.
let mvcFlatten = ElementDeclaration<MVCFlatten>(
  name: "mvcflatten",
  typeName: "GstMVCFlatten",
  longName: "H.264 MVC flattener",
  klass: "Codec/Parser/Converter/Video",
  description: "Converts both eyes of H.264 MVC to one stream of alternating pictures for any "
    + "H.264 decoder",
  author: author,
  padTemplates: [
    PadTemplate("sink", .sink, caps: MVCInput.template),
    PadTemplate(
      "src", .source,
      caps: Caps("video/x-h264", ["stream-format": "byte-stream", "alignment": "au"])),
  ],
  properties: [
    .choice(
      "views", nick: "Views", blurb: "Views in the stream", default: .both, at: \.views),
    MVCInput.baseEye(at: \.baseEye),
  ])

final class MVCFlatten: FlatteningElement {
  struct Settings {
    var views = MVCViewsChoice.both
    var baseEye = EyeChoice.none
    /// The eyes to decode, in `mvcdec`.
    var decodedView = ViewChoice.both
  }

  let instance: ElementInstance
  let settings = Locked(Settings())
  let decoder = Locked<InnerDecoder?>(nil)
  let sink: Pad
  let source: Pad
  let latency = AddedLatency()

  init(_ instance: ElementInstance) throws {
    self.instance = instance
    sink = try Pad(
      instance, template: "sink", .sink(chain: MVCFlatten.receive, event: MVCFlatten.handle))
    source = try Pad(instance, template: "src", .source(query: MVCFlatten.answer))
    for pad in [sink, source] { add(pad) }
    source.useFixedCaps()
  }

  func start() throws -> Streaming {
    latency.reset()
    return Streaming(self, settings.current, isPart: decoder.current != nil)
  }
}

/// Views of an H.264 MVC stream, as a property.
enum MVCViewsChoice: Int32, EnumType {
  case both = 0
  case base = 1
  case dependent = 2

  static let typeName = "GstMVCViews"

  var names: (nick: String, description: String) {
    switch self {
    case .both: ("both", "Both views: pictures alternate")
    case .base: ("base", "The base view alone, its NAL units unchanged")
    case .dependent:
      ("dependent", "The other view alone, if it is not predicted from the base view")
    }
  }
}
