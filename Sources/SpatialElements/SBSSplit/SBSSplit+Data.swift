import GStreamer
import StereoVideo

extension SBSSplit {
  func receive(_ pad: Pad, _ buffer: Buffer, _ streaming: inout Streaming) throws {
    guard let input = streaming.input else {
      throw ElementError(.negotiation, "Data came before its caps.")
    }
    if input.layout.arrangement == .frameByFrame {
      try pass(buffer, to: streaming.sequence.eye(of: buffer, in: input.layout), streaming)
      return
    }
    for eye in Eye.allCases where self.pad(of: eye).checkReconfigure() {
      try negotiateMemory(of: eye, input, &streaming)
    }
    let layout = try input.info.layout(of: buffer)
    // Who maps a frame with a GstVideoMeta takes each plane for one piece of memory.
    let memory = input.info.isContiguous(layout, in: buffer) ? buffer : buffer.merged()
    guard let memory else { throw ElementError(.failedStream, "A frame could not be copied.") }
    let frame = PackedFrame(header: buffer, memory: memory)
    for eye in Eye.allCases {
      let view = try cut(frame, input.region(of: eye, in: layout), streaming[eye])
      let pad = self.pad(of: eye)
      try streaming.combiner.update(pad, pad.push(view)).check()
    }
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
    _ frame: PackedFrame, _ region: VideoLayout, _ output: EyeMemory
  ) throws -> Buffer {
    guard let info = output.info else { throw FlowReturn.notNegotiated }
    let view = Buffer()
    takeHeader(view, from: frame.header)
    view.append(frame.memory, offset: 0, size: frame.memory.size)
    view.setVideoLayout(region, format: info.format)
    guard let pool = output.pool else {
      view.keepAlive(frame.header)
      return view
    }
    let copy = try pool.acquire()
    takeHeader(copy, from: frame.header)
    let target = try VideoFrame(copy, info, writing: true)
    guard target.copyPixels(from: try VideoFrame(view, info)) else {
      throw ElementError(.failedStream, "A frame could not be copied.")
    }
    return copy
  }

  /// Gives one eye's buffer the times, flags and metas of the packed frame that hold for it too.
  private func takeHeader(_ view: Buffer, from packed: Buffer) {
    view.copyHeader(from: packed, metas: true)
    view.removeMetasOfSize()
    view.flags.subtract([.multipleView, .firstInBundle])
  }

  private func pass(
    _ buffer: Buffer, to place: FrameSequence.Place, _ streaming: Streaming
  ) throws {
    let pad = pad(of: place.eye)
    let view = buffer.writable()
    view.flags.subtract([.multipleView, .firstInBundle])
    view.pts = place.pts
    view.duration = place.duration
    try streaming.combiner.update(pad, pad.push(view)).check()
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
    let isFlagged = !frame.flags.isDisjoint(with: [.multipleView, .firstInBundle])
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
