// SPDX-License-Identifier: MPL-2.0

import GStreamer
import Reprojection
import StereoVideo

#if canImport(Glibc)
  import Glibc
#endif

/// Frames that surround the viewer, as their caps say.
struct SphereInput {
  let caps: Caps
  let info: VideoInfo
  let format: PictureFormat
  /// nil for frames of one eye.
  let layout: PackingLayout?

  init(_ caps: Caps) throws {
    guard let info = VideoInfo(caps), let format = SphereFormat.format(info) else {
      throw ElementError(
        .format, "Only raw video of some formats can be looked at.", debug: "\(caps)")
    }
    guard !info.isInterlaced else {
      throw ElementError(.format, "Interlaced video cannot be looked at; deinterlace it first.")
    }
    (self.caps, self.info, self.format) = (caps, info, format)
    layout = PackingLayout(multiviewCaps: caps)
    let isOdd =
      switch layout?.arrangement {
      case .sideBySide: !info.width.isMultiple(of: 4)
      case .topBottom: !info.height.isMultiple(of: 4)
      case .frameByFrame, nil: false
      }
    guard !isOdd else {
      throw ElementError(
        .format,
        "A packed frame of \(info.width)x\(info.height) has no two eyes of an even size.")
    }
  }

  /// One eye's.
  var width: Int { layout?.arrangement == .sideBySide ? info.width / 2 : info.width }
  var height: Int { layout?.arrangement == .topBottom ? info.height / 2 : info.height }

  /// Of one eye's picture, when it is not squeezed any more.
  var pixelAspectRatio: Double {
    let ratio = info.pixelAspectRatio
    var value = Double(max(1, ratio.numerator)) / Double(max(1, ratio.denominator))
    guard let layout, layout.halfAspect else { return value }
    value *= layout.arrangement == .sideBySide ? 2 : 0.5
    return value
  }

  /// What the picture's width covers, in degrees.
  func horizontalDegrees(_ projection: Projection) -> Double {
    switch projection {
    case .rectilinear(let degrees): degrees
    case .equirectangular(let bounds): 360 * (1 - bounds.leftPart - bounds.rightPart)
    case .fisheye(let lens): lens.fieldOfView
    case .parametric: 180
    case .cubemap: 270
    }
  }
}

/// What is drawn, and how.
struct SphereOutput {
  let info: VideoInfo
  let pool: VideoBufferPool
  let reprojector: Reprojector
  /// The eyes that are drawn; nil for both.
  let eye: Eye?
  /// How the drawn eyes share a frame; nil for one.
  let layout: PackingLayout?
  let width: Int
  let height: Int
  /// The geometry of the present field of view.
  var target: PictureGeometry
  var fieldOfView: Double
}

extension SphericalView {
  /// The projection of the input: what the property says, or else the tags.
  private func projection(_ streaming: Streaming, _ settings: Settings) throws -> Projection {
    let kind: ProjectionKind?
    switch settings.projection {
    case .auto: kind = streaming.tagged
    case .rectilinear: kind = .rectilinear
    case .equirectangular: kind = .equirectangular
    case .halfEquirectangular: kind = .halfEquirectangular
    case .fisheye: kind = .fisheye
    case .cubemap: return .cubemap(.sphericalVideo, padding: 0)
    case .equiAngularCubemap: return .cubemap(.equiAngular, padding: 2)
    }
    let projection = kind.flatMap {
      SphereProjection.projection($0, fisheyeFieldOfView: settings.fisheyeFieldOfView)
    }
    guard let projection else {
      throw ElementError(
        .format,
        kind == .parametric
          ? "The stream's projection is parametric, and its lenses are not known here."
          : "Nothing says how the picture surrounds the viewer; set the property projection.")
    }
    return projection
  }

