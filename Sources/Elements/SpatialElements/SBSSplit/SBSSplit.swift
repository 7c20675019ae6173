// SPDX-License-Identifier: MPL-2.0

import GStreamer
import StereoVideo

/// `sbssplit`: splits frames with two eyes into one stream per eye.
let sbsSplit = ElementDeclaration<SBSSplit>(
  name: "sbssplit",
  typeName: "GstSBSSplit",
  longName: "Stereo frame splitter",
  klass: "Filter/Converter/Video",
  description: "Splits side-by-side, top-bottom or frame-by-frame stereo video into its two eyes "
    + "without copying pixels",
  author: author,
  padTemplates: [
    PadTemplate("sink", .sink, caps: Caps("video/x-raw")),
    PadTemplate("left", .source, caps: Caps("video/x-raw")),
    PadTemplate("right", .source, caps: Caps("video/x-raw")),
  ],
  properties: SBSSplit.properties(at: \.self))

/// Whether each eye is squeezed: `GstSBSSplitHalfAspect`.
enum HalfAspect: Int32, EnumType {
  case auto, no, yes

  static let typeName = "GstSBSSplitHalfAspect"

  var names: (nick: String, description: String) {
    switch self {
    case .auto:
      ("auto", "As input-flags-override or the caps specify, or else by the frame's shape")
    case .no: ("no", "The eyes have their full size")
    case .yes: ("yes", "The eyes are squeezed")
    }
  }
}

/// An element with one sink pad and two always source pads; either may stay unlinked.
///
/// If the peer of an eye's pad supports GstVideoMeta, the eye's buffers refer to the packed frame's
/// memory by offsets and strides; an in-place filter then copies before it writes. If not, the eye
/// is copied to a separate pool.
final class SBSSplit: ElementImplementation {
  struct Settings {
    var inputMode = MultiviewFramePacking.none
    var inputFlags = MultiviewFlags()
    var halfAspect = HalfAspect.auto
    /// Whether a layout that nothing specifies is guessed from the frame's shape, with a warning.
    var guesses = true
  }

  struct Streaming {
    var source: EyeSource
    /// Nil until the first caps.
    var input: FramePackedVideo?
    /// For frame-by-frame video: which eye is next, and the timestamp of the pair.
    var sequence = FrameSequence()
  }

  let instance: ElementInstance
  let settings = Locked(Settings())
  let sink: Pad
  let pads: EyePads
  private let hasWarnedOfFormat = Locked(false)

  init(_ instance: ElementInstance) throws {
    self.instance = instance
    sink = try Pad(
      instance, template: "sink",
      .sink(chain: SBSSplit.receive, event: SBSSplit.handle, query: SBSSplit.answer))
    pads = try EyePads(instance, .source(query: SBSSplit.answerDownstream))
    add(sink)
    for eye in Eye.allCases { add(pads[eye]) }
  }

  func start() throws -> Streaming {
    hasWarnedOfFormat.withLock { $0 = false }
    return Streaming(source: EyeSource(pads))
  }
}

extension SBSSplit {
  /// Returns the properties of an element that stores these settings at `path`.
  static func properties<Owner: HasSettings>(
    at path: WritableKeyPath<Owner.Settings, Settings>
  ) -> [Property<Owner>] {
    [
      .choice(
        "input-mode-override", nick: "Input mode override",
        blurb: "How the two eyes are packed, if the caps do not specify it or are wrong",
        default: .none, at: path.appending(path: \.inputMode)),
      .flags(
        "input-flags-override", nick: "Input flags override",
        blurb: "Flags that complete input-mode-override: right-view-first, half-aspect",
        at: path.appending(path: \.inputFlags)),
      .choice(
        "half-aspect", nick: "Half aspect",
        blurb: "Whether each eye is squeezed to half its width or height",
        default: .auto, at: path.appending(path: \.halfAspect)),
    ]
  }
}

extension SBSSplit {
  func handle(_ pad: Pad, _ event: Event, _ streaming: inout Streaming) throws -> Bool {
    switch event.kind {
    case .streamStart:
      pads.startStreams(of: self, following: event)
      return true
    case .caps(let caps):
      return try setCaps(caps, following: event, &streaming)
    case .flushStop:
      streaming.source.reset()
      streaming.sequence = FrameSequence()
      return pad.forward(event)
    default:
      return pad.forward(event)
    }
  }

