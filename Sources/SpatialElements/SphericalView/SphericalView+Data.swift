// SPDX-License-Identifier: MPL-2.0

import GStreamer
import Reprojection
import StereoVideo

extension SphericalView {
  func handle(_ pad: Pad, _ event: Event, _ streaming: inout Streaming) throws -> Bool {
    switch event.kind {
    case .caps(let caps):
      streaming.input = try SphereInput(caps)
      streaming.output = nil
      // What is not in the caps may be in the tags, which come later.
      if settings.current.projection != .auto || streaming.tagged != nil {
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
      let tagged = SpatialMetadata(tags).projection
      if let tagged, tagged != streaming.tagged {
        streaming.tagged = tagged
        if settings.current.projection == .auto { streaming.output = nil }
      }
      return pad.forward(.tags(flattened(tags)).following(event))
    default:
      return pad.forward(event)
    }
  }

  /// Sends the segment that has waited for caps.
  func sendWaitingSegment(_ streaming: inout Streaming) {
    guard let event = streaming.waitingSegment.take() else { return }
    source.push(event)
  }

  /// The stream's tags with what is true of the view.
  private func flattened(_ tags: TagList) -> TagList {
    let own = TagList()
    var metadata = SpatialMetadata()
    metadata.projection = .rectilinear
    metadata.horizontalFieldOfView = HorizontalFieldOfView(degrees: settings.current.fieldOfView)
    metadata.write(to: own)
    return tags.merging(own)
  }

  func receive(_ pad: Pad, _ buffer: Buffer, _ streaming: inout Streaming) throws {
    guard let input = streaming.input else {
      throw ElementError(.negotiation, "Data came before its caps.")
    }
    if source.checkReconfigure() || streaming.output == nil {
      try negotiate(&streaming, following: nil)
    }
    if let pts = buffer.pts, let time = streaming.segment.streamTime(pts) {
      followControlSources(at: time)
    }
    // One view for the whole frame, and for both eyes.
    let settings = settings.current
    let view = SphericalViewState(
      orientation: settings.orientation, fieldOfView: settings.fieldOfView)
    let drawn = try draw(buffer, input, &streaming, view)
    if streaming.told != view {
      streaming.told = view
      postMessage(
        "spherical-view",
        [
          "yaw": .double(view.orientation.yaw), "pitch": .double(view.orientation.pitch),
          "roll": .double(view.orientation.roll), "field-of-view": .double(view.fieldOfView),
        ])
    }
    try source.push(drawn).check()
  }

  private func draw(
    _ buffer: Buffer, _ input: SphereInput, _ streaming: inout Streaming, _ view: SphericalViewState
  ) throws -> UniqueBuffer {
    guard var output = streaming.output else { throw FlowReturn.notNegotiated }
    if output.fieldOfView != view.fieldOfView {
      output.target = try PictureGeometry(
        .rectilinear(horizontalFieldOfView: view.fieldOfView), width: output.width,
        height: output.height)
      output.fieldOfView = view.fieldOfView
      streaming.output = output
    }
    let drawn = try output.pool.acquire()
    let memory = try input.info.contiguous(buffer, input.info.layout(of: buffer))
    do {
      let from = try VideoFrame(memory, input.info)
      let into = try VideoFrame(drawn, output.info, writing: true)
      let eyes: [Eye?] = input.layout == nil ? [nil] : output.eye.map { [$0] } ?? Eye.allCases
      let pictures = try eyes.map { eye in
        Reprojector.Picture(
          source: try from.planes(
            input.format, width: input.width, height: input.height,
            place: Self.place(of: eye, input.layout), input.layout?.arrangement),
          target: try into.planes(
            input.format, width: output.width, height: output.height,
            place: Self.place(of: eye, output.layout), output.layout?.arrangement))
      }
      try output.reprojector.draw(output.target, view.orientation, pictures)
    }
    drawn.copyHeader(from: buffer, metas: true)
    drawn.removeMetasOfSize()
    return drawn
  }

  private static func place(of eye: Eye?, _ layout: PackingLayout?) -> Int {
    guard let eye, let layout else { return 0 }
    return (eye == .right) == layout.rightViewFirst ? 0 : 1
  }

  // MARK: Looking around

  func handleUpstream(_ pad: Pad, _ event: Event) throws -> Bool {
    guard case .navigation(let fields) = event.kind, settings.current.navigates else {
      return pad.forward(event)
    }
    let current = settings.current
    let state = SphericalViewState(
      orientation: current.orientation, fieldOfView: current.fieldOfView)
    guard let next = navigation.withLock({ $0.take(NavigationInput(fields), state) }) else {
      return pad.forward(event)
    }
    settings.withLock {
      $0.orientation = next.orientation
      $0.fieldOfView = next.fieldOfView
    }
    return true
  }
}

extension NavigationInput {
  fileprivate init?(_ fields: StructureView) {
    func position() -> (Double, Double)? {
      guard let x = fields.double("pointer_x"), let y = fields.double("pointer_y") else {
        return nil
      }
      return (x, y)
    }
    switch fields.string("event") {
    case "mouse-button-press":
      guard fields.int("button") == 1, let (x, y) = position() else { return nil }
      self = .grab(x: x, y: y)
    case "mouse-move":
      guard let (x, y) = position() else { return nil }
      self = .move(x: x, y: y)
    case "mouse-button-release":
      guard fields.int("button") == 1 else { return nil }
      self = .release
    case "mouse-scroll":
      guard let delta = fields.double("delta_pointer_y") else { return nil }
      self = .scroll(delta)
    case "key-press":
      guard let key = fields.string("key") else { return nil }
      self = .key(key)
    default: return nil
    }
  }
}
