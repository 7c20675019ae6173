// SPDX-License-Identifier: MPL-2.0

import GStreamer
import StereoVideo

/// The source pads `left` and `right` of an element that gives each eye a stream of its own.
struct EyePads: Sendable {
  private let left: Pad
  private let right: Pad

  /// Makes the pads. The element adds them.
  init<Owner: ElementImplementation>(
    _ instance: ElementInstance, _ functions: PadFunctions<Owner>
  ) throws {
    left = try Pad(instance, template: Eye.left.rawValue, functions)
    right = try Pad(instance, template: Eye.right.rawValue, functions)
    for pad in [left, right] { pad.useFixedCaps() }
  }

  subscript(eye: Eye) -> Pad { eye == .left ? left : right }

  /// The caps of a stream that shows one eye alone, of those of a stream of any pictures.
  static func caps(_ caps: Caps, of eye: Eye) -> Caps {
    caps.with(["multiview-mode": .string(eye.rawValue)], removing: ["views", "multiview-flags"])
  }

  /// Which of these caps the peers take as the pictures of their eyes: all of them, where nothing is
  /// linked.
  ///
  /// - Parameters:
  ///   - eyes: whose peers are asked.
  ///   - unsaid: fields besides that are not the same for what is asked for.
  func peerCaps(
    among caps: Caps, of eyes: some Sequence<Eye> = Eye.allCases, without unsaid: [String] = []
  ) -> Caps {
    eyes.reduce(caps) { common, eye in
      guard self[eye].isLinked else { return common }
      let wanted = Self.caps(caps, of: eye)
      let taken = self[eye].peerCaps(filter: wanted).intersection(wanted)
      return common.intersection(
        taken.with(removing: ["multiview-mode", "multiview-flags", "views"] + unsaid))
    }
  }

  /// What the peers say of the memory of their eyes' frames: whether all of them take frames that lie
  /// as a GstVideoMeta says, and how many buffers the neediest one asks for.
  ///
  /// - Parameters:
  ///   - eyes: whose peers are asked.
  ///   - caps: of an eye's frames.
  func peerMemory(
    of eyes: some Sequence<Eye> = Eye.allCases, caps: (Eye) -> Caps
  ) -> (takesAnyLayout: Bool, bufferCount: Int) {
    eyes.reduce((true, 0)) { common, eye in
      let query = Query.allocation(caps(eye), needsPool: false)
      let isAnswered = self[eye].queryPeer(query)
      return (
        common.0 && isAnswered && query.acceptsVideoMeta,
        max(common.1, isAnswered ? query.requiredBufferCount : 0)
      )
    }
  }

  /// Begins a stream at each pad, for the one that begins at the sink pad.
  func startStreams(of element: any ElementObject, following start: Event) {
    for eye in Eye.allCases {
      let event = Event.streamStart(id: self[eye].streamID(element, suffix: eye.rawValue))
      self[eye].push(event.takingGroup(of: start).following(start))
    }
  }

  /// Says at each pad what its stream is from now on.
  func sendCaps(following event: Event, _ caps: (Eye) -> Caps) {
    for eye in Eye.allCases { self[eye].push(Event.caps(caps(eye)).following(event)) }
  }
}

/// The two streams of an element that gives each eye one, in the hands of the thread that data flows
/// in: how frames lie in memory, and what the peers said.
struct EyeSource {
  private let pads: EyePads
  private let combiner = FlowCombiner()
  private var left: FrameMemory?
  private var right: FrameMemory?

  init(_ pads: EyePads) {
    self.pads = pads
    for eye in Eye.allCases { combiner.add(pads[eye]) }
  }

  /// Forgets what the peers said, after a flush.
  func reset() { combiner.reset() }

  // MARK: Memory

  /// How an eye's frames lie; nil before `askPeers`.
  private(set) subscript(memory eye: Eye) -> FrameMemory? {
    get { eye == .left ? left : right }
    set { if eye == .left { left = newValue } else { right = newValue } }
  }

  /// Asks both peers how raw frames of these caps may lie.
  mutating func askPeers(_ info: (Eye) throws -> VideoInfo) throws {
    for eye in Eye.allCases { self[memory: eye] = try FrameMemory(pads[eye], info(eye)) }
  }