  private func setCaps(
    _ caps: Caps, following event: Event, _ streaming: inout Streaming
  ) throws -> Bool {
    let packed = try FramePackedVideo(caps, settings: settings.current)
    let size = packed.eyeSize
    let found = "\(packed.layout) from \(caps): \(size.width)x\(size.height) an eye"
    switch packed.source {
    case .caps: log.debug(self, "the caps say \(found)")
    case .property: log.info(self, "input-mode-override says \(found)")
    case .guess:
      log.info(
        self,
        "the packing of the eyes is not specified; guessed \(found) "
          + "(set input-mode-override if that is wrong)")
      postWarning(
        ElementError(
          .format,
          "The stream does not specify how the eyes are packed; \(packed.layout) is assumed from "
            + "the frame's shape. Set input-mode-override if that is wrong."))
    }
    streaming.input = packed
    for eye in Eye.allCases
    where pads[eye].isLinked && !pads[eye].peerAccepts(packed.caps(for: eye)) {
      warnOfFormat(caps, acceptableCaps())
    }
    pads.sendCaps(following: event) { packed.caps(for: $0) }
    try streaming.source.askPeers { eye in
      guard let info = VideoInfo(packed.caps(for: eye)) else { throw FlowReturn.notNegotiated }
      return info
    }
    for eye in Eye.allCases {
      let isReferred = streaming.source[memory: eye]?.acceptsAnyLayout ?? false
      log.info(
        self,
        "\(eye): \(isReferred ? "references" : "copies (no GstVideoMeta at the peer)")")
    }
    return true
  }

  // MARK: Queries

  func answer(_ pad: Pad, _ query: borrowing Query) -> Bool {
    let all = pad.templateCaps
    // Asked once: the peers' answer may change meanwhile.
    var possible = all
    if case .caps = query.kind { possible = acceptableCaps().intersection(all) }
    if let offered = query.capsFilter, pad.streamStart != nil { warnOfFormat(offered, possible) }
    return query.answerAsReader(of: all, possible: possible, keeping: keptCount(query))
      || pad.forward(query)
  }

  /// Warns if only the pixel format that is offered keeps the peers from taking the eyes:
  /// GStreamer would only say that negotiation failed.
  private func warnOfFormat(_ offered: Caps, _ possible: Caps) {
    let anyFormat = offered.with(removing: ["format", "colorimetry", "chroma-site"])
    guard let format = offered.first?.string("format"), !possible.canIntersect(offered),
      possible.canIntersect(anyFormat),
      hasWarnedOfFormat.withLock({ hasWarned in
        defer { hasWarned = true }
        return !hasWarned
      })
    else { return }
    postWarning(
      ElementError(
        .negotiation,
        "What follows sbssplit does not take pictures in \(format); put videoconvert before "
          + "sbssplit.", debug: "\(offered) is not \(possible)"))
  }

  /// Returns how many packed frames the peers may keep by reference as frames of their eyes.
  private func keptCount(_ query: borrowing Query) -> Int {
    guard let caps = query.allocationCaps,
      let packed = try? FramePackedVideo(caps, settings: settings.current)
    else { return 0 }
    return pads.peerMemory { packed.caps(for: $0) }.bufferCount
  }

  func answerDownstream(_ pad: Pad, _ query: borrowing Query) -> Bool {
    guard case .allocation = query.kind else { return pad.forward(query) }
    return false
  }

  /// Returns the packed video caps for which both peers accept their eyes' caps.
  private func acceptableCaps() -> Caps {
    let all = sink.templateCaps
    let common = pads.peerCaps(among: all, without: ["pixel-aspect-ratio", "framerate"])
    return common.isEqual(to: all) ? all : common.packings()
  }
}

extension Caps {
  /// Turns caps of one eye into those of packed frames in any of the layouts.
  fileprivate func packings() -> Caps {
    let result = Caps.empty
    for structure in structures where structure.name == "video/x-raw" {
      for (wide, high) in [(2, 1), (1, 2), (1, 1)] as [(Int32, Int32)] {
        var fields = structure.allFields
        for (index, field) in fields.enumerated() {
          if field.key == "width" { fields[index].value = field.value.multiplied(by: wide) }
          if field.key == "height" { fields[index].value = field.value.multiplied(by: high) }
        }
        result.append("video/x-raw", fields)
      }
    }
    return result
  }
}

extension Value {
  /// Multiplies integers, ranges and lists of them, saturating; returns other values unchanged.
  fileprivate func multiplied(by factor: Int32) -> Value {
    func product(_ number: Int32) -> Int32 {
      let (product, overflow) = number.multipliedReportingOverflow(by: factor)
      return overflow ? (number < 0 ? .min : .max) : product
    }
    return switch self {
    case .int(let number): .int(product(number))
    case .intRange(let range): .intRange(product(range.lowerBound)...product(range.upperBound))
    case .list(let items): .list(items.map { $0.multiplied(by: factor) })
    default: self
    }
  }
}

