// SPDX-License-Identifier: MPL-2.0

internal import GStreamer
internal import Reprojection
internal import SpatialElements
public import StereoVideo

/// A flat window into pictures that surround the viewer: where it looks, and how much it shows.
///
/// It is drawn by the processor, which takes longer than a graphics card does.
///
/// ```swift
/// let view = SphereView(yaw: 90, fieldOfView: 75)
/// let window = try view.render(frame.left, .equirectangular, width: 1280, height: 720)
/// ```
public struct SphereView: Hashable, Sendable {
  /// To the right, in degrees.
  public var yaw: Double
  /// Upwards, in degrees.
  public var pitch: Double
  /// What the window's width covers, in degrees: more than 0 and less than 180.
  public var fieldOfView: Double

  public init(yaw: Double = 0, pitch: Double = 0, fieldOfView: Double = 90) {
    (self.yaw, self.pitch, self.fieldOfView) = (yaw, pitch, fieldOfView)
  }

  /// What is seen of one eye's picture through the window, in the format of the picture.
  ///
  /// - Parameters:
  ///   - picture: one eye's, in a format of one plane a component, of 4 bytes a pixel, or with
  ///     chroma in pairs: what decoders give, and RGBA.
  ///   - projection: how the picture surrounds the viewer, such as ``StereoFrame/metadata`` says. A
  ///     fisheye picture is taken to cover 180 degrees, a rectilinear one 90.
  ///   - width: of the window, in pixels, 1 to 32,767.
  ///   - height: of the window, in pixels, 1 to 32,767.
  /// - Throws: a ``StereoMediaError`` for a view, a size, a format or a projection that cannot be
  ///   drawn, and where there is no memory.
  public func render(
    _ picture: Picture, _ projection: ProjectionKind, width: Int, height: Int
  ) throws -> Picture {
    let size = try PictureSize.exact(width: width, height: height).applied(
      toWidth: 1, height: 1, shape: 1)
    let input = picture.info
    guard let format = SphereFormat.format(input), !input.isInterlaced else {
      throw StereoMediaError(
        .unsupportedFormat, "a picture of \(input.formatName) cannot be looked at from inside",
        hint: "convert it to RGBA first")
    }
    guard let projection = SphereProjection.projection(projection) else {
      throw StereoMediaError(
        .unsupportedFormat, "a parametric projection cannot be drawn without its lenses")
    }
    let orientation = SphereOrientation(yaw: yaw, pitch: pitch)
    guard orientation.isFinite,
      let output = input.converted(to: input.format, width: size.width, height: size.height)
    else {
      throw StereoMediaError(.outOfRange, "there is no view of \(self)")
    }
    let window = try MutablePicture(output)
    do {
      let source = try PictureGeometry(
        projection, width: input.width, height: input.height,
        pixelAspectRatio: projection.isMeasuredInPixels ? picture.pixelShape : 1)
      let target = try PictureGeometry(
        .rectilinear(horizontalFieldOfView: fieldOfView), width: size.width, height: size.height)
      var settings = Reprojector.Settings()
      settings.chromaSite = SphereFormat.chromaSite(input)
      let reprojector = try Reprojector(source: source, format: format, settings: settings)
      let from = try picture.mapped()
      let into = try VideoFrame(window.buffer, output, writing: true)
      let planes = Reprojector.Picture(
        source: try from.planes(format, width: input.width, height: input.height),
        target: try into.planes(format, width: size.width, height: size.height))
      try withExtendedLifetime(from) {
        try withExtendedLifetime(into) { try reprojector.draw(target, orientation, [planes]) }
      }
    } catch let error as GeometryError {
      throw StereoMediaError(.outOfRange, "there is no view of \(self): \(error)")
    } catch let error as ReprojectionError {
      throw StereoMediaError(.unsupportedFormat, "the picture cannot be drawn: \(error)")
    }
    return Picture(window)
  }
}
