// SPDX-License-Identifier: MPL-2.0

import CGStreamer
import GStreamer
import StereoVideo

extension HostileActor {
  static let title = "Late news"

  /// What is pushed into each sink pad, with an act in it; the same for a whole element that has no
  /// sink pads.
  func scripts(_ act: HostileAct?, on stage: Stage) -> [String: [Step]] {
    guard !inputs.isEmpty else { return ["": sourceScript(act, on: stage)] }
    var scripts: [String: [Step]] = [:]
    for input in inputs {
      // What is done to the whole element is done by one of the threads.
      let acts = input.pad == inputs.last?.pad
      scripts[input.pad] = script(of: input, act, acts ? stage : nil)
    }
    return scripts
  }

  private func script(of input: Input, _ act: HostileAct?, _ stage: Stage?) -> [Step] {
    let segment = Step.event(.segment(Segment(input.format)))
    let gap = Step.event(.gap(at: 0, duration: Self.frameDuration))
    var contents = act == .endWithoutData ? [] : input.contents
    let middle = contents.count / 2
    if act == .shortBuffer, input.format == .time, !contents.isEmpty {
      contents[middle] = contents[middle].cut
    }
    if act == .shortBuffer, input.format == .bytes {
      contents[contents.count - 2] = contents[contents.count - 2].cut
    }
    if act == .noTimestamps { contents = contents.map(\.timeless) }
    var (first, second) = (contents.prefix(middle), contents.dropFirst(middle))
    if act == .capsChange { second = input.changed.contents.dropFirst(middle) }
    if act == .flushThenEnd { second = [] }
    return [.event(.streamStart(id: "test/\(input.pad)")), .event(.caps(input.caps))]
      + (act == .gapBeforeSegment ? [gap, segment] : [segment])
      + first.map { .buffer($0.buffer()) } + steps(act, input, stage)
      + second.map { .buffer($0.buffer()) } + [.event(.endOfStream)]
  }

  /// What is done between the first half and the second.
  private func steps(_ act: HostileAct?, _ input: Input?, _ stage: Stage?) -> [Step] {
    switch act {
    case .flushThenEnd: return [.event(.flushStart), .event(.flushStop())]
    case .lateTag:
      let tags = TagList()
      tags.set(GST_TAG_TITLE, .string(Self.title))
      tags.isGlobal = true
      return [.event(.tags(tags))]
    case .capsChange:
      guard let input else { return [] }
      return [.event(.caps(input.changed.caps))]
    case .seek:
      return [.act { [weak stage] in stage?.seekFromDownstream() }]
    case .padGone:
      return [.act { [weak stage] in stage?.removePad() }]
    default: return []
    }
  }

  private func sourceScript(_ act: HostileAct?, on stage: Stage) -> [Step] {
    let nothing = (0..<Self.pictures / 2).map { _ in Step.buffer(Buffer()) }
    let end = act == .flushThenEnd || act == .padGone ? [] : nothing
    return (act == .endWithoutData ? [] : nothing) + steps(act, nil, stage)
      + (act == .endWithoutData ? [] : end) + [.event(.endOfStream)]
  }
}

extension HostileActor.Content {
  /// With a third of its bytes.
  fileprivate var cut: Self {
    var content = Self(bytes: Array(bytes.prefix(bytes.count / 3)))
    (content.pts, content.dts, content.duration) = (pts, dts, duration)
    content.flags = flags
    return content
  }

  fileprivate var timeless: Self { Self(bytes: bytes, flags: flags) }
}

extension Stage {
  fileprivate func seekFromDownstream() {
    for pad in element.pads where pad.direction == .source {
      let event = gst_event_new_seek(
        1, GST_FORMAT_TIME, GST_SEEK_FLAG_FLUSH, GST_SEEK_TYPE_SET, 0, GST_SEEK_TYPE_NONE, -1)
      if let event, let peer = pad.peer { _ = peer.push(Event(adopting: event)) }
    }
  }

  /// Releases the audio request pad, or removes the elements after a source pad.
  fileprivate func removePad() {
    if let pad = element.staticPad("audio_0"), let peer = pad.peer {
      gst_pad_unlink(peer.pointer, pad.pointer)
      gst_element_release_request_pad(element.pointer, pad.pointer)
      return
    }
    guard let pad = element.pads.first(where: { $0.direction == .source }), let peer = pad.peer
    else { return }
    forget(pad.name)
    gst_pad_unlink(pad.pointer, peer.pointer)
    // The sink ends by itself, so that the pipeline can.
    _ = peer.send(.endOfStream)
  }
}