extension SBSSplit {
  func receive(_ pad: Pad, _ buffer: Buffer, _ streaming: inout Streaming) throws {
    guard let input = streaming.input else {
      throw ElementError(.negotiation, "Data came before its caps.")
    }
    try streaming.source.askReconfiguredPeers()
    if input.layout.arrangement == .frameByFrame {
      try pass(buffer, to: streaming.sequence.eye(of: buffer, in: input.layout), streaming.source)
      return
    }
    let layout = try input.info.layout(of: buffer)
    let memory = try input.info.contiguous(buffer, layout)
    let frame = PackedFrame(header: buffer, memory: memory, layout: layout)
    let source = streaming.source
    var flow = FlowReturn.ok
    for eye in Eye.allCases {
      guard let memory = source[memory: eye] else { throw FlowReturn.notNegotiated }
      let region = input.region(of: eye, in: layout)
      let cut =
        if let copy = try memory.acquire() {
          try self.copy(region, of: frame, input, into: copy, memory.info)
        } else {
          refer(to: region, of: frame, memory.info)
        }
      flow = source.push(cut, to: eye)
    }
    try flow.check()
  }

  /// A packed frame with both eyes.
  private struct PackedFrame {
    /// Source of times, flags and metas.
    let header: Buffer
    /// The pixels, in contiguous memory.
    let memory: Buffer
    let layout: VideoLayout
  }

  /// Makes a buffer for one eye that refers to the packed frame's memory.
  private func refer(
    to region: VideoLayout, of frame: PackedFrame, _ info: VideoInfo
  ) -> UniqueBuffer {
    let view = UniqueBuffer()
    takeHeader(view, from: frame.header)
    view.append(frame.memory, offset: 0, size: frame.memory.size)
    view.setVideoLayout(region, format: info.format)
    view.keepAlive(frame.header)
    return view
  }

  /// Copies one eye of a packed frame.
  private func copy(
    _ region: VideoLayout, of frame: PackedFrame, _ input: FramePackedVideo,
    into copy: consuming UniqueBuffer, _ info: VideoInfo
  ) throws -> UniqueBuffer {
    copy.copyHeader(from: frame.header, metas: false)
    copy.copyMetas(from: frame.header, isResized: true)
    copy.flags.subtract(.views)
    let source = try VideoFrame(frame.memory, input.info)
    let target = try VideoFrame(copy, info, writing: true)
    for plane in 0..<target.planeCount {
      guard let from = source.plane(plane), let to = target.view(plane, info) else {
        throw ElementError(.failedStream, "A frame lacks a plane.")
      }
      let start = from + (region.offsets[plane] - frame.layout.offsets[plane])
      to.copy(
        PlaneView(
          base: start, stride: source.stride(plane), rowBytes: to.rowBytes, rows: to.rows))
    }
    return copy
  }

  /// Copies the packed frame's times, flags and size-independent metas to one eye's buffer.
  private func takeHeader(_ view: borrowing UniqueBuffer, from packed: Buffer) {
    view.copyHeader(from: packed, metas: true)
    view.removeMetasOfSize()
    view.flags.subtract(.views)
  }

  private func pass(
    _ buffer: Buffer, to place: FrameSequence.Place, _ source: EyeSource
  ) throws {
    guard let memory = source[memory: place.eye] else { throw FlowReturn.notNegotiated }
    _ = try memory.info.layout(of: buffer)
    let frame = try memory.fit(buffer).writable()
    frame.flags.subtract(.views)
    frame.pts = place.pts
    frame.duration = place.duration
    try source.push(frame, to: place.eye).check()
  }
}

/// Tells the eyes of frame-by-frame video apart and gives both the timestamp of the first.
struct FrameSequence {
  struct Place {
    let eye: Eye
    let pts: ClockTime?
    let duration: ClockTime?
  }

  private var isSecond = false
  private var pairPTS: ClockTime?

  /// Determines which eye a frame shows. Buffer flags, if present, override the sequence, so that a
  /// lost frame does not swap the eyes; without flags the eyes alternate.
  mutating func eye(of frame: Buffer, in layout: PackingLayout) -> Place {
    let isFlagged = !frame.flags.isDisjoint(with: .views)
    let isFirst = frame.flags.contains(.firstInBundle) || !isFlagged && !isSecond
    if isFirst {
      pairPTS = frame.pts
    } else if !isSecond {
      pairPTS = frame.pts.map { $0 - (frame.duration ?? 0) }
    }
    isSecond = isFirst
    let firstEye: Eye = layout.rightViewFirst ? .right : .left
    return Place(
      eye: isFirst ? firstEye : firstEye.other, pts: pairPTS,
      duration: frame.duration.map { $0 * 2 })
  }
}
