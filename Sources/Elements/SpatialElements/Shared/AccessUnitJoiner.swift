// SPDX-License-Identifier: MPL-2.0

import GStreamer
import HEVC
import StereoVideo

/// Joins the layers of each access unit that came in buffers of their own.
///
/// `h265parse` of GStreamer 1.28 knows of a single layer, and takes the first slice of the second
/// one for that of the next picture: an access unit becomes two buffers, the second one without a
/// presentation time. A buffer that has the first layer alone is therefore held back until the next
/// one has come, in streams that have two layers. All others pass at once.
final class AccessUnitJoiner: BufferFilter {
  /// The NAL units of a buffer by layer.
  private struct Content {
    var hasBaseSlice = false
    var hasDependentSlice = false
    /// The last VPS; nil if there is none.
    var videoParameterSet: [UInt8]?
  }

  /// Nil for anything but H.265.
  private var framing: NALUnitFraming?
  /// The number of layers that the stream's VPS says.
  private var layerCount = 1
  private var held: Buffer?
  /// The number of layers that have been added to the held buffer.
  private var joinedCount = 0
  /// The durations of the second buffers of access units so far: the parser has counted each as a
  /// picture of its own in the decoding times that it has made up.
  private var excess: ClockTime = 0

  func take(_ buffer: Buffer) -> Buffer? {
    guard let framing, buffer.size > 0, let content = try? content(of: buffer, framing) else {
      return pass(buffer)
    }
    if let unit = content.videoParameterSet { countLayers(unit) }
    guard layerCount > 1 else { return pass(buffer) }
    guard content.hasBaseSlice || !content.hasDependentSlice else { return join(buffer) }
    let timed = retimed(buffer)
    guard !content.hasDependentSlice else { return pass(timed) }
    defer { (held, joinedCount) = (timed, 0) }
    return held
  }

  func take(_ event: Event) -> Buffer? {
    defer { if case .caps(let caps) = event.kind { begin(caps) } }
    switch event.kind {
    case .flushStop, .streamStart:
      held = nil
      excess = 0
      return nil
    case .caps, .segment, .gap, .segmentDone, .endOfStream:
      defer { held = nil }
      return held
    default: return nil
    }
  }

  private func begin(_ caps: Caps) {
    let isH265 = caps.mediaType == "video/x-h265"
    let input = isH265 ? try? LayeredInput(caps, recordIsOptional: true) : nil
    framing = input?.framing
    for unit in input?.parameterSets ?? [] { countLayers(unit) }
  }

  private func countLayers(_ unit: [UInt8]) {
    guard NALUnitHeader(unit.span.bytes)?.type == .videoParameterSet,
      let set = try? VideoParameterSet(nalUnit: unit)
    else { return }
    layerCount = set.maxLayersMinus1 + 1
  }

  /// Returns a buffer, or the one that is held back and comes before it.
  private func pass(_ buffer: Buffer) -> Buffer {
    guard let first = held else { return buffer }
    (held, joinedCount) = (buffer, 0)
    return first
  }

  /// Returns an access unit whose second layer comes in a buffer of its own; nil if a third one is
  /// missing. If the first one is lost, the element says so.
  private func join(_ buffer: Buffer) -> Buffer? {
    guard let base = held else { return buffer }
    excess = excess + (buffer.duration ?? 0)
    let whole = base.copied()
    whole.append(buffer, offset: 0, size: buffer.size)
    // A third layer, such as one of depth, has a buffer of its own, too.
    joinedCount += 1
    let isWhole = joinedCount >= layerCount - 1
    held = isWhole ? nil : whole
    return isWhole ? whole : nil
  }

  /// Returns a buffer with the decoding time that it would have in an unsplit stream.
  private func retimed(_ buffer: Buffer) -> Buffer {
    // A parser that has been told the times takes those.
    guard excess > 0, buffer.pts == nil, let dts = buffer.dts else { return buffer }
    let copy = buffer.copied()
    copy.dts = dts - min(excess, dts)
    return copy
  }

  private func content(of buffer: Buffer, _ framing: NALUnitFraming) throws -> Content {
    try buffer.withBytes { bytes in
      let span = bytes.bytes
      var content = Content()
      for range in try framing.nalUnits(in: span) {
        let unit = span.extracting(range)
        guard let header = NALUnitHeader(unit) else { continue }
        if header.type == .videoParameterSet {
          content.videoParameterSet = unit.withUnsafeBytes { Array($0) }
        } else if header.type.isSliceSegment {
          if header.layerID == 0 { content.hasBaseSlice = true }
          if header.layerID > 0 { content.hasDependentSlice = true }
        }
      }
      return content
    }
  }
}
