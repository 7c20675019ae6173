// SPDX-License-Identifier: MPL-2.0

import GStreamer
import StereoVideo

/// The source pads `left` and `right` of an element that outputs a separate stream for each eye.
struct EyePads: Sendable {
  private let left: Pad
  private let right: Pad

  /// Creates the pads; the element has to add them.
  init<Owner: ElementImplementation>(
    _ instance: ElementInstance, _ functions: PadFunctions<Owner>
  ) throws {
    left = try Pad(instance, template: Eye.left.rawValue, functions)
    right = try Pad(instance, template: Eye.right.rawValue, functions)
    for pad in [left, right] { pad.useFixedCaps() }
  }

  subscript(eye: Eye) -> Pad { eye == .left ? left : right }

  /// Returns the caps changed for a stream that shows only one eye.
  static func caps(_ caps: Caps, of eye: Eye) -> Caps {
    caps.with(["multiview-mode": .string(eye.rawValue)], removing: ["views", "multiview-flags"])
  }

  /// Returns the part of `caps` that the peers accept for the frames of their eyes; all of it if
  /// nothing is linked.
  ///
  /// - Parameters:
  ///   - eyes: the eyes whose peers are asked.
  ///   - unsaid: further fields to be ignored because they differ between input and output.
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

  /// Queries the peers about memory for their eyes' frames: whether all of them accept any layout
  /// described by a GstVideoMeta, and the largest number of buffers that one of them needs.
  ///
  /// - Parameters:
  ///   - eyes: the eyes whose peers are asked.
  ///   - caps: returns the caps of an eye's frames.
  func peerMemory(
    of eyes: some Sequence<Eye> = Eye.allCases, caps: (Eye) -> Caps
  ) -> (acceptsAnyLayout: Bool, bufferCount: Int) {
    eyes.reduce((true, 0)) { common, eye in
      let query = Query.allocation(caps(eye), needsPool: false)
      let isAnswered = self[eye].queryPeer(query)
      return (
        common.0 && isAnswered && query.acceptsVideoMeta,
        max(common.1, isAnswered ? query.requiredBufferCount : 0)
      )
    }
  }

  /// Pushes STREAM_START on each pad for a stream that starts on the sink pad.
  func startStreams(of element: any ElementObject, following start: Event) {
    for eye in Eye.allCases {
      let event = Event.streamStart(id: self[eye].streamID(element, suffix: eye.rawValue))
      self[eye].push(event.takingGroup(of: start).following(start))
    }
  }

  /// Pushes new caps on each pad.
  func sendCaps(following event: Event, _ caps: (Eye) -> Caps) {
    for eye in Eye.allCases { self[eye].push(Event.caps(caps(eye)).following(event)) }
  }
}

/// The two output streams of an element with one stream per eye, for use in the streaming thread:
/// memory layout of the frames, and the peers' flow returns.
struct EyeSource {
  private let pads: EyePads
  private let combiner = FlowCombiner()
  private var left: FrameMemory?
  private var right: FrameMemory?

  init(_ pads: EyePads) {
    self.pads = pads
    for eye in Eye.allCases { combiner.add(pads[eye]) }
  }

  /// Forgets the peers' flow returns after a flush.
  func reset() { combiner.reset() }

  // MARK: Memory

  /// Memory layout of an eye's frames; nil before `askPeers`.
  private(set) subscript(memory eye: Eye) -> FrameMemory? {
    get { eye == .left ? left : right }
    set { if eye == .left { left = newValue } else { right = newValue } }
  }

  /// Queries both peers about the layout of raw frames with these caps.
  mutating func askPeers(_ info: (Eye) throws -> VideoInfo) throws {
    for eye in Eye.allCases { self[memory: eye] = try FrameMemory(pads[eye], info(eye)) }
  }

  /// Repeats the query for peers that have requested renegotiation.
  mutating func askReconfiguredPeers() throws {
    for eye in Eye.allCases where pads[eye].checkReconfigure() {
      if let info = self[memory: eye]?.info {
        self[memory: eye] = try FrameMemory(pads[eye], info)
      }
    }
  }

  // MARK: Data

  /// Pushes a frame, consuming this reference. Returns the combined flow of both peers: a refusal
  /// of one eye's frame stops neither the other eye nor the stream, unless it is an error.
  func push(_ frame: consuming Buffer, to eye: Eye) -> FlowReturn {
    combiner.update(pads[eye], pads[eye].push(frame))
  }

  /// Like the other overload, for a frame that was just made.
  func push(_ frame: consuming UniqueBuffer, to eye: Eye) -> FlowReturn {
    combiner.update(pads[eye], pads[eye].push(frame))
  }

  /// Sends EOS to the pad of an eye without frames, so that only the other eye's flow counts.
  func end(_ eye: Eye) {
    pads[eye].push(.endOfStream)
    _ = combiner.update(pads[eye], .eos)
  }
}

/// Memory layout of the raw frames that leave a source pad, as required by its peer.
struct FrameMemory {
  let info: VideoInfo
  /// Pool for copies; nil if the peer accepts any layout.
  private let pool: VideoBufferPool?

  /// Queries whether the peer supports GstVideoMeta and so accepts any layout.
  init(_ pad: Pad, _ info: VideoInfo) throws {
    self.info = info
    let query = Query.allocation(info.caps, needsPool: false)
    let acceptsAnyLayout = !pad.isLinked || pad.queryPeer(query) && query.acceptsVideoMeta
    pool = acceptsAnyLayout ? nil : try VideoBufferPool(info)
  }

  /// Whether the peer accepts any layout described by a GstVideoMeta; if not, it needs the default
  /// layout of the caps.
  var acceptsAnyLayout: Bool { pool == nil }

  /// Returns an uninitialized frame for a peer that needs the default layout; nil for other peers.
  func acquire() throws -> UniqueBuffer? { try pool?.acquire() }

  /// Returns the frame if the peer accepts its layout, else a copy with its times, flags and metas.
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

  /// Whether a frame has the default layout of its caps.
  private func isPlain(_ frame: Buffer, _ layout: VideoLayout) -> Bool {
    frame.size == info.size && layout.width == info.width && layout.height == info.height
      && layout.offsets == info.offsets && layout.strides == info.strides
  }
}

extension VideoFrame {
  /// Returns a plane of the mapped frame, which has to outlive the view; nil if the frame has no
  /// such plane.
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
  /// Layout of the samples in the rows of a plane.
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