  /// Asks those peers again that want to negotiate anew.
  mutating func askReconfiguredPeers() throws {
    for eye in Eye.allCases where pads[eye].checkReconfigure() {
      if let info = self[memory: eye]?.info {
        self[memory: eye] = try FrameMemory(pads[eye], info)
      }
    }
  }

  // MARK: Data

  /// Pushes a frame, giving up this reference to it. Returns what both peers together have said: what
  /// they say to one eye's frame holds up neither the other's nor the stream, unless it is an error.
  func push(_ frame: consuming Buffer, to eye: Eye) -> FlowReturn {
    combiner.update(pads[eye], pads[eye].push(frame))
  }

  /// The same for a frame that was just made.
  func push(_ frame: consuming UniqueBuffer, to eye: Eye) -> FlowReturn {
    combiner.update(pads[eye], pads[eye].push(frame))
  }

  /// Tells the pad of an eye without frames that none will come, so that what is said of the other eye
  /// counts alone.
  func end(_ eye: Eye) {
    pads[eye].push(.endOfStream)
    _ = combiner.update(pads[eye], .eos)
  }
}

/// How the raw frames that leave a source pad lie in memory, as its peer wants it.
struct FrameMemory {
  let info: VideoInfo
  /// Where frames are copied to; nil while the peer takes any layout.
  private let pool: VideoBufferPool?

  /// Asks the peer whether it takes GstVideoMeta, by which frames may lie in any way.
  init(_ pad: Pad, _ info: VideoInfo) throws {
    self.info = info
    let query = Query.allocation(info.caps, needsPool: false)
    let takesAnyLayout = !pad.isLinked || pad.queryPeer(query) && query.acceptsVideoMeta
    pool = takesAnyLayout ? nil : try VideoBufferPool(info)
  }

  /// Whether frames may lie as their GstVideoMeta says; else they lie as their caps alone say.
  var takesAnyLayout: Bool { pool == nil }

  /// A frame whose pixels are unset, for a peer that takes frames as their caps say alone; nil for any
  /// other.
  func acquire() throws -> UniqueBuffer? { try pool?.acquire() }

  /// The frame if the peer takes it as it lies, else a copy with its times, flags and metas.
  func fit(_ frame: consuming Buffer) throws -> Buffer {
    guard let pool, !isPlain(frame, try info.layout(of: frame)) else { return frame }
    let copy = try pool.acquire()
    copy.copyHeader(from: frame, metas: false)
    copy.copyMetas(from: frame)
    guard
      try VideoFrame(copy, info, writing: true).copyPixels(from: try VideoFrame(frame, info))
    else { throw ElementError(.failedStream, "A frame could not be copied.") }
    return Buffer(copy)
  }

  /// Whether a frame lies in its buffer as the caps alone say.
  private func isPlain(_ frame: Buffer, _ layout: VideoLayout) -> Bool {
    frame.size == info.size && layout.width == info.width && layout.height == info.height
      && layout.offsets == info.offsets && layout.strides == info.strides
  }
}

extension VideoFrame {
  /// A plane of the mapped frame, which has to live for as long as the view is used; nil where the
  /// frame has no such plane.
  func view(_ plane: Int, _ info: VideoInfo) -> PlaneView? {
    guard let base = self.plane(plane) else { return nil }
    let grid = info.sampleGrid(plane)
    func samples(_ count: Int, _ shift: Int) -> Int { (count + (1 << shift) - 1) >> shift }
    return PlaneView(
      base: base, stride: stride(plane),
      rowBytes: samples(info.width, grid.widthShift) * grid.step,
      rows: samples(info.height, grid.heightShift))
  }
}

extension VideoInfo {
  /// How the samples of a plane lie in its rows.
  func sampleFormat(_ plane: Int) -> SampleFormat {
    switch (formatName, plane, sampleGrid(plane).step) {
    case ("NV12", 1, _): .bytePairs
    case ("P010_10LE", 0, _): .highWords
    case ("P010_10LE", _, _): .highWordPairs
    case (_, _, 2): .words
    case (_, _, 4): .quadruples
    default: .bytes
    }
  }
}
