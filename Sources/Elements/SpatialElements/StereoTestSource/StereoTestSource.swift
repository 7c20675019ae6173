// SPDX-License-Identifier: MPL-2.0

import GStreamer
import ISOBMFF
import Reprojection
import StereoTestScene
import StereoVideo

/// `stereotestsrc`: a moving scene with known disparities (`StereoTestScene`), or a spherical world
/// in which the content of each direction is known (`SphereWorld`).
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
      "is-live", nick: "Is live", blurb: "Produce frames in real time, like a camera",
      default: false, at: \.isLive),
    .choice(
      "projection", nick: "Projection",
      blurb: "How the picture maps onto the viewer's surroundings: a flat scene, or a spherical "
        + "world with known content in each direction",
      default: .rectilinear, at: \.projection),
    .double(
      "fisheye-field-of-view", nick: "Fisheye field of view",
      blurb: "Angle covered by the circle of a fisheye picture, in degrees", in: 1...360,
      default: SphereProjection.fisheyeFieldOfView, at: \.fisheyeFieldOfView),
  ])

final class StereoTestSource: PushSourceImplementation {
  struct Settings {
    var isLive = false
    var projection = ProjectionChoice.rectilinear
    var fisheyeFieldOfView = SphereProjection.fisheyeFieldOfView
  }

  struct Streaming {
    /// Output for the negotiated caps; nil before them.
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

  // The base class reads this before it starts.
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
      throw ElementError(.negotiation, "Frames with these caps cannot be produced: \(caps).")
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
    return ClockTime(frame, perSecond: rate.numerator, over: rate.denominator)
  }

  func times(of buffer: Buffer) -> (start: ClockTime, end: ClockTime)? {
    guard settings.current.isLive, let start = buffer.pts else { return nil }
    return (start, start + (buffer.duration ?? 0))
  }

  // MARK: Seeking

  var isSeekable: Bool { !settings.current.isLive }

  func seek(to segment: Segment, _ streaming: inout Streaming) throws {
    // Reverse playback is not supported.
    guard segment.rate > 0 else { throw FlowReturn.error }
    guard let output = streaming.output else {
      streaming.frameNumber = 0
      return
    }
    let rate = output.pool.info.frameRate
    let position = segment.position ?? 0
    let frame = Int(
      clamping: position.units(perSecond: rate.numerator, over: rate.denominator))
    // Times are rounded down, so the next frame may start at this position.
    streaming.frameNumber = time(of: frame &+ 1, output) <= position ? frame &+ 1 : frame
  }
}

extension StereoTestSource {
  /// Arrangement of eyes in frames, named by the caps field `multiview-mode`.
  struct Mode: Sendable {
    let name: String
    let columns: Int
    let rows: Int
    /// The eyes in one frame, or in successive frames that show the same instant.
    let eyes: [Eye]
    let isFrameByFrame: Bool

    /// Picture of one eye in a frame.
    struct View {
      let eye: Eye
      let frame: Int
      let column: Int
      let row: Int
    }

    /// Returns the pictures in frame `number`.
    func views(_ number: Int) -> [View] {
      if isFrameByFrame {
        return [
          View(eye: number.isMultiple(of: 2) ? .left : .right, frame: number / 2, column: 0, row: 0)
        ]
      }
      return eyes.enumerated().map { index, eye in
        View(
          eye: eye, frame: number, column: columns > 1 ? index : 0, row: rows > 1 ? index : 0)
      }
    }
  }

  /// The first is the default.
  static let modes = [
    Mode(name: "side-by-side", columns: 2, rows: 1, eyes: [.left, .right], isFrameByFrame: false),
    Mode(name: "top-bottom", columns: 1, rows: 2, eyes: [.left, .right], isFrameByFrame: false),
    Mode(name: "frame-by-frame", columns: 1, rows: 1, eyes: [.left, .right], isFrameByFrame: true),
    Mode(name: "left", columns: 1, rows: 1, eyes: [.left], isFrameByFrame: false),
    Mode(name: "right", columns: 1, rows: 1, eyes: [.right], isFrameByFrame: false),
  ]