  /// Says the output's caps and prepares for drawing.
  func negotiate(_ streaming: inout Streaming, following cause: Event?) throws {
    guard let input = streaming.input else { throw FlowReturn.notNegotiated }
    let settings = settings.current
    let projection = try projection(streaming, settings)
    let (caps, layout) = try outputCaps(input, settings, projection)
    guard let info = VideoInfo(caps) else { throw FlowReturn.notNegotiated }
    let width = layout?.arrangement == .sideBySide ? info.width / 2 : info.width
    let height = layout?.arrangement == .topBottom ? info.height / 2 : info.height
    var options = Reprojector.Settings()
    options.interpolation = settings.interpolation.interpolation
    options.antialias = settings.antialias
    options.chromaSite = SphereFormat.chromaSite(input.info)
    options.threads =
      settings.threads > 0 ? Int(settings.threads) : Processors.count
    do {
      let source = try PictureGeometry(
        projection, width: input.width, height: input.height,
        pixelAspectRatio: projection.isMeasuredInPixels ? input.pixelAspectRatio : 1)
      streaming.output = SphereOutput(
        info: info, pool: try VideoBufferPool(info),
        reprojector: try Reprojector(source: source, format: input.format, settings: options),
        eye: settings.outputEyes == .both ? nil : settings.outputEyes == .left ? .left : .right,
        layout: layout, width: width, height: height,
        target: try PictureGeometry(
          .rectilinear(horizontalFieldOfView: settings.fieldOfView), width: width, height: height),
        fieldOfView: settings.fieldOfView)
    } catch let error as GeometryError {
      throw ElementError(.format, "The picture cannot be looked at: \(error).")
    } catch let error as ReprojectionError {
      throw ElementError(.format, "The picture cannot be looked at: \(error).")
    }
    navigation.withLock { $0.size = (width, height) }
    if source.currentCaps?.isEqual(to: caps) != true {
      let event = Event.caps(caps)
      source.push(cause.map { event.following($0) } ?? event)
    }
    sendWaitingSegment(&streaming)
  }

  /// The caps of the output: of the size that downstream wants, or else with as many pixels for a
  /// degree as the input has.
  private func outputCaps(
    _ input: SphereInput, _ settings: Settings, _ projection: Projection
  ) throws -> (Caps, PackingLayout?) {
    var layout = input.layout
    layout?.halfAspect = false
    if settings.outputEyes != .both { layout = nil }
    let perDegree = Double(input.width) / input.horizontalDegrees(projection)
    let tangent = tan(settings.fieldOfView * .pi / 360)
    let width = min(16384, max(16, 2 * tangent * perDegree * 180 / .pi))
    let across: Int32 = layout?.arrangement == .sideBySide ? 2 : 1
    let down: Int32 = layout?.arrangement == .topBottom ? 2 : 1
    var caps = input.caps.with(
      ["pixel-aspect-ratio": .fraction(Fraction(1, 1))], removing: Self.fieldsOfSize)
    if let layout {
      caps = layout.adding(to: caps)
    } else if input.layout != nil {
      caps = caps.with(
        ["multiview-mode": .string(settings.outputEyes == .right ? "right" : "left")])
    } else if let mode = input.caps.first?.string("multiview-mode") {
      caps = caps.with(["multiview-mode": .string(mode)])
    }
    let any: Value = .intRange(1...32768)
    caps = caps.with(["width": any, "height": any])
    let allowed = source.isLinked ? caps.intersection(source.peerCaps(filter: nil)) : caps
    guard !allowed.isEmpty else { throw FlowReturn.notNegotiated }
    let columns = (Int32(width) + 1) / 2 * 2 * across
    let fixedWidth = allowed.fixating("width", .int(columns))
    let eyeWidth = Int32(clamping: fixedWidth.first?.int("width") ?? 16) / across
    let rows = max(2, (eyeWidth * 9 / 16 + 1) / 2 * 2) * down
    let fixed = fixedWidth.fixating("height", .int(rows)).fixated()
    guard let size = fixed.first, let w = size.int("width"), let h = size.int("height"),
      across == 1 || w.isMultiple(of: 4), down == 1 || h.isMultiple(of: 4)
    else {
      throw ElementError(
        .format, "Two eyes share the view's frame, so its size has to be a multiple of 4.",
        debug: "\(fixed)")
    }
    return (fixed, layout)
  }

  private static let fieldsOfSize = [
    "width", "height", "multiview-mode", "multiview-flags", "views",
  ]

  // MARK: Queries

  func answer(_ pad: Pad, _ query: borrowing Query) -> Bool {
    let all = pad.templateCaps
    return query.answerAsReader(
      of: all, possible: unsized(source.peerCaps(filter: nil)).intersection(all))
      || pad.forward(query)
  }

  func answerDownstream(_ pad: Pad, _ query: borrowing Query) -> Bool {
    switch query.kind {
    case .caps:
      query.answerCaps(unsized(sink.peerCaps(filter: nil)).intersection(pad.templateCaps))
      return true
    case .acceptCaps(let caps):
      query.answerAcceptCaps(caps.isSubset(of: pad.templateCaps))
      return true
    default:
      return pad.forward(query)
    }
  }

  /// Caps of one side as they limit the other: any size and packing.
  private func unsized(_ caps: Caps) -> Caps {
    caps.isAny ? caps : caps.with(removing: Self.fieldsOfSize + ["pixel-aspect-ratio"])
  }
}
