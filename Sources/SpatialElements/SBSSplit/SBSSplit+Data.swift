import CGStreamer
import GStreamer
import StereoVideo

extension SBSSplit {
  func receive(_ pad: Pad, _ buffer: Buffer) throws {
    guard let input else {
      throw ElementError(.negotiation, "Data came before its caps.")
    }
    if input.layout.arrangement == .frameByFrame {
      try pass(buffer, to: sequence.eye(of: buffer, in: input.layout))
      return
    }
    for eyePad in [left, right] where eyePad.pad.checkReconfigure() {
      try negotiateMemory(eyePad, input)
    }
    let frame = buffer.videoLayout ?? VideoLayout(input.info)
    guard frame.offsets.count == input.info.planeCount else {
      throw ElementError(
        .format,
        "A frame's GstVideoMeta has \(frame.offsets.count) planes; its caps say "
          + "\(input.info.planeCount).")
    }
    for eyePad in [left, right] {
      let eyeBuffer = try cut(eyePad, from: buffer, input.region(of: eyePad.eye, in: frame))
      try combiner.update(eyePad.pad, eyePad.pad.push(eyeBuffer)).check()
    }
  }

  /// One eye of a packed frame, as a reference to it where the peer takes that.
  private func cut(_ eyePad: EyePad, from packed: Buffer, _ region: VideoLayout) throws -> Buffer {
    guard let info = eyePad.info else { throw FlowReturn.notNegotiated }
    let view = Buffer()
    takeHeader(view, from: packed)
    view.append(packed, offset: 0, size: packed.size)
    view.setVideoLayout(region, format: info.format)
    guard let pool = eyePad.pool else {
      view.keepAlive(packed)
      return view
    }
    let copy = try pool.acquire()
    takeHeader(copy, from: packed)
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

  private func pass(_ buffer: Buffer, to place: FrameSequence.Place) throws {
    let eyePad = eyePad(place.eye)
    let view = buffer.writable()
    view.flags.subtract([.multipleView, .firstInBundle])
    view.pts = place.pts
    view.duration = place.duration
    try combiner.update(eyePad.pad, eyePad.pad.push(view)).check()
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