  /// Returns fixed caps, with defaults for all open fields.
  ///
  /// - Parameter surroundings: projection of a spherical picture; nil for a flat one.
  static func complete(_ caps: Caps, _ surroundings: Projection?) -> Caps {
    let chosen = caps.fixating("multiview-mode", .string(Self.modes[0].name))
      .fixating("format", .string(Self.formats[0]))
    let name = chosen.first?.string("multiview-mode")
    let mode = Self.modes.first { $0.name == name } ?? Self.modes[0]
    let isYUV = ["I420", "NV12", "I420_10LE"].contains(chosen.first?.string("format"))
    let wide = chosen.fixating("width", .int(960 * Int32(mode.columns)))
    let eyeWidth = (wide.first?.int("width") ?? 0) / mode.columns
    let height = surroundings.map { Int32($0.height(width: Double(eyeWidth)) / 2) * 2 } ?? 540
    return
      wide
      .fixating("height", .int(height * Int32(mode.rows)))
      .fixating("framerate", .fraction(Fraction(30, 1)))
      .fixating("pixel-aspect-ratio", .fraction(Fraction(1, 1)))
      .fixating("interlace-mode", "progressive")
      .fixating("colorimetry", isYUV ? "bt709" : "sRGB")
      .fixated()
  }
}

extension StereoTestScene.Destination {
  /// Makes a destination from the planes of a frame in a GStreamer format; nil if unsupported.
  init?(_ format: String, _ planes: [StereoTestScene.Plane]) {
    let packed: [String: StereoTestScene.PackedOrder] = [
      "RGB": .rgb, "BGR": .bgr, "RGBx": .rgbx, "BGRx": .bgrx, "xRGB": .xrgb, "xBGR": .xbgr,
    ]
    switch (format, planes.count) {
    case ("I420", 3): self = .i420(luma: planes[0], cb: planes[1], cr: planes[2])
    case ("I420_10LE", 3): self = .i420TenBit(luma: planes[0], cb: planes[1], cr: planes[2])
    case ("NV12", 2): self = .nv12(luma: planes[0], chroma: planes[1])
    case (_, 1):
      guard let order = packed[format] else { return nil }
      self = .packed(planes[0], order)
    default: return nil
    }
  }
}

extension StereoTestSource {
  /// The scene that is drawn.
  enum Scene {
    case flat(StereoTestScene)
    case around(SphereScene)

    /// Returns nil for a size that the scene does not support.
    init?(_ surroundings: Projection?, width: Int, height: Int) {
      if let surroundings {
        guard let scene = SphereScene(surroundings, width: width, height: height) else {
          return nil
        }
        self = .around(scene)
      } else {
        guard let scene = StereoTestScene(width: width, height: height) else { return nil }
        self = .flat(scene)
      }
    }

    /// Size of one eye, in pixels.
    var size: (width: Int, height: Int) {
      switch self {
      case .flat(let scene): (scene.width, scene.height)
      case .around(let scene): (scene.geometry.width, scene.geometry.height)
      }
    }

    func render(eye: Eye, frame: Int, into destination: StereoTestScene.Destination) throws {
      switch self {
      case .flat(let scene): try scene.render(eye: eye, frame: frame, into: destination)
      case .around(let scene): try scene.render(eye: eye, frame: frame, into: destination)
      }
    }
  }

  /// Projection of spherical pictures; nil for flat ones.
  func surroundings(_ settings: Settings) -> Projection? {
    guard let kind = settings.projection.projection, kind != .rectilinear else { return nil }
    return SphereProjection.projection(kind, fisheyeFieldOfView: settings.fisheyeFieldOfView)
      ?? Self.lens.calibration(width: 1, height: 1).map { .parametric($0) }
  }

  /// Approximates an equidistant fisheye of 180 degrees, as wide as the picture, for both eyes.
  private static let lens: Lens = {
    var lens = LensCalibration(
      referenceWidth: 4096, referenceHeight: 4096, focalLengthX: 1.57536 * 2048,
      focalLengthY: 1.57536 * 2048, principalPointX: 2048, principalPointY: 2048)
    (lens.projectionOffset, lens.k1, lens.k2) = (1.47487, -0.212917, 0.161075)
    lens.radialLimit = 90
    return Lens(lens, role: "mono") ?? Lens()
  }()

  /// Tags of spherical pictures; nil for the flat scene, which has no camera.
  func tags(_ settings: Settings) -> TagList? {
    guard let kind = settings.projection.projection,
      let projection = surroundings(settings)
    else { return nil }
    var degrees = projection.horizontalDegrees
    var sphere = SphereTags()
    switch projection {
    case .fisheye(let lens): sphere.fisheyeFieldOfView = lens.fieldOfView
    case .parametric(let lens):
      degrees = 2 * (lens.radialLimit ?? 90)
      sphere.lenses = LensCollection([Self.lens])
    default: break
    }
    let tags = TagList()
    SpatialMetadata(
      horizontalFieldOfView: HorizontalFieldOfView(degrees: degrees),
      baseline: Baseline(millimetres: SphereWorld.baseline * 1000), projection: kind
    ).write(to: tags)
    sphere.write(to: tags)
    return tags
  }
}
