// SPDX-License-Identifier: MPL-2.0

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
    let memory = try input.info.contiguous(buffer, layout)
    let frame = PackedFrame(header: buffer, memory: memory, layout: layout)
    let source = streaming.source
    var flow = FlowReturn.ok
    for eye in Eye.allCases {
      guard let memory = source[memory: eye] else { throw FlowReturn.notNegotiated }
      let region = input.region(of: eye, in: layout)
      let cut =
        if let copy = try memory.acquire() {
          try self.copy(region, of: frame, input, into: copy, memory.info)
        } else {
          refer(to: region, of: frame, memory.info)
        }
      flow = source.push(cut, to: eye)
    }
    try flow.check()
  }

  /// A frame of both eyes.
  private struct PackedFrame {
    /// What has its times, flags and metas.
    let header: Buffer
    /// What has its pixels.
    let memory: Buffer
    let layout: VideoLayout
  }

  /// One eye of a packed frame as a reference to it.
  private func refer(
    to region: VideoLayout, of frame: PackedFrame, _ info: VideoInfo
  ) -> UniqueBuffer {
    let view = UniqueBuffer()
    takeHeader(view, from: frame.header)
    view.append(frame.memory, offset: 0, size: frame.memory.size)
    view.setVideoLayout(region, format: info.format)
    view.keepAlive(frame.header)
    return view
  }

  /// One eye of a packed frame as a copy.
  private func copy(
    _ region: VideoLayout, of frame: PackedFrame, _ input: FramePackedVideo,
    into copy: consuming UniqueBuffer, _ info: VideoInfo
  ) throws -> UniqueBuffer {
    copy.copyHeader(from: frame.header, metas: false)
    copy.copyMetas(from: frame.header, isResized: true)
    copy.flags.subtract(.views)
    let source = try VideoFrame(frame.memory, input.info)
    let target = try VideoFrame(copy, info, writing: true)
    for plane in 0..<target.planeCount {
      guard let from = source.plane(plane), let to = target.view(plane, info) else {
        throw ElementError(.failedStream, "A frame lacks a plane.")
      }
      let start = from + (region.offsets[plane] - frame.layout.offsets[plane])
      to.copy(
        PlaneView(
          base: start, stride: source.stride(plane), rowBytes: to.rowBytes, rows: to.rows))
    }
    return copy
  }

  /// Gives one eye's buffer the times, flags and metas of the packed frame that hold for it too.
  private func takeHeader(_ view: borrowing UniqueBuffer, from packed: Buffer) {
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
