// SPDX-License-Identifier: MPL-2.0

import GStreamer
import HEVC
import StereoVideo

/// The first part of `mvhevcdec`: takes layered H.265 and outputs single-layer H.265.
let layerFlattening = ElementDeclaration<LayerFlattening>(
  name: "mvhevcflattening", typeName: "GstMVHEVCFlattening",
  longName: "MV-HEVC flattening", klass: "Codec/Parser/Converter/Video",
  description: "Converts layered H.265 to a single layer for plain decoders", author: author,
  padTemplates: [
    PadTemplate("sink", .sink, caps: LayeredCaps.decodable),
    PadTemplate(
      "src", .source,
      caps: Caps(
        "video/x-h265",
        ["stream-format": .strings(["hvc1", "byte-stream"]), "alignment": "au"])),
  ])

final class LayerFlattening: FlatteningElement {
  let instance: ElementInstance
  /// Set before the element starts.
  let view = Locked(ViewChoice.both)
  let decoder = Locked<InnerDecoder?>(nil)
  let sink: Pad
  private let source: Pad
  let latency = AddedLatency()

  init(_ instance: ElementInstance) throws {
    self.instance = instance
    sink = try Pad(
      instance, template: "sink",
      .sink(chain: LayerFlattening.receive, event: LayerFlattening.handle))
    sink.addFilter(AccessUnitJoiner())
    source = try Pad(instance, template: "src", .source(query: LayerFlattening.answer))
    for pad in [sink, source] { add(pad) }
    source.useFixedCaps()
  }

  func start() throws -> Streaming {
    latency.reset()
    return Streaming(element: self)
  }
}

// MARK: Data

extension LayerFlattening {
  struct Streaming: FlatteningStream {
    let element: LayerFlattening
    private var input: LayeredInput?
    private var maker: LayerExtractor?
    private var accessUnit = 0
    private(set) var content = FlatteningContent.nothing
    /// Access units whose pictures have not all been sent.
    private var sources = AccessUnitSources<CodedAccessUnit>()
    /// Duration of a frame; nil if unknown.
    private var frameDuration: ClockTime?
    /// Number of coded video sequences so far; picture order counts restart in each.
    private var sequence: UInt64 = 0
    private var discontinuity: UInt64 = 0
    private var sentSets: SingleLayerParameterSets?
    private var sentCaps: Caps?
    private var framing = NALUnitFraming.annexB
    private var warned: Set<Eye?> = []
    /// Pictures of the current sequence that the decoder got, to be repeated to a replacement
    /// decoder.
    private var repeatable = RedecodeWindow()
    /// The playback segment.
    private var segment: Event?
    /// Events to be sent after the caps, which are known only with the first access unit.
    private var heldEvents: [Event] = []

    init(element: LayerFlattening) {
      self.element = element
    }

    mutating func setCaps(_ caps: Caps) throws {
      if content == .nothing { content = .emptyTrack }
      let input = try LayeredInput(caps)
      // Caps that are repeated, or that add details to the same stream, do not start a new one.
      if input.parameterSets != self.input?.parameterSets || input.framing != self.input?.framing {
        drain()
        maker = nil
      }
      frameDuration = caps.first?.fraction("framerate")?.frameDuration ?? frameDuration
      self.input = input
      sentSets = nil
      if let problem = input.layeredRecordProblem {
        element.postWarning(
          ElementError(.format, "The dependent layer's record (lhvC) is damaged: \(problem)."))
      }
    }

    /// Resets the state after a flush.
    mutating func reset() {
      if content != .pictures { content = .emptyTrack }
      maker?.reset()
      repeatable.removeAll()
      sources.removeAll()
      // Tags remain valid across a flush.
      heldEvents.removeAll { if case .tags = $0.kind { false } else { true } }
    }

    mutating func setSegment(_ event: Event) {
      let events = PlaybackSegmentEvent.events(for: event)
      for event in events { send(event) }
      segment = events.last
    }

    mutating func send(_ event: Event) {
      if sentCaps == nil { heldEvents.append(event) } else { element.source.push(event) }
    }

