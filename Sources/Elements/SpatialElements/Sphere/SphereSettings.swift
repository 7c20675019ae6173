// SPDX-License-Identifier: MPL-2.0

import GStreamer
import ISOBMFF
import Reprojection
import StereoVideo

/// Properties common to all elements that draw from spherical pictures.
struct SphereSettings: Sendable {
  /// Viewing direction of the output's centre.
  var orientation = SphereOrientation()
  var projection = SphereChoice.auto
  /// In degrees; nil until set.
  var fisheyeFieldOfView: Double?
  var outputEyes = OutputEyes.both
  var interpolation = InterpolationChoice.linear
  var antialias = true
  /// Colour where the input shows nothing, as 0xAARRGGBB.
  var fillColour = black
  var threads: Int32 = 0

  static let black: UInt32 = 0xFF00_0000

  /// Returns the projection of one eye of the input, from the properties and tags.
  ///
  /// - Parameter eye: nil for unpacked frames.
  /// - Throws: an ``ElementError`` if the projection is unknown.
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
          ? "The projection is parametric, but there is no valid tag lens-calibration."
          : "The stream does not specify its projection; set the property projection.")
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
  /// Returns the calibration of an eye's lens; nil if unknown.
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
  /// Properties common to all these elements.
  static var commonProperties: [Property<Self>] {
    [
      .double(
        "yaw", nick: "Yaw", blurb: "Direction of the output's centre, in degrees to the right",
        in: CameraView.turns, default: 0, mutable: .playing, isControllable: true,
        at: \.sphere.orientation.yaw),
      .double(
        "pitch", nick: "Pitch", blurb: "Direction of the output's centre, in degrees upwards",
        in: CameraView.pitches, default: 0, mutable: .playing, isControllable: true,
        at: \.sphere.orientation.pitch),
      .double(
        "roll", nick: "Roll", blurb: "Rotation of the view, in degrees clockwise",
        in: CameraView.turns, default: 0, mutable: .playing, isControllable: true,
        at: \.sphere.orientation.roll),
      .choice(
        "projection", nick: "Projection",
        blurb: "How the input maps onto the viewer's surroundings", default: .auto,
        at: \.sphere.projection),
      .double(
        "fisheye-field-of-view", nick: "Fisheye field of view",
        blurb: "Angle covered by the circle of a fisheye input, in degrees "
          + "(unless set, from tag spherical-fisheye-field-of-view, else 180)",
        in: 1...360, default: SphereProjection.fisheyeFieldOfView,
        at: \.sphere.fisheyeFieldOfView),
      .choice(
        "output-eyes", nick: "Output eyes", blurb: "Eyes of packed frames to draw",
        default: .both, at: \.sphere.outputEyes),
      .choice(
        "interpolation", nick: "Interpolation", blurb: "How values between pixels are interpolated",
        default: .linear, at: \.sphere.interpolation),
      .bool(
        "antialias", nick: "Antialias",
        blurb: "Average the input where the output has a lower resolution", default: true,
        at: \.sphere.antialias),
      .uint(
        "fill-color", nick: "Fill color",
        blurb: "Colour where the input shows nothing (big-endian ARGB; alpha is ignored)",
        in: 0...UInt32.max, default: SphereSettings.black, mutable: .playing,
        at: \.sphere.fillColour),
      .int(
        "n-threads", nick: "Threads",
        blurb: "Number of drawing threads (0 = number of processors)", in: 0...64, default: 0,
        at: \.sphere.threads),
    ]
  }
}
