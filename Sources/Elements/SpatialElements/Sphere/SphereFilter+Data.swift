// SPDX-License-Identifier: MPL-2.0

import GStreamer
import Reprojection
import StereoVideo

extension SphereFilter {
  func handle(_ pad: Pad, _ event: Event, _ streaming: inout SphereStreaming) throws -> Bool {
    switch event.kind {
    case .streamStart:
      // A new stream starts without tags.
      (streaming.tags, streaming.hasSentTags) = (SphereTags(), false)
      return pad.forward(event)
    case .caps(let caps):
      let input = try SphereInput(caps)
      (streaming.input, streaming.output) = (input, nil)
      // What is not in the caps may be in the tags, which come later.
      if (try? settings.current.sphere.source(streaming.tags, input, nil)) != nil {
        try negotiate(&streaming, following: event)
      }
      return true
    case .segment(let segment):
      streaming.segment = segment
      guard source.currentCaps != nil else {
        streaming.waitingSegment = event
        return true
      }
      return pad.forward(event)
    case .gap, .endOfStream:
      if streaming.waitingSegment != nil {
        try? negotiate(&streaming, following: event)
        sendWaitingSegment(&streaming)
      }
      return pad.forward(event)
    case .flushStop:
      streaming.waitingSegment = nil
      return pad.forward(event)
    case .tags(let tags) where !tags.isGlobal:
      let said = SphereTags(tags, after: streaming.tags)
      if said != streaming.tags {
        streaming.tags = said
        streaming.output = nil
      }
      streaming.hasSentTags = true
      return pad.forward(.tags(rewritten(tags)).following(event))
    default:
      return pad.forward(event)
    }
  }

  /// Draws what a sink pad receives, and pushes it.
  func drawAndPush(_ buffer: Buffer, _ streaming: inout SphereStreaming) throws {
    guard let input = streaming.input else {
      throw ElementError(.negotiation, "Data came before its caps.")
    }
    if source.checkReconfigure() || streaming.output == nil {
      try negotiate(&streaming, following: nil)
    }
    if let pts = buffer.pts, let time = streaming.segment.streamTime(pts) {
      follow(time)
    }
    // One look for the whole frame, and for both eyes.
    let settings = settings.current
    guard var output = streaming.output.take() else { throw FlowReturn.notNegotiated }
    defer { streaming.output = output }
    if Settings.targetMoves {
      let target = settings.target.projection
      if output.target.projection != target {
        output.target = try PictureGeometry(
          target, width: output.target.width, height: output.target.height)
      }
    }
    output.fill(with: settings.sphere.fillColour)
    let look = SphereLook(
      orientation: settings.sphere.orientation, target: output.target.projection)
    let drawn = try draw(buffer, input, &output, look.orientation)
    if streaming.drawn != look {
      streaming.drawn = look
      hasDrawn(settings)
    }
    try source.push(drawn).check()
  }

  private func draw(
    _ buffer: Buffer, _ input: SphereInput, _ output: inout SphereOutput,
    _ orientation: SphereOrientation
  ) throws -> UniqueBuffer {
    let drawn = try output.pool.acquire()
    let memory = try input.info.contiguous(buffer, input.info.layout(of: buffer))
    do {
      let from = try VideoFrame(memory, input.info)
      let into = try VideoFrame(drawn, output.info, writing: true)
      for drawing in output.drawings.indices {
        for (index, eye) in output.drawings[drawing].eyes.enumerated() {
          try from.locate(
            &output.drawings[drawing].pictures[index].source, input.format, width: input.width,
            height: input.height, place: Self.place(of: eye, input.layout),
            input.layout?.arrangement)
          try into.locate(
            &output.drawings[drawing].pictures[index].target, input.format,
            width: output.target.width, height: output.target.height,
            place: Self.place(of: eye, output.layout), output.layout?.arrangement)
        }
        try output.drawings[drawing].reprojector.draw(
          output.target, Rotation(view: orientation) * output.drawings[drawing].turn,
          output.drawings[drawing].pictures)
      }
    }
    drawn.copyHeader(from: buffer, metas: true)
    drawn.removeMetasOfSize()
    return drawn
  }

  private static func place(of eye: Eye?, _ layout: PackingLayout?) -> Int {
    guard let eye, let layout else { return 0 }
    return (eye == .right) == layout.rightViewFirst ? 0 : 1
  }
}
