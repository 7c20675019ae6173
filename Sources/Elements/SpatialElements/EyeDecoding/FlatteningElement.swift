// SPDX-License-Identifier: MPL-2.0

import GStreamer

/// The first part of a bin that decodes both eyes: it converts a stream of both to one for a plain
/// decoder, with an `AccessUnitMeta` on each picture.
protocol FlatteningElement: ElementImplementation where Streaming: FlatteningStream {
  /// The decoder downstream of this element; set before the element starts.
  var decoder: Locked<InnerDecoder?> { get }
  var sink: Pad { get }
  /// Delay added by pictures that wait for later access units.
  var latency: AddedLatency { get }
}

/// The state of the streaming thread of a `FlatteningElement`.
protocol FlatteningStream {
  mutating func setCaps(_ caps: Caps) throws
  mutating func setSegment(_ event: Event)
  /// Sends an event downstream after the pictures that came before it.
  mutating func send(_ event: Event)
  mutating func receive(_ buffer: Buffer) throws
  /// Sends the waiting pictures, as nothing continues their sequence.
  mutating func drain()
  /// Discards what waits, after a flush.
  mutating func reset()
  /// The kind of content that has come since the element started.
  var content: FlatteningContent { get }
}

/// The kind of content that a stream has had so far.
enum FlatteningContent {
  /// Not even caps.
  case nothing
  /// Caps without data, or what is left by a flush.
  case emptyTrack
  /// Data in which no picture has been found yet.
  case dataAlone
  case pictures
}

/// Functions of the pads.
extension FlatteningElement {
  func receive(_ pad: Pad, _ buffer: Buffer, _ streaming: inout Streaming) throws {
    try streaming.receive(buffer)
  }

  func handle(_ pad: Pad, _ event: Event, _ streaming: inout Streaming) throws -> Bool {
    switch event.kind {
    case .caps(let caps): try streaming.setCaps(caps)
    case .flushStop:
      streaming.reset()
      return pad.forward(event)
    case .segmentDone:
      streaming.drain()
      return pad.forward(event)
    case .endOfStream:
      streaming.drain()
      reportEmptiness(streaming)
      return pad.forward(event)
    case .segment: streaming.setSegment(event)
    case .tags, .gap: streaming.send(event)
    default: return pad.forward(event)
    }
    return true
  }

  /// Reports a stream that ends without a picture: it would look as if it had been decoded.
  private func reportEmptiness(_ streaming: Streaming) {
    switch streaming.content {
    case .nothing:
      post(ElementError(.wrongType, "The stream ended before its first byte."))
    case .dataAlone:
      post(
        ElementError(
          .wrongType,
          "The stream ended, and no picture was found in it: it is damaged or in another format."))
    case .emptyTrack, .pictures: break
    }
  }

  func answer(_ pad: Pad, _ query: borrowing Query) -> Bool { latency.answer(pad, query) }

  /// Sends an event upstream from the sink pad.
  func sendUpstream(_ event: Event) -> Bool { sink.push(event) }
}

extension Pad {
  /// Makes a decoder downstream output all its pictures, without ending the stream.
  func drainPeer() {
    push(.stillFrame(true))
    push(.stillFrame(false))
  }
}
