// SPDX-License-Identifier: MPL-2.0

internal import GStreamer
internal import Reprojection
internal import SpatialElements
public import StereoVideo

/// A flat view into immersive pictures: its direction and field of view.
///
/// It is rendered by the CPU, which is slower than a GPU.
///
/// ```swift
/// let view = SphereView(yaw: 90, fieldOfView: 75)
/// let window = try view.render(frame.left, .equirectangular, width: 1280, height: 720)
/// ```
public struct SphereView: Hashable, Sendable {
  /// Rotation to the right, in degrees.
  public var yaw: Double
  /// Rotation upwards, in degrees.
  public var pitch: Double
  /// Horizontal field of view in degrees: more than 0 and less than 180.
  public var fieldOfView: Double

  /// Creates a view; angles are in degrees.
  public init(yaw: Double = 0, pitch: Double = 0, fieldOfView: Double = 90) {
    (self.yaw, self.pitch, self.fieldOfView) = (yaw, pitch, fieldOfView)
  }

  /// Renders the view of one eye's picture, in the format of the picture.
  ///
  /// - Parameters:
  ///   - picture: one eye's picture, in a format with one plane per component, with 4 bytes per
  ///     pixel or with interleaved chroma, such as the output of decoders, or RGBA.
  ///   - projection: the projection of the picture, such as that in ``StereoFrame/metadata``. A
  ///     fisheye picture is assumed to cover 180 degrees, a rectilinear one 90.
  ///   - width: the width of the result, in pixels, 1 to 32,767.
  ///   - height: the height of the result, in pixels, 1 to 32,767.
  /// - Throws: a ``StereoMediaError`` if the view, size, format or projection is not supported, or
  ///   if there is not enough memory.
  public func render(
    _ picture: Picture, _ projection: ProjectionKind, width: Int, height: Int
  ) throws -> Picture {
    let size = try PictureSize.exact(width: width, height: height).applied(
      toWidth: 1, height: 1, shape: 1)
    let input = picture.info
    guard let format = SphereFormat.format(input), !input.isInterlaced else {
      throw StereoMediaError(
        .unsupportedFormat, "a picture in \(input.formatName) cannot be rendered as a view",
        hint: "convert it to RGBA first")
    }
    guard let projection = SphereProjection.projection(projection) else {
      throw StereoMediaError(
        .unsupportedFormat, "a parametric projection cannot be rendered without its lens data")
    }
    let orientation = SphereOrientation(yaw: yaw, pitch: pitch)
    guard orientation.isFinite,
      let output = input.converted(to: input.format, width: size.width, height: size.height)
    else {
      throw StereoMediaError(.outOfRange, "invalid view \(self)")
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
      throw StereoMediaError(.outOfRange, "invalid view \(self): \(error)")
    } catch let error as ReprojectionError {
      throw StereoMediaError(.unsupportedFormat, "the view cannot be rendered: \(error)")
    }
    return Picture(window)
  }
}
