// SPDX-License-Identifier: MPL-2.0

internal import GStreamer

/// A segment of an HLS stream that a run has written.
public struct RunSegment: Sendable {
  /// The name of the rendition.
  public let rendition: String
  /// The path of the file, as the sink knows it.
  public let location: String
  /// The start, in the running time of the pipeline.
  public let start: Duration
  /// The duration.
  public let duration: Duration
  /// Size in bytes.
  public let bytes: UInt64
}

extension PipelineRun.Event {
  /// The event of an element's message; nil for all others.
  init?(_ message: StructureView) {
    func number(_ field: String) -> UInt64? {
      if case .uint64(let number)? = message[field] { number } else { nil }
    }
    switch message.name {
    case "hls-segment-added":
      guard let rendition = message.string("rendition"), let location = message.string("location"),
        let start = number("running-time"), let duration = number("duration")
      else { return nil }
      self = .segment(
        RunSegment(
          rendition: rendition, location: location,
          start: .nanoseconds(Int64(clamping: start)),
          duration: .nanoseconds(Int64(clamping: duration)), bytes: number("size") ?? 0))
    case "hls-pad-silent":
      guard let pad = message.string("pad"), let isSilent = message.bool("silent") else {
        return nil
      }
      self = .silence(pad: pad, isSilent: isSilent)
    default: return nil
    }
  }
}
