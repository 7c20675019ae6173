// SPDX-License-Identifier: MPL-2.0

import GStreamer
import StereoTestScene
import StereoVideo

extension StereoTestSource {
  /// What the frames hold, by the caps field `multiview-mode`.
  struct Mode: Sendable {
    let name: String
    let columns: Int
    let rows: Int
    /// The eyes of one frame, or of the frames of one instant.
    let eyes: [Eye]
    let isFrameByFrame: Bool

    /// One eye's picture in a frame.
    struct View {
      let eye: Eye
      let frame: Int
      let column: Int
      let row: Int
    }

    /// The pictures that frame `number` holds.
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

  /// The default first.
  static let modes = [
    Mode(name: "side-by-side", columns: 2, rows: 1, eyes: [.left, .right], isFrameByFrame: false),
    Mode(name: "top-bottom", columns: 1, rows: 2, eyes: [.left, .right], isFrameByFrame: false),
    Mode(name: "frame-by-frame", columns: 1, rows: 1, eyes: [.left, .right], isFrameByFrame: true),
    Mode(name: "left", columns: 1, rows: 1, eyes: [.left], isFrameByFrame: false),
    Mode(name: "right", columns: 1, rows: 1, eyes: [.right], isFrameByFrame: false),
  ]

  /// The caps with defaults for what is still open.
  ///
  /// - Parameter surroundings: how a picture surrounds the viewer; nil for a flat one.
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
  /// The planes of a frame under the name of its GStreamer format.
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
