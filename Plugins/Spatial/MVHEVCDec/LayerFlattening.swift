import CGStreamer
import GStreamer
import HEVC
import StereoVideo

/// The first part of `mvhevcdec`: layered H.265 in, single-layer H.265 out.
let layerFlattening = ElementDeclaration<LayerFlattening>(
  name: "mvhevcflattening", typeName: "GstMVHEVCFlattening", baseClass: .element,
  longName: "MV-HEVC flattening", klass: "Codec/Parser/Converter/Video",
  description: "Makes layered H.265 single-layer for a plain decoder", author: author,
  padTemplates: [
    PadTemplate("sink", .sink, caps: LayeredCaps.decodable),
    PadTemplate(
      "src", .source,
      caps: Caps(
        "video/x-h265",
        ["stream-format": .strings(["hvc1", "byte-stream"]), "alignment": "au"])),
  ])

final class LayerFlattening: ElementSubclass, @unchecked Sendable {
  /// Set before the element starts.
  let view = Locked(ViewChoice.both)
  private let sink: Pad
  private let source: Pad

  // What follows is used by the sink pad's thread alone.

  private var input: LayeredInput?
  private var maker: LayerMaker?
  private var accessUnit: UInt64 = 0
  private var sentSets: SingleLayerParameterSets?
  private var framing = NALUnitFraming.lengthPrefixed(lengthSize: 4)
  private var hasWarned = false
  /// Events that have to come behind the caps, which need the first access unit.
  private var heldEvents: [Event] = []

  required init(_ instance: ElementInstance) throws {
    sink = try Pad(
      instance, template: "sink",
      functions: PadFunctions<LayerFlattening>(
        chain: LayerFlattening.receive, event: LayerFlattening.handle))
    source = try Pad(
      instance, template: "src", functions: PadFunctions<LayerFlattening>())
    try super.init(instance)
    for pad in [sink, source] { add(pad) }
    source.useFixedCaps()
  }

  override func start() throws { forget() }
  override func stop() { forget() }

  private func forget() {
    input = nil
    maker = nil
    accessUnit = 0
    sentSets = nil
    hasWarned = false
    heldEvents = []
  }

  private func handle(_ pad: Pad, _ event: Event) throws -> Bool {
    switch event.type {
    case GST_EVENT_CAPS:
      guard let caps = event.caps else { return false }
      let input = try LayeredInput(caps)
      self.input = input
      maker = nil
      sentSets = nil
      return true
    case GST_EVENT_FLUSH_STOP:
      maker?.reset()
      heldEvents = []
      return pad.forward(event)
    case GST_EVENT_SEGMENT, GST_EVENT_TAG:
      guard sentSets == nil else { return pad.forward(event) }
      heldEvents.append(event)
      return true
    default: return pad.forward(event)
    }
  }

  private func receive(_ pad: Pad, _ buffer: Buffer) throws {
    guard let input else { throw ElementError(.negotiation, "Data came before its caps.") }
    if buffer.flags.contains(.discont), accessUnit > 0 { maker?.reset() }
    let outputs = try buffer.withBytes { bytes -> [(SingleLayerAccessUnit, Buffer)] in
      let span = bytes.bytes
      let units = try input.framing.nalUnits(in: span)
      if maker == nil {
        guard let made = try LayerMaker(input, span, units, view: view.current) else { return [] }
        maker = made
        report(made)
      }
      guard let maker else { return [] }
      let pictures = try maker.make(span, units)
      try sendCaps(maker, input)
      return try pictures.map { ($0, try write($0, span)) }
    }
    reportFailure()
    accessUnit &+= 1
    for (picture, output) in outputs {
      stamp(output, picture, like: buffer)
      try source.push(output).check()
    }
  }

  private func write(_ picture: SingleLayerAccessUnit, _ span: RawSpan) throws -> Buffer {
    guard let output = Buffer(size: picture.byteCount(framing: framing)) else {
      throw FlowReturn.error
    }
    try output.withMutableBytes { picture.write(framing: framing, source: span, into: $0) }
    return output
  }

  private func stamp(
    _ output: Buffer, _ picture: SingleLayerAccessUnit, like buffer: Buffer
  ) {
    output.copyHeader(from: buffer, metas: false)
    if !picture.isRandomAccess { output.flags.insert(.deltaUnit) }
    guard let maker else { return }
    let eye = picture.layerID == 0 ? maker.baseEye : maker.baseEye.other
    AccessUnitMeta(
      number: accessUnit, eye: eye, pts: buffer.pts, duration: buffer.duration,
      isPaired: maker.outputsBoth
    ).set(on: output)
    if !picture.isOutput { output.flags.insert(.decodeOnly) }
  }

  /// Says what the decoder gets, where that is new.
  private func sendCaps(_ maker: LayerMaker, _ input: LayeredInput) throws {
    guard let sets = maker.parameterSets, sets != sentSets else { return }
    sentSets = sets
    let caps = try input.singleLayerCaps(sets)
    let byteStream = caps.with(["stream-format": "byte-stream"], removing: ["codec_data"])
    let takesRecord = source.peerAccepts(caps)
    framing = takesRecord ? .lengthPrefixed(lengthSize: 4) : .annexB
    source.push(.caps(takesRecord ? caps : byteStream))
    for event in heldEvents { source.push(event) }
    heldEvents = []
  }

  private func report(_ maker: LayerMaker) {
    if let warning = maker.warning { postWarning(ElementError(.decode, "\(warning).")) }
  }

  /// A damaged dependent picture is told of once; the base eye goes on.
  private func reportFailure() {
    guard let failure = maker?.lastFailure, !hasWarned else { return }
    hasWarned = true
    postWarning(
      ElementError(
        .decode,
        "Pictures of the \(maker?.baseEye.other.rawValue ?? "other") eye are damaged and "
          + "left out: \(failure)."))
  }
}
