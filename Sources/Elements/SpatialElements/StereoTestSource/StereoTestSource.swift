// SPDX-License-Identifier: MPL-2.0

import GStreamer
import StereoTestScene
import StereoVideo

/// `stereotestsrc`: a moving scene whose disparities are known (`StereoTestScene`), or a world around
/// the viewer whose every direction is (`SphereWorld`).
let stereoTestSource = ElementDeclaration<StereoTestSource>(
  name: "stereotestsrc",
  typeName: "GstStereoTestSrc",
  longName: "Stereo test source",
  klass: "Source/Video",
  description: "Draws a moving stereo scene with objects at known disparities",
  author: author,
  padTemplates: [
    PadTemplate(
      "src", .source,
      caps: Caps(
        "video/x-raw",
        [
          "format": .strings(StereoTestSource.formats),
          "width": .intRange(16...16384), "height": .intRange(16...16384),
          "framerate": .fractionRange(Fraction(1, .max), Fraction(.max, 1)),
          "multiview-mode": .strings(StereoTestSource.modes.map(\.name)),
        ]))
  ],
  properties: [
    .bool(
      "is-live", nick: "Is live", blurb: "Make frames by the clock, as a camera does",
      default: false, at: \.isLive),
    .choice(
      "projection", nick: "Projection",
      blurb: "How the picture maps onto the viewer's surroundings: a flat scene, or a world all "
        + "around in which each direction is known",
      default: .rectilinear, at: \.projection),
    .double(
      "fisheye-field-of-view", nick: "Fisheye field of view",
      blurb: "What the circle of a fisheye picture covers, in degrees", in: 1...360,
      default: SphereProjection.fisheyeFieldOfView, at: \.fisheyeFieldOfView),
  ])

final class StereoTestSource: PushSourceImplementation {
  struct Settings {
    var isLive = false
    var projection = ProjectionChoice.rectilinear
    var fisheyeFieldOfView = SphereProjection.fisheyeFieldOfView
  }

  struct Streaming {
    /// What the caps ask for; nil before them.
    var output: Output?
    var frameNumber = 0
    var hasSentTags = false
  }

  struct Output {
    let mode: Mode
    let scene: Scene
    let pool: VideoBufferPool
  }

  static let formats = [
    "I420", "NV12", "I420_10LE", "RGB", "BGR", "RGBx", "BGRx", "xRGB", "xBGR",
  ]

  let instance: ElementInstance
  let settings = Locked(Settings())

  init(_ instance: ElementInstance) throws {
    self.instance = instance
  }

  // The base class looks at this before it starts.
  func settingsChanged() {
    setLive(settings.current.isLive)
  }

  func start() throws -> Streaming { Streaming() }

  func fixate(_ caps: Caps) -> Caps {
    Self.complete(caps, surroundings(settings.current))
  }

  func setCaps(_ caps: Caps, _ streaming: inout Streaming) throws {
    guard let info = VideoInfo(caps), let name = caps.first?.string("multiview-mode"),
      let mode = Self.modes.first(where: { $0.name == name })
    else {
      throw ElementError(.negotiation, "Frames cannot be made as \(caps).")
    }
    let packed = "\(info.width)x\(info.height)"
    guard info.width.isMultiple(of: mode.columns), info.height.isMultiple(of: mode.rows),
      let scene = Scene(
        surroundings(settings.current), width: info.width / mode.columns,
        height: info.height / mode.rows)
    else {
      throw ElementError(
        .negotiation,
        "A \(mode.name) frame of \(packed) does not hold eyes of equal size, 16x16 or larger.")
    }
    streaming.output = Output(mode: mode, scene: scene, pool: try VideoBufferPool(info))
  }

  // MARK: Frames

  func create(_ streaming: inout Streaming) throws -> UniqueBuffer {
    guard let output = streaming.output else { throw FlowReturn.notNegotiated }
    if !streaming.hasSentTags {
      streaming.hasSentTags = true
      if let tags = tags(settings.current) { sendBeforeNext(.tags(tags)) }
    }
    let number = streaming.frameNumber
    let buffer = try output.pool.acquire()
    do {
      let frame = try VideoFrame(buffer, output.pool.info, writing: true)
      for view in output.mode.views(number) {
        try draw(view, of: output.scene, into: frame, output.pool.info)
      }
    }
    stamp(buffer, number, output)
    streaming.frameNumber = number &+ 1
    return buffer
  }

  private func draw(
    _ view: Mode.View, of scene: Scene, into frame: borrowing VideoFrame,
    _ info: VideoInfo
  ) throws {
    let planes = (0..<frame.planeCount).compactMap { index -> StereoTestScene.Plane? in
      guard let base = frame.plane(index) else { return nil }
      let grid = info.sampleGrid(index)
      let stride = frame.stride(index)
      let rows = (info.height + (1 << grid.heightShift) - 1) >> grid.heightShift
      let row = (view.row * scene.size.height) >> grid.heightShift
      let column = (view.column * scene.size.width) >> grid.widthShift
      let offset = row * stride + column * grid.step
      let size = rows * stride - offset
      guard size > 0 else { return nil }
      return StereoTestScene.Plane(
        bytes: UnsafeMutableRawBufferPointer(start: base + offset, count: size), stride: stride)
    }
    guard let destination = StereoTestScene.Destination(info.formatName, planes) else {
      throw FlowReturn.notNegotiated
    }
    try scene.render(eye: view.eye, frame: view.frame, into: destination)
  }

  private func stamp(_ buffer: borrowing UniqueBuffer, _ number: Int, _ output: Output) {
    buffer.pts = time(of: number, output)
    if let start = buffer.pts { buffer.duration = time(of: number &+ 1, output) - start }
    buffer.offset = UInt64(clamping: number)
    if output.mode.isFrameByFrame {
      buffer.flags.insert(.multipleView)
      if number.isMultiple(of: 2) { buffer.flags.insert(.firstInBundle) }
    }
  }

  private func time(of frame: Int, _ output: Output) -> ClockTime {
    let rate = output.pool.info.frameRate
    return scale(
      UInt64(clamping: frame), UInt64(clamping: rate.denominator) * .second,
      UInt64(clamping: rate.numerator))
  }

  func times(of buffer: Buffer) -> (start: ClockTime, end: ClockTime)? {
    guard settings.current.isLive, let start = buffer.pts else { return nil }
    return (start, start + (buffer.duration ?? 0))
  }

  // MARK: Seeking

  var isSeekable: Bool { !settings.current.isLive }

  func seek(to segment: Segment, _ streaming: inout Streaming) throws {
    // Not backwards.
    guard segment.rate > 0 else { throw FlowReturn.error }
    guard let output = streaming.output else {
      streaming.frameNumber = 0
      return
    }
    let rate = output.pool.info.frameRate
    let position = segment.position ?? 0
    let frame = Int(
      clamping: scale(
        position, UInt64(clamping: rate.numerator), UInt64(clamping: rate.denominator) * .second))
    // Times are rounded down, so that of the next frame may be this position.
    streaming.frameNumber = time(of: frame &+ 1, output) <= position ? frame &+ 1 : frame
  }
}