    mutating func receive(_ buffer: Buffer) throws {
      guard let input else { throw ElementError(.negotiation, "Data came before its caps.") }
      if content != .pictures { content = .dataAlone }
      defer { accessUnit += 1 }
      let isRandomAccess: Bool
      var made: LayerExtractor.Output
      do {
        guard
          let output = try buffer.withBytes({ try make(buffer, $0.bytes, input) })
        else { return }
        (made, isRandomAccess) = output
      } catch let error as any ElementErrorConvertible where sentCaps != nil {
        warnOnce(nil, "Damaged access units are skipped: \(error).")
        return
      }
      guard let maker else { return }
      warn(made, maker)
      if made.warning == .remarkedReferences { try changeDecoder(&made, maker) }
      if made.beginsSequence { sequence &+= 1 }
      sources.keep(
        CodedAccessUnit(
          buffer: buffer, sequence: sequence, discontinuity: discontinuity, pairing: made.pairing),
        as: accessUnit)
      try send(made.pictures.prefix(made.earlierCount), maker)
      try sendCaps(made.parameterSets, input, isRandomAccess: isRandomAccess)
      if made.beginsSequence { repeatable.begin() }
      try send(made.pictures.dropFirst(made.earlierCount), maker)
      sources.drop(before: made.oldestNeeded)
      if let duration = buffer.duration, duration > 0 { frameDuration = duration }
      element.latency.raise(to: maker.delay * min(frameDuration ?? 0, .second), of: element)
    }

    /// Makes the coded pictures of an access unit, and tells whether decoding can begin there.
    private mutating func make(
      _ buffer: Buffer, _ bytes: RawSpan, _ input: LayeredInput
    ) throws -> (LayerExtractor.Output, isRandomAccess: Bool)? {
      let units = try input.framing.nalUnits(in: bytes)
      if maker == nil {
        maker = try LayerExtractor(input, bytes, units, view: element.view.current)
        if let warning = maker?.warning {
          element.postWarning(ElementError(.decode, "\(warning)."))
        }
      }
      guard let maker else { return nil }
      let isRandomAccess = self.isRandomAccess(bytes, units)
      // After data loss in the middle of a sequence, the numbering continues.
      if buffer.flags.contains(.discont), accessUnit > 0, isRandomAccess {
        drain()
        maker.reset()
        discontinuity &+= 1
      }
      let made = try maker.make(
        bytes, units, number: accessUnit, isRandomAccess: isRandomAccess)
      return (made, isRandomAccess)
    }

    /// Sends the waiting pictures, as no access unit continues their sequence. A refusal by the
    /// next element is ignored, so that it does not block what follows.
    mutating func drain() {
      guard let maker else { return }
      try? send(maker.drain(), maker)
      sources.removeAll()
    }

