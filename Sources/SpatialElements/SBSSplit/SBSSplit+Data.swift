// SPDX-License-Identifier: LGPL-2.1-or-later

import GStreamer
import StereoVideo

extension SBSSplit {
  func receive(_ pad: Pad, _ buffer: Buffer, _ streaming: inout Streaming) throws {
    guard let input = streaming.input else {
      throw ElementError(.negotiation, "Data came before its caps.")
    }
    try streaming.source.askReconfiguredPeers()
    if input.layout.arrangement == .frameByFrame {
      try pass(buffer, to: streaming.sequence.eye(of: buffer, in: input.layout), streaming.source)
      return
    }
    let layout = try input.info.layout(of: buffer)
    // Who maps a frame with a GstVideoMeta takes each plane for contiguous memory.
    let memory = input.info.isContiguous(layout, in: buffer) ? buffer : buffer.merged()
    guard let memory else { throw ElementError(.failedStream, "A frame could not be copied.") }
    let frame = PackedFrame(header: buffer, memory: memory)
    let source = streaming.source
    var flow = FlowReturn.ok
    for eye in Eye.allCases {
      flow = source.push(
        try cut(frame, input.region(of: eye, in: layout), source[memory: eye]), to: eye)
    }
    try flow.check()
  }

  /// A frame of both eyes.
  private struct PackedFrame {
    /// What has its times, flags and metas.
    let header: Buffer
    /// What has its pixels.
    let memory: Buffer
  }

  /// One eye of a packed frame, as a reference to it where the peer takes that.
  private func cut(
    _ frame: PackedFrame, _ region: VideoLayout, _ memory: FrameMemory?
  ) throws -> Buffer {
    guard let memory else { throw FlowReturn.notNegotiated }
    let view = Buffer()
    takeHeader(view, from: frame.header)
    view.append(frame.memory, offset: 0, size: frame.memory.size)
    view.setVideoLayout(region, format: memory.info.format)
    if memory.takesAnyLayout { view.keepAlive(frame.header) }
    return try memory.fit(view)
  }

  /// Gives one eye's buffer the times, flags and metas of the packed frame that hold for it too.
  private func takeHeader(_ view: Buffer, from packed: Buffer) {
    view.copyHeader(from: packed, metas: true)
    view.removeMetasOfSize()
    view.flags.subtract(.views)
  }

  private func pass(
    _ buffer: Buffer, to place: FrameSequence.Place, _ source: EyeSource
  ) throws {
    guard let memory = source[memory: place.eye] else { throw FlowReturn.notNegotiated }
    _ = try memory.info.layout(of: buffer)
    let frame = try memory.fit(buffer).writable()
    frame.flags.subtract(.views)
    frame.pts = place.pts
    frame.duration = place.duration
    try source.push(frame, to: place.eye).check()
  }
}

/// Frame by frame: tells the eyes apart, and gives both the time of the first.
struct FrameSequence {
  struct Place {
    let eye: Eye
    let pts: ClockTime?
    let duration: ClockTime?
  }

  private var isSecond = false
  private var pairPTS: ClockTime?

  /// Which eye a frame shows. Where frames are flagged, the flags say it, whatever came before, so
  /// that a lost frame does not make the eyes change places; without flags the eyes alternate.
  mutating func eye(of frame: Buffer, in layout: PackingLayout) -> Place {
    let isFlagged = !frame.flags.isDisjoint(with: .views)
    let isFirst = frame.flags.contains(.firstInBundle) || !isFlagged && !isSecond
    if isFirst {
      pairPTS = frame.pts
    } else if !isSecond {
      pairPTS = frame.pts.map { pts in pts - min(pts, frame.duration ?? 0) }
    }
    isSecond = isFirst
    let firstEye: Eye = layout.rightViewFirst ? .right : .left
    let doubled = frame.duration.map { $0.addingReportingOverflow($0) }
    return Place(
      eye: isFirst ? firstEye : firstEye.other, pts: pairPTS,
      duration: doubled.flatMap { $0.overflow ? nil : $0.partialValue })
  }
}
