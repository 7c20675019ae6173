// SPDX-License-Identifier: MPL-2.0

import GStreamer
import StereoVideo

/// Makes packed frames from the frames of both eyes.
final class FramePacker {
  /// Caps of the output.
  let caps: Caps
  /// Duration of an input frame; nil if the rate is unknown.
  private let frameDuration: ClockTime?
  private let eye: VideoInfo
  private let output: VideoInfo
  private let settings: StereoPack.Settings
  private let pool: VideoBufferPool
  /// Output layout for frames of one eye; nil before `askPeer`.
  private var memory: FrameMemory?
  private let anaglyph: Anaglyph?

  /// An output frame without a timestamp.
  struct Frame {
    let buffer: Buffer
    /// Offset from the pair's timestamp.
    let delay: ClockTime
    let duration: ClockTime?
  }

  /// Formats that can be packed: planes of bytes, words, pairs of these, or four-byte RGB pixels.
  static func caps(_ mode: PackMode) -> Caps {
    let rgb = ["BGRx", "RGBx", "xRGB", "xBGR", "BGRA", "RGBA"]
    let others = ["I420", "YV12", "NV12", "I420_10LE", "P010_10LE", "Y444", "Y42B", "GRAY8"]
    return Caps(
      "video/x-raw",
      [
        "format": .strings(mode == .anaglyph ? rgb : others + rgb), "width": .intRange(1...32767),
        "height": .intRange(1...32767),
      ])
  }

  init(left: Caps, right: Caps, settings: StereoPack.Settings) throws {
    guard let eye = VideoInfo(left), let other = VideoInfo(right) else {
      throw ElementError(.format, "Only raw video in system memory can be packed.")
    }
    guard !eye.isInterlaced, !other.isInterlaced else {
      throw ElementError(.format, "Interlaced video cannot be packed; deinterlace it first.")
    }
    guard eye.formatName == other.formatName, eye.width == other.width, eye.height == other.height
    else {
      throw ElementError(
        .format,
        "The eyes differ: the left one is \(eye.width)x\(eye.height) \(eye.formatName), the right "
          + "one \(other.width)x\(other.height) \(other.formatName).")
    }
    self.eye = eye
    self.settings = settings
    frameDuration = eye.frameRate.frameDuration
    caps = try Self.outputCaps(left, eye, settings)
    guard let output = VideoInfo(caps) else {
      throw ElementError(.format, "The packed frame would be too large.", debug: "\(caps)")
    }
    self.output = output
    pool = try VideoBufferPool(output)
    anaglyph =
      settings.mode == .anaglyph
      ? Anaglyph(settings.anaglyph.method, places: try Self.places(eye.formatName)) : nil
  }

  private static func outputCaps(
    _ left: Caps, _ eye: VideoInfo, _ settings: StereoPack.Settings
  ) throws -> Caps {
    let size =
      settings.mode.packing(half: settings.half)?.size(ofEye: eye.width, eye.height)
      ?? (width: eye.width, height: eye.height)
    var rate = eye.frameRate
    if settings.mode == .frameByFrame { rate = rate.multiplied(by: Fraction(2, 1)) }
    let sized = left.with(
      [
        "width": .int(Int32(clamping: size.width)), "height": .int(Int32(clamping: size.height)),
        "framerate": .fraction(rate),
      ], removing: ["multiview-mode", "multiview-flags", "views", "max-framerate"])
    let isHalf =
      settings.half && [.sideBySide, .topBottom, .rowInterleaved].contains(settings.mode)
    var flags = MultiviewFlags()
    if settings.rightViewFirst { flags.insert(.rightViewFirst) }
    if isHalf { flags.insert(.halfAspect) }
    return sized.withMultiview(settings.mode.multiviewMode, flags)
  }

  private static func places(_ format: String) throws -> (red: Int, green: Int, blue: Int) {
    switch format {
    case "BGRx", "BGRA": (2, 1, 0)
    case "RGBx", "RGBA": (0, 1, 2)
    case "xRGB": (1, 2, 3)
    case "xBGR": (3, 2, 1)
    default: throw ElementError(.format, "An anaglyph needs RGB; put videoconvert before.")
    }
  }

  /// Queries the peer's required frame layout; the caps must have been sent.
  func askPeer(of source: Pad) throws { memory = try FrameMemory(source, output) }

  /// Makes the output frames of a pair.
  func frames(_ left: Buffer, _ right: Buffer) throws -> [Frame] {
    let duration = left.duration ?? frameDuration
    switch settings.mode {
    case .left: return [try plain(left, 0, duration)]
    case .right: return [try plain(right, 0, duration)]
    case .frameByFrame:
      let half = (frameDuration ?? duration ?? 0) / 2
      let pair = settings.rightViewFirst ? [right, left] : [left, right]
      let first = try plain(pair[0], 0, half)
      first.buffer.flags.insert(.firstInBundle)
      return [first, try plain(pair[1], half, half)]
    case .sideBySide, .topBottom, .rowInterleaved, .anaglyph:
      return [Frame(buffer: try packed(left, right), delay: 0, duration: duration)]
    }
  }

  /// Returns one eye's frame, without a copy if the peer accepts its layout.
  private func plain(_ eye: Buffer, _ delay: ClockTime, _ duration: ClockTime?) throws -> Frame {
    _ = try self.eye.layout(of: eye)
    guard let buffer = try memory?.fit(eye).writable() else { throw FlowReturn.notNegotiated }
    buffer.flags.subtract(.views)
    return Frame(buffer: buffer, delay: delay, duration: duration)
  }

  private func packed(_ left: Buffer, _ right: Buffer) throws -> Buffer {
    let buffer = try pool.acquire()
    // Both eyes show the same instant.
    buffer.copyHeader(from: left, metas: false)
    buffer.flags.subtract(.views)
    buffer.copyMetas(from: left, isResized: true)
    StereoViewMeta.meta.remove(from: buffer)
    let target = try VideoFrame(buffer, output, writing: true)
    let one = try VideoFrame(left, eye)
    let other = try VideoFrame(right, eye)
    for plane in 0..<target.planeCount {
      guard let to = target.view(plane, output), let leftView = one.view(plane, eye),
        let rightView = other.view(plane, eye)
      else { throw ElementError(.failedStream, "A frame lacks a plane.") }
      if let anaglyph {
        anaglyph.mix(leftView, rightView, into: to)
      } else if let packing = settings.mode.packing(half: settings.half) {
        let (first, second) =
          settings.rightViewFirst ? (rightView, leftView) : (leftView, rightView)
        packing.pack(first, second, into: to, eye.sampleFormat(plane))
      }
    }
    return Buffer(buffer)
  }
}