    private mutating func send(
      _ pictures: some Sequence<SingleLayerAccessUnit>, _ maker: LayerExtractor
    ) throws {
      for picture in pictures {
        guard let source = sources[picture.accessUnit] else { continue }
        let output = try source.buffer.withBytes { try write(picture, $0.bytes) }
        stamp(output, picture, maker, source)
        if element.decoder.current?.isStrict ?? false { repeatable.add(output) }
        try element.source.push(output).check()
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
      _ output: Buffer, _ picture: SingleLayerAccessUnit, _ maker: LayerExtractor,
      _ source: CodedAccessUnit
    ) {
      output.copyHeader(from: source.buffer, metas: false)
      // A delayed picture is decoded when it is sent, not when its access unit arrived.
      output.dts = sources.all.last?.buffer.dts
      if picture.layerID > 0 { output.flags.remove(.discont) }
      if picture.isRandomAccess {
        output.flags.remove(.deltaUnit)
      } else {
        output.flags.insert(.deltaUnit)
      }
      if !picture.isOutput { output.flags.insert(.decodeOnly) }
      // Both pictures of an access unit get the base picture's position.
      let offset = picture.layerID == 0 ? 0 : Flattener.pictureOrderCountOffset
      let count = (picture.pictureOrderCount ?? 0) &- offset
      AccessUnitMeta(
        number: UInt64(picture.accessUnit),
        eye: picture.layerID == 0 ? maker.baseEye : maker.baseEye.other, of: source.buffer,
        order: source.sequence << 32 &+ UInt64(clamping: count &+ 1 << 31),
        discontinuity: source.discontinuity, pairing: source.pairing
      ).set(on: output)
    }

    /// Sends caps downstream if they have changed.
    ///
    /// New caps restart decoders, which then lose the pictures that later ones refer to. If
    /// possible, the decoder therefore gets a byte stream with in-band parameter sets, and new caps
    /// only at random access points.
    private mutating func sendCaps(
      _ sets: SingleLayerParameterSets, _ input: LayeredInput, isRandomAccess: Bool
    ) throws {
      guard sets != sentSets else { return }
      guard sentCaps == nil || isRandomAccess || framing != .annexB else { return }
      element.decoder.current?.noteHeldPictures(sets)
      let record = try input.singleLayerCaps(sets)
      let stream = record.with(["stream-format": "byte-stream"], removing: ["codec_data"])
      let takesStream = takes(stream) || !takes(record) && change(for: stream)
      if !takesStream, !takes(record), !change(for: record), let decoder = element.decoder.current {
        throw decoder.refusal(of: record)
      }
      sentSets = sets
      framing = takesStream ? .annexB : .lengthPrefixed(lengthSize: 4)
      let caps = takesStream ? stream : record
      guard sentCaps.map({ !$0.isEqual(to: caps) }) ?? true else { return }
      sentCaps = caps
      content = .pictures
      element.source.push(.caps(caps))
      for event in heldEvents { element.source.push(event) }
      heldEvents = []
    }

    private func takes(_ caps: Caps) -> Bool { element.source.peerAccepts(caps) }

    // MARK: Decoders

    /// Replaces a decoder that does not accept these caps.
    private func change(for caps: Caps) -> Bool { change(for: .init(caps: caps)) }

    private func change(for needs: InnerDecoder.Needs) -> Bool {
      guard let decoder = element.decoder.current else { return false }
      let isChanged = decoder.change(for: needs) {
        if sentCaps != nil { element.source.drainPeer() }
      }
      guard isChanged else { return false }
      if sentCaps != nil, let segment { element.source.push(segment) }
      return true
    }

    /// Ensures that the decoder supports changes of reference marking from long-term to short-term.
    /// If no decoder does, the dependent eye is dropped.
    private mutating func changeDecoder(
      _ made: inout LayerExtractor.Output, _ maker: LayerExtractor
    ) throws {
      guard element.decoder.current?.isStrict ?? false else { return }
      if change(for: .init(caps: sentCaps, remarksReferences: true)) {
        for buffer in repeatable.take() { try element.source.push(buffer).check() }
        return
      }
      let eye = maker.baseEye.other
      element.postMissingDecoder(for: Caps(PlainCodec.h265.mediaType))
      let missing = PlainCodec.h265.missing(
        "There is no decoder for the \(eye.rawValue) eye of this stream")
      guard made.pairing == .pair else { throw missing }
      element.postWarning(missing)
      maker.dropDependentLayer()
      made.earlierCount -= made.pictures.prefix(made.earlierCount).count { $0.layerID > 0 }
      made.pictures.removeAll { $0.layerID > 0 }
    }

    // MARK: Warnings

    private mutating func warn(_ made: LayerExtractor.Output, _ maker: LayerExtractor) {
      let eye = maker.baseEye.other
      if made.pairing == .gap {
        var remedy = ""
        if case .missingParameterSet = made.failure { remedy = " \(LostLayer.remedy)" }
        warnOnce(
          eye,
          "The \(eye.rawValue) eye cannot be decoded; gaps are sent instead: "
            + "\(made.failure.map { "\($0)" } ?? "the stream has no pictures of it").\(remedy)")
      } else if let failure = made.failure {
        warnOnce(eye, "Damaged pictures of the \(eye.rawValue) eye are skipped: \(failure).")
      }
      if let warning = made.warning {
        element.postWarning(ElementError(.decode, "\(warning)."))
      }
    }

    /// - Parameter eye: the affected eye; nil for both.
    private mutating func warnOnce(_ eye: Eye?, _ message: String) {
      guard warned.insert(eye).inserted else { return }
      element.postWarning(ElementError(.decode, message))
    }
  }
}

/// An access unit as received.
private struct CodedAccessUnit {
  let buffer: Buffer
  /// Number of the coded video sequence that it belongs to.
  let sequence: UInt64
  let discontinuity: UInt64
  /// State of the other eye.
  let pairing: AccessUnitMeta.Pairing
}

/// The coded pictures of the current sequence, for a decoder that takes over in its middle.
struct RedecodeWindow {
  /// References that live too long show up in the first pictures of a stream; a longer sequence is
  /// not kept.
  private static let maximumCount = 512

  private var buffers: [Buffer]? = []

  /// Begins a new sequence.
  mutating func begin() { buffers = [] }

  mutating func removeAll() { buffers = nil }

  mutating func add(_ buffer: Buffer) {
    guard let count = buffers?.count, count < Self.maximumCount else {
      buffers = nil
      return
    }
    buffers?.append(buffer)
  }

  /// Returns the pictures, marked as repeated; empty if they were not all kept.
  mutating func take() -> [Buffer] {
    defer { buffers = nil }
    return (buffers ?? []).map { buffer in
      let copy = buffer.copied()
      AccessUnitMeta.markRepeated(copy)
      return copy
    }
  }
}
