// SPDX-License-Identifier: MPL-2.0

public import StereoVideo

/// A moving synthetic stereo scene: a tiled floor under an evening sky, with balls and boxes at
/// known disparities. The eye's letter and the frame number are drawn in.
///
/// All pixels come from integer arithmetic, so a scene has the same bytes on every machine. The
/// static parts are drawn once, in `init`; a frame takes row copies and a few sprites, without
/// allocations.
///
/// **Disparity** is always x in the right eye minus x in the left eye, in pixels: positive is
/// behind the screen, negative in front of the screen.
///
/// ```swift
/// let scene = StereoTestScene(width: 1920, height: 1080)
/// try scene?.render(eye: .left, frame: 0, into: .nv12(luma: luma, chroma: chroma))
/// ```
public struct StereoTestScene: Sendable {
  /// Supported widths and heights of one eye, in pixels.
  public static let supportedSizes = 16...16384

  /// Width of one eye, in pixels.
  public let width: Int
  /// Height of one eye, in pixels.
  public let height: Int
  /// The moving objects, in drawing order: farthest first.
  public let objects: [Object]

  let geometry: SceneGeometry
  let landscape: Landscape
  let sprites: [Sprite]
  let shadows: [Sprite?]

  /// Draws the static parts of the scene; nil if a size is not in `supportedSizes`.
  ///
  /// Time and memory (7 bytes per pixel) are proportional to the picture size.
  public init?(width: Int, height: Int) {
    guard Self.supportedSizes.contains(width), Self.supportedSizes.contains(height) else {
      return nil
    }
    self.width = width
    self.height = height
    geometry = SceneGeometry(width: width, height: height)
    landscape = Landscape(geometry)
    objects = Object.cast(in: geometry)
    sprites = objects.map { Sprite($0) }
    shadows = objects.map { object in
      object.motion.floorRow == nil ? nil : Sprite(shadowOf: object)
    }
  }

  /// Returns the pixel at the centre of an object in one eye's picture, which may lie outside the
  /// picture.
  public func position(of object: Object, frame: Int, eye: Eye) -> (x: Int, y: Int) {
    let x =
      object.motion.x(at: frame)
      + geometry.sway(disparity: object.disparity, frame: frame)
      + geometry.eyeShift(disparity: object.disparity, eye: eye)
    return (x, object.motion.y(at: frame))
  }

  /// Returns the disparity of the landscape in a row of the picture, in pixels: constant above the
  /// horizon, decreasing linearly towards the viewer below it. Rows outside the picture are clamped
  /// to its edges.
  public func backgroundDisparity(row: Int) -> Int {
    geometry.disparity(row: row)
  }

  /// Draws one eye of one frame.
  ///
  /// - Parameter frame: any integer; the picture shows its last six digits.
  /// - Throws: `DestinationError` if a plane is too small for the picture; nothing is drawn then.
  public func render(
    eye: Eye, frame: Int, into destination: Destination
  ) throws(DestinationError) {
    try destination.check(width: width, height: height)
    destination.forEachComponent(width: width, height: height) { component in
      switch component {
      case .eightBit(let canvas, let channel):
        draw(eye: eye, frame: frame, channel: channel, on: canvas)
      case .tenBit(let canvas, let channel):
        draw(eye: eye, frame: frame, channel: channel, on: canvas)
      }
    }
  }

  private func draw<Sample>(
    eye: Eye, frame: Int, channel: Channel, on canvas: Canvas<Sample>
  ) {
    landscape.draw(on: canvas, channel: channel, frame: frame, eye: eye)
    for (object, shadow) in zip(objects, shadows) {
      guard let shadow, let floorRow = object.motion.floorRow else { continue }
      let middle = position(of: object, frame: frame, eye: eye).x
      canvas.blend(
        shadow, channel: channel, x: middle - shadow.width / 2, y: floorRow - shadow.height / 2)
    }
    for (object, sprite) in zip(objects, sprites) {
      let middle = position(of: object, frame: frame, eye: eye)
      canvas.blend(
        sprite, channel: channel, x: middle.x - sprite.width / 2, y: middle.y - sprite.height / 2)
    }
    FrameLabel(eye: eye, frame: frame, width: width, height: height)
      .draw(on: canvas, channel: channel)
  }
}
