// SPDX-License-Identifier: MPL-2.0

import GStreamer
import StereoVideo

extension SBSSplit {
  func handle(_ pad: Pad, _ event: Event, _ streaming: inout Streaming) throws -> Bool {
    switch event.kind {
    case .streamStart:
      pads.startStreams(of: self, following: event)
      return true
    case .caps(let caps):
      return try setCaps(caps, following: event, &streaming)
    case .flushStop:
      streaming.source.reset()
      streaming.sequence = FrameSequence()
      return pad.forward(event)
    default:
      return pad.forward(event)
    }
  }

  private func setCaps(
    _ caps: Caps, following event: Event, _ streaming: inout Streaming
  ) throws -> Bool {
    let packed = try FramePackedVideo(caps, settings: settings.current)
    let size = packed.eyeSize
    let found = "\(packed.layout) from \(caps): \(size.width)x\(size.height) an eye"
    switch packed.source {
    case .caps: Self.log.debug(self, "the caps say \(found)")
    case .property: Self.log.info(self, "input-mode-override says \(found)")
    case .guess:
      Self.log.info(
        self,
        "nothing says how the eyes are packed; guessed \(found) "
          + "(set input-mode-override if that is wrong)")
      postWarning(
        ElementError(
          .format,
          "Nothing says how the eyes are packed: by the frame's shape, it is taken for "
            + "\(packed.layout). Set input-mode-override if that is wrong."))
    }
    streaming.input = packed
    pads.sendCaps(following: event) { packed.caps(for: $0) }
    try streaming.source.askPeers { eye in
      guard let info = VideoInfo(packed.caps(for: eye)) else { throw FlowReturn.notNegotiated }
      return info
    }
    for eye in Eye.allCases {
      let isReferred = streaming.source[memory: eye]?.takesAnyLayout ?? false
      Self.log.info(
        self,
        "\(eye): \(isReferred ? "references" : "copies, for the peer takes no GstVideoMeta")")
    }
    return true
  }

  // MARK: Queries

  func answer(_ pad: Pad, _ query: borrowing Query) -> Bool {
    let all = pad.templateCaps
    return query.answerAsReader(
      of: all, possible: acceptableCaps().intersection(all), keeping: keptCount(query))
      || pad.forward(query)
  }

  /// How many packed frames the peers may keep as pictures of their eyes.
  private func keptCount(_ query: borrowing Query) -> Int {
    guard let caps = query.allocationCaps,
      let packed = try? FramePackedVideo(caps, settings: settings.current)
    else { return 0 }
    return pads.peerMemory { packed.caps(for: $0) }.bufferCount
  }

  func answerDownstream(_ pad: Pad, _ query: borrowing Query) -> Bool {
    guard case .allocation = query.kind else { return pad.forward(query) }
    return false
  }

  /// The packed video whose eyes both peers take.
  private func acceptableCaps() -> Caps {
    let all = sink.templateCaps
    let common = pads.peerCaps(among: all, without: ["pixel-aspect-ratio", "framerate"])
    return common.isEqual(to: all) ? all : common.packings()
  }
}

extension Caps {
  /// For caps of one eye, those of frames that hold two in any of the layouts.
  fileprivate func packings() -> Caps {
    let result = Caps.empty
    for structure in structures where structure.name == "video/x-raw" {
      for (wide, high) in [(2, 1), (1, 2), (1, 1)] as [(Int32, Int32)] {
        var fields = structure.allFields
        for (index, field) in fields.enumerated() {
          if field.key == "width" { fields[index].value = field.value.multiplied(by: wide) }
          if field.key == "height" { fields[index].value = field.value.multiplied(by: high) }
        }
        result.append("video/x-raw", fields)
      }
    }
    return result
  }
}

extension Value {
  /// Integers, ranges and lists of them times a factor; anything else as it is.
  fileprivate func multiplied(by factor: Int32) -> Value {
    func product(_ number: Int32) -> Int32 {
      let (product, overflow) = number.multipliedReportingOverflow(by: factor)
      return overflow ? (number < 0 ? .min : .max) : product
    }
    return switch self {
    case .int(let number): .int(product(number))
    case .intRange(let range): .intRange(product(range.lowerBound)...product(range.upperBound))
    case .list(let items): .list(items.map { $0.multiplied(by: factor) })
    default: self
    }
  }
}
