// SPDX-License-Identifier: MPL-2.0

import GStreamer
import Reprojection
import StereoVideo

extension SphereFilter {
  /// Says the output's caps and prepares for drawing.
  func negotiate(_ streaming: inout SphereStreaming, following cause: Event?) throws {
    guard let input = streaming.input else { throw FlowReturn.notNegotiated }
    let settings = settings.current
    let eyes: [Eye?] =
      input.layout == nil
      ? [input.eye] : settings.sphere.outputEyes.eye.map { [$0] } ?? Eye.allCases
    let origins = try eyes.map { try settings.sphere.source(streaming.tags, input, $0) }
    let target = settings.target.projection
    let (caps, layout) = try outputCaps(
      input, settings.sphere.outputEyes, from: origins[0], to: target)
    guard let info = VideoInfo(caps) else { throw FlowReturn.notNegotiated }
    let width = layout?.arrangement == .sideBySide ? info.width / 2 : info.width
    let height = layout?.arrangement == .topBottom ? info.height / 2 : info.height
    do {
      let areAlike = settings.convergence == 0 && origins.allSatisfy { $0 == origins[0] }
      let groups = areAlike ? [eyes] : eyes.map { [$0] }
      streaming.output = try SphereOutput(
        info: info,
        drawings: try zip(groups, origins).map { eyes, origin in
          SphereDrawing(
            try settings.sphere.reprojector(origin, input, streaming.tags), eyes,
            convergence: settings.convergence)
        },
        layout: layout, target: try PictureGeometry(target, width: width, height: height))
    } catch let error as GeometryError {
      throw ElementError(.format, "The picture cannot be drawn: \(error).")
    } catch let error as ReprojectionError {
      throw ElementError(.format, "The picture cannot be drawn: \(error).")
    }
    sizeChanged(width: width, height: height)
    if source.currentCaps?.isEqual(to: caps) != true {
      let event = Event.caps(caps)
      source.push(cause.map { event.following($0) } ?? event)
    }
    sendWaitingSegment(&streaming)
    if !streaming.hasSentTags {
      streaming.hasSentTags = true
      source.push(.tags(rewritten(TagList())))
    }
  }

  /// Sends the segment that has waited for caps.
  func sendWaitingSegment(_ streaming: inout SphereStreaming) {
    guard let event = streaming.waitingSegment.take() else { return }
    source.push(event)
  }

  /// The stream's tags with what is true of the output.
  func rewritten(_ tags: TagList) -> TagList {
    let target = settings.current.target
    return SphereTags.rewritten(tags, target.name, target.projection)
  }

  /// The caps of the output: of the size that downstream wants, or else with as many pixels for a
  /// degree as the input has.
  private func outputCaps(
    _ input: SphereInput, _ eyes: OutputEyes, from origin: Projection, to target: Projection
  ) throws -> (Caps, PackingLayout?) {
    var layout = input.layout
    layout?.halfAspect = false
    if eyes != .both { layout = nil }
    let perDegree = Double(input.width) / origin.horizontalDegrees
    let width = min(16384, max(16, target.width(pixelsPerDegree: perDegree)))
    let across: Int32 = layout?.arrangement == .sideBySide ? 2 : 1
    let down: Int32 = layout?.arrangement == .topBottom ? 2 : 1
    var caps = input.caps.with(
      ["pixel-aspect-ratio": .fraction(Fraction(1, 1))], removing: sphereFieldsOfSize)
    if let layout {
      caps = layout.adding(to: caps)
    } else if input.layout != nil {
      caps = caps.with(["multiview-mode": .string(eyes == .right ? "right" : "left")])
    } else if let mode = input.caps.first?.string("multiview-mode") {
      caps = caps.with(["multiview-mode": .string(mode)])
    }
    let any: Value = .intRange(1...32768)
    caps = caps.with(["width": any, "height": any])
    let allowed = source.isLinked ? caps.intersection(source.peerCaps(filter: nil)) : caps
    guard !allowed.isEmpty else { throw FlowReturn.notNegotiated }
    let columns = (Int32(width) + 1) / 2 * 2 * across
    let fixedWidth = allowed.fixating("width", .int(columns))
    let eyeWidth = Int32(clamping: fixedWidth.first?.int("width") ?? 16) / across
    let eyeHeight = min(16384, max(2, target.height(width: Double(eyeWidth))))
    let rows = (Int32(eyeHeight) + 1) / 2 * 2 * down
    let fixed = fixedWidth.fixating("height", .int(rows)).fixated()
    guard let size = fixed.first, let w = size.int("width"), let h = size.int("height"),
      across == 1 || w.isMultiple(of: 4), down == 1 || h.isMultiple(of: 4)
    else {
      throw ElementError(
        .format, "Two eyes share the output's frame, so its size has to be a multiple of 4.",
        debug: "\(fixed)")
    }
    return (fixed, layout)
  }

  // MARK: Queries

  func answer(_ pad: Pad, _ query: borrowing Query) -> Bool {
    let all = pad.templateCaps
    return query.answerAsReader(
      of: all, possible: unsized(source.peerCaps(filter: nil)).intersection(all))
      || pad.forward(query)
  }

  func answerDownstream(_ pad: Pad, _ query: borrowing Query) -> Bool {
    switch query.kind {
    case .caps:
      query.answerCaps(unsized(sink.peerCaps(filter: nil)).intersection(pad.templateCaps))
      return true
    case .acceptCaps(let caps):
      query.answerAcceptCaps(caps.isSubset(of: pad.templateCaps))
      return true
    default:
      return pad.forward(query)
    }
  }

  /// Caps of one side as they limit the other: any size and packing.
  private func unsized(_ caps: Caps) -> Caps {
    caps.isAny ? caps : caps.with(removing: sphereFieldsOfSize + ["pixel-aspect-ratio"])
  }
}

private let sphereFieldsOfSize = ["width", "height", "multiview-mode", "multiview-flags", "views"]
