import GStreamer
import HEVC
import StereoVideo

/// The first part of `mvhevcdec`: layered H.265 in, single-layer H.265 out.
let layerFlattening = ElementDeclaration<LayerFlattening>(
  name: "mvhevcflattening", typeName: "GstMVHEVCFlattening",
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

final class LayerFlattening: ElementImplementation {
  let instance: ElementInstance
  /// Set before the element starts.
  let view = Locked(ViewChoice.both)
  private let sink: Pad
  private let source: Pad

  init(_ instance: ElementInstance) throws {
    self.instance = instance
    sink = try Pad(
      instance, template: "sink",
      .sink(chain: LayerFlattening.receive, event: LayerFlattening.handle))
    source = try Pad(instance, template: "src", PadFunctions<LayerFlattening>.source())
    for pad in [sink, source] { add(pad) }
    source.useFixedCaps()
  }

  func start() throws -> Streaming { Streaming(element: self) }

  private func handle(_ pad: Pad, _ event: Event, _ streaming: inout Streaming) throws -> Bool {
    switch event.kind {
    case .caps(let caps): try streaming.setCaps(caps)
    case .flushStop:
      streaming.reset()
      return pad.forward(event)
    case .segment: for event in PlayedSegment.events(for: event) { streaming.send(event) }
    case .tags, .gap: streaming.send(event)
    default: return pad.forward(event)
    }
    return true
  }

  private func receive(_ pad: Pad, _ buffer: Buffer, _ streaming: inout Streaming) throws {
    try streaming.receive(buffer)
  }
}

// MARK: Data

extension LayerFlattening {
  struct Streaming {
    let element: LayerFlattening
    private var input: LayeredInput?
    private var maker: LayerMaker?
    private var accessUnit: UInt64 = 0
    /// Coded video sequences so far, in each of which the pictures are numbered anew.
    private var sequence: UInt64 = 0
    private var stretch: UInt64 = 0
    private var sentSets: SingleLayerParameterSets?
    private var sentCaps: Caps?
    private var framing = NALUnitFraming.annexB
    private var warned: Set<Eye?> = []
    /// Events that have to come behind the caps, which need the first access unit.
    private var heldEvents: [Event] = []

    init(element: LayerFlattening) {
      self.element = element
    }

    fileprivate mutating func setCaps(_ caps: Caps) throws {
      let input = try LayeredInput(caps)
      // Caps that are said again, or tell something new of the same stream, are no new stream.
      if input.parameterSets != self.input?.parameterSets || input.framing != self.input?.framing {
        maker = nil
      }
      self.input = input
      sentSets = nil
    }

    /// Behind a flush.
    fileprivate mutating func reset() {
      maker?.reset()
      heldEvents = []
    }

    fileprivate mutating func send(_ event: Event) {
      if sentCaps == nil { heldEvents.append(event) } else { element.source.push(event) }
    }

    fileprivate mutating func receive(_ buffer: Buffer) throws {
      guard let input else { throw ElementError(.negotiation, "Data came before its caps.") }
      let outputs: [Buffer]
      do {
        outputs = try buffer.withBytes { try pictures(buffer, $0.bytes, input) }
      } catch let error as any ElementErrorConvertible where sentCaps != nil {
        warnOnce(nil, "Access units are damaged and left out: \(error).")
        outputs = []
      }
      accessUnit &+= 1
      for output in outputs { try element.source.push(output).check() }
    }

    /// The coded pictures of an access unit.
    private mutating func pictures(
      _ buffer: Buffer, _ bytes: RawSpan, _ input: LayeredInput
    ) throws -> [Buffer] {
      let units = try input.framing.nalUnits(in: bytes)
      if maker == nil {
        maker = try LayerMaker(input, bytes, units, view: element.view.current)
        if let warning = maker?.warning {
          element.postWarning(ElementError(.decode, "\(warning)."))
        }
      }
      guard let maker else { return [] }
      // Where data was lost in mid-sequence, the numbering goes on.
      let isRandomAccess = self.isRandomAccess(bytes, units)
      if buffer.flags.contains(.discont), accessUnit > 0, isRandomAccess {
        maker.reset()
        stretch &+= 1
      }
      let pictures = try maker.make(bytes, units)
      if maker.beginsSequence { sequence &+= 1 }
      if let failure = maker.lastFailure {
        let eye = maker.baseEye.other
        warnOnce(eye, "Pictures of the \(eye.rawValue) eye are damaged and left out: \(failure).")
      }
      try sendCaps(maker, input, isRandomAccess: isRandomAccess)
      return try pictures.map { picture in
        let output = try write(picture, bytes)
        stamp(output, picture, maker, like: buffer)
        return output
      }
    }

    /// Whether the base layer's picture is an IRAP picture.
    private func isRandomAccess(_ bytes: RawSpan, _ units: [Range<Int>]) -> Bool {
      units.contains { range in
        guard let header = NALUnitHeader(bytes.extracting(range)) else { return false }
        return header.layerID == 0 && header.type.isIRAP
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
      _ output: Buffer, _ picture: SingleLayerAccessUnit, _ maker: LayerMaker, like buffer: Buffer
    ) {
      output.copyHeader(from: buffer, metas: false)
      if picture.layerID > 0 { output.flags.remove(.discont) }
      if picture.isRandomAccess {
        output.flags.remove(.deltaUnit)
      } else {
        output.flags.insert(.deltaUnit)
      }
      if !picture.isOutput { output.flags.insert(.decodeOnly) }
      // Both pictures of an access unit have the base picture's place.
      let offset = picture.layerID == 0 ? 0 : Flattener.pictureOrderCountOffset
      let count = (picture.pictureOrderCount ?? 0) &- offset
      AccessUnitMeta(
        number: accessUnit, eye: picture.layerID == 0 ? maker.baseEye : maker.baseEye.other,
        of: buffer, order: sequence << 32 &+ UInt64(clamping: count &+ 1 << 31), stretch: stretch,
        isPaired: maker.outputsBoth
      ).set(on: output)
    }

    /// Says what the decoder gets, where that is new.
    ///
    /// New caps make decoders start anew, and lose the pictures that later ones refer to. So where it
    /// can be, the decoder gets a byte stream, which has its parameter sets inside, and new caps for
    /// random access points alone.
    private mutating func sendCaps(
      _ maker: LayerMaker, _ input: LayeredInput, isRandomAccess: Bool
    ) throws {
      guard let sets = maker.parameterSets, sets != sentSets else { return }
      guard sentCaps == nil || isRandomAccess || framing != .annexB else { return }
      sentSets = sets
      let record = try input.singleLayerCaps(sets)
      let stream = record.with(["stream-format": "byte-stream"], removing: ["codec_data"])
      let takesStream = element.source.peerAccepts(stream)
      framing = takesStream ? .annexB : .lengthPrefixed(lengthSize: 4)
      let caps = takesStream ? stream : record
      guard sentCaps.map({ !$0.isEqual(to: caps) }) ?? true else { return }
      sentCaps = caps
      element.source.push(.caps(caps))
      for event in heldEvents { element.source.push(event) }
      heldEvents = []
    }

    /// - Parameter eye: whose pictures are affected; nil for both.
    private mutating func warnOnce(_ eye: Eye?, _ message: String) {
      guard warned.insert(eye).inserted else { return }
      element.postWarning(ElementError(.decode, message))
    }
  }
}
