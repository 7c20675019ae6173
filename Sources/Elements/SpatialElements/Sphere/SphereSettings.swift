// SPDX-License-Identifier: MPL-2.0

import GStreamer
import ISOBMFF
import Reprojection
import StereoVideo

/// What every element has set that draws from pictures around the viewer.
struct SphereSettings: Sendable {
  /// Where the middle of the output looks.
  var orientation = SphereOrientation()
  var projection = SphereChoice.auto
  /// In degrees; nil until it is set.
  var fisheyeFieldOfView: Double?
  var outputEyes = OutputEyes.both
  var interpolation = InterpolationChoice.linear
  var antialias = true
  /// What is drawn where the input shows nothing: 0xAARRGGBB.
  var fillColour = black
  var threads: Int32 = 0

  static let black: UInt32 = 0xFF00_0000

  /// The projection of an eye of the input, with what tags say of it.
  ///
  /// - Parameter eye: nil for pictures of one eye.
  func source(_ tags: SphereTags, _ input: SphereInput, _ eye: Eye?) throws -> Projection {
    let fisheye =
      fisheyeFieldOfView ?? tags.fisheyeFieldOfView ?? SphereProjection.fisheyeFieldOfView
    let choice = projection == .auto ? tags.projection : projection
    if let bounds = tags.bounds, [.equirectangular, .halfEquirectangular, nil].contains(choice) {
      return .equirectangular(bounds)
    }
    if choice == .parametric, let lens = tags.lens(eye, input) { return .parametric(lens) }
    guard let found = choice?.projection(fisheyeFieldOfView: fisheye) else {
      throw ElementError(
        .format,
        choice == .parametric
          ? "The stream's projection is parametric, and its lenses are not known here."
          : "Nothing says how the picture surrounds the viewer; set the property projection.")
    }
    return found
  }

  func reprojector(
    _ source: Projection, _ input: SphereInput, _ tags: SphereTags
  ) throws -> Reprojector {
    var options = Reprojector.Settings()
    options.interpolation = interpolation.interpolation
    options.antialias = antialias
    options.chromaSite = SphereFormat.chromaSite(input.info)
    options.threads = threads > 0 ? Int(threads) : Processors.count
    return try Reprojector(
      source: try input.geometry(source), pose: tags.pose ?? .front,
      format: input.format, settings: options)
  }
}

extension SphereTags {
  /// How the lens of an eye bends its picture; nil where that is not known.
  fileprivate func lens(_ eye: Eye?, _ input: SphereInput) -> LensCalibration? {
    let role: FourCC =
      switch eye {
      case .left: "left"
      case .right: "rght"
      case nil: "mono"
      }
    let lens = lenses?.lens(role: role) ?? (eye == nil ? lenses?.lens(role: "left") : nil)
    return lens?.calibration(width: Double(input.width), height: Double(input.height))
  }
}

extension SphereFilter {
  /// The properties that all these elements have.
  static var commonProperties: [Property<Self>] {
    [
      .double(
        "yaw", nick: "Yaw", blurb: "Where the output's middle looks, in degrees to the right",
        in: CameraView.turns, default: 0, mutable: .playing, isControllable: true,
        at: \.sphere.orientation.yaw),
      .double(
        "pitch", nick: "Pitch", blurb: "Where the output's middle looks, in degrees upwards",
        in: CameraView.pitches, default: 0, mutable: .playing, isControllable: true,
        at: \.sphere.orientation.pitch),
      .double(
        "roll", nick: "Roll", blurb: "How the look is turned, in degrees clockwise",
        in: CameraView.turns, default: 0, mutable: .playing, isControllable: true,
        at: \.sphere.orientation.roll),
      .choice(
        "projection", nick: "Projection",
        blurb: "How the input maps onto the viewer's surroundings", default: .auto,
        at: \.sphere.projection),
      .double(
        "fisheye-field-of-view", nick: "Fisheye field of view",
        blurb: "What the circle of a fisheye input covers, in degrees "
          + "(unless set, by tag spherical-fisheye-field-of-view, else 180)",
        in: 1...360, default: SphereProjection.fisheyeFieldOfView,
        at: \.sphere.fisheyeFieldOfView),
      .choice(
        "output-eyes", nick: "Output eyes", blurb: "Which eyes of packed frames to draw",
        default: .both, at: \.sphere.outputEyes),
      .choice(
        "interpolation", nick: "Interpolation", blurb: "How values between pixels are found",
        default: .linear, at: \.sphere.interpolation),
      .bool(
        "antialias", nick: "Antialias",
        blurb: "Average first where the output has fewer pixels than the input", default: true,
        at: \.sphere.antialias),
      .uint(
        "fill-color", nick: "Fill color",
        blurb: "What is drawn where the input shows nothing (big-endian ARGB; alpha is ignored)",
        in: 0...UInt32.max, default: SphereSettings.black, mutable: .playing,
        at: \.sphere.fillColour),
      .int(
        "n-threads", nick: "Threads",
        blurb: "How many threads draw (0 = as many as processors)", in: 0...64, default: 0,
        at: \.sphere.threads),
    ]
  }
}
