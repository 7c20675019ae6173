// SPDX-License-Identifier: MPL-2.0

import GStreamer
import StereoVideo

/// Raw video with two eyes in each frame: its layout, and the format of each eye.
struct FramePackedVideo {
  let caps: Caps
  let info: VideoInfo
  let layout: PackingLayout
  /// Origin of the layout, for the log.
  let source: Source

  enum Source {
    case caps, property, guess
  }

  /// Takes the layout from the properties if set, else from the caps, else guesses it from the
  /// frame's shape. Throws if the frame cannot be split.
  init(_ caps: Caps, settings: SBSSplit.Settings) throws {
    guard let info = VideoInfo(caps) else {
      throw ElementError(
        .format, "Only raw video in system memory can be split.", debug: "\(caps)")
    }
    self.caps = caps
    self.info = info
    var (layout, source) = try Self.findLayout(info, settings)
    switch settings.halfAspect {
    case .auto: break
    case .yes: layout.halfAspect = layout.arrangement != .frameByFrame
    case .no: layout.halfAspect = false
    }
    (self.layout, self.source) = (layout, source)
    try check()
  }

  private static func findLayout(
    _ info: VideoInfo, _ settings: SBSSplit.Settings
  ) throws -> (PackingLayout, Source) {
    if settings.inputMode != .none {
      let mode = settings.inputMode.mode
      var layout = try layout(mode, settings.inputFlags)
      if info.isLikelyHalfAspect(mode) { layout.halfAspect = true }
      return (layout, .property)
    }
    // Decoders write "mono" if the stream does not specify the mode.
    let unspecifiedModes = [MultiviewMode.none, .mono]
    if !unspecifiedModes.contains(info.multiviewMode) {
      return (try layout(info.multiviewMode, info.multiviewFlags), .caps)
    }
    guard settings.guesses else {
      throw ElementError(
        .format,
        "The video does not specify how the eyes share a frame, so it may have one eye only; set "
          + "multiview-mode in its caps, or input-mode-override.")
    }
    return (guess(info), .guess)
  }

  private static func layout(
    _ mode: MultiviewMode, _ flags: MultiviewFlags
  ) throws -> PackingLayout {
    let arrangement: PackingLayout.Arrangement
    switch mode {
    case .sideBySide: arrangement = .sideBySide
    case .topBottom: arrangement = .topBottom
    case .frameByFrame: arrangement = .frameByFrame
    default:
      throw ElementError(
        .format,
        "Video packed as \(mode.capsName ?? "an unknown mode") cannot be split; "
          + "side-by-side, top-bottom and frame-by-frame can.")
    }
    return PackingLayout(
      arrangement, rightViewFirst: flags.contains(.rightViewFirst),
      halfAspect: flags.contains(.halfAspect))
  }

  /// Guesses from the display aspect ratio: a frame much wider than cinema formats holds two
  /// pictures side by side; one that is nearly square or taller, two above each other; any other,
  /// two that were squeezed side by side.
  private static func guess(_ info: VideoInfo) -> PackingLayout {
    let par = info.pixelAspectRatio
    let shape =
      Double(info.width) * Double(max(par.numerator, 1))
      / (Double(max(info.height, 1)) * Double(max(par.denominator, 1)))
    if shape >= 2.45 { return PackingLayout(.sideBySide) }
    if shape <= 1.2 { return PackingLayout(.topBottom) }
    return PackingLayout(.sideBySide, halfAspect: true)
  }

  private func check() throws {
    guard !info.isInterlaced || layout.arrangement != .topBottom else {
      throw ElementError(
        .format, "Interlaced top-bottom video cannot be split; deinterlace it first.")
    }
    let (length, side) =
      layout.arrangement == .topBottom ? (info.height, "height") : (info.width, "width")
    guard layout.arrangement == .frameByFrame || length.isMultiple(of: 2) else {
      throw ElementError(
        .format, "A frame with odd \(side) \(length) cannot be split into two equal eyes.")
    }
    guard length >= 2 else {
      throw ElementError(
        .format, "A frame of \(info.width)x\(info.height) is too small for two eyes.")
    }
    guard layout.arrangement == .frameByFrame || info.isAddressable else {
      throw ElementError(
        .format,
        "Pixels of \(info.formatName) are stored in groups that cannot be cut; "
          + "put videoconvert before sbssplit.")
    }
    guard layout.arrangement != .sideBySide || eyeSize.width.isMultiple(of: info.pixelGroup) else {
      throw ElementError(
        .format,
        "Pixels of \(info.formatName) share chroma in groups of \(info.pixelGroup), so an eye "
          + "\(eyeSize.width) pixels wide cannot be cut out; put videoconvert before sbssplit.")
    }
  }

  // MARK: One eye

  /// Size of one eye's picture, in pixels.
  var eyeSize: (width: Int, height: Int) {
    switch layout.arrangement {
    case .sideBySide: (info.width / 2, info.height)
    case .topBottom: (info.width, info.height / 2)
    case .frameByFrame: (info.width, info.height)
    }
  }

  /// Returns the caps of one eye's stream: those of the packed one except for size, pixel aspect
  /// ratio, frame rate and multiview mode.
  func caps(for eye: Eye) -> Caps {
    var par = info.pixelAspectRatio
    if layout.halfAspect {
      switch layout.arrangement {
      case .sideBySide: par = par.multiplied(by: Fraction(2, 1))
      case .topBottom: par = par.multiplied(by: Fraction(1, 2))
      case .frameByFrame: break
      }
    }
    var rate = info.frameRate
    if layout.arrangement == .frameByFrame { rate = rate.multiplied(by: Fraction(1, 2)) }
    let size = eyeSize
    return caps.with(
      [
        "width": .int(Int32(clamping: size.width)), "height": .int(Int32(clamping: size.height)),
        "pixel-aspect-ratio": .fraction(par), "framerate": .fraction(rate),
        "multiview-mode": .string(eye.rawValue),
      ], removing: ["multiview-flags", "views"])
  }

  /// Returns the layout of one eye within a packed frame of layout `frame`.
  ///
  /// With 4:2:0 and an odd width, the second eye's chroma starts half a chroma sample early.
  func region(of eye: Eye, in frame: VideoLayout) -> VideoLayout {
    let size = eyeSize
    var region = VideoLayout(
      width: size.width, height: size.height, offsets: frame.offsets, strides: frame.strides)
    let isFirst = (eye == .right) == layout.rightViewFirst
    guard !isFirst, layout.arrangement != .frameByFrame else { return region }
    for plane in region.offsets.indices where region.strides.indices.contains(plane) {
      let grid = info.sampleGrid(plane)
      switch layout.arrangement {
      case .sideBySide: region.offsets[plane] &+= (size.width >> grid.widthShift) &* grid.step
      case .topBottom:
        region.offsets[plane] &+= (size.height >> grid.heightShift) &* region.strides[plane]
      case .frameByFrame: break
      }
    }
    return region
  }
}
