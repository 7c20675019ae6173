// SPDX-License-Identifier: MPL-2.0

import GStreamer
import TestKit

/// What peers, applications and streams do to an element that it has to stand.
enum HostileAct: String, CaseIterable, Sendable {
  /// Downstream of each source pad, a seek to the start, mid-stream.
  case seek
  /// A flush mid-stream, and then the end, without another segment.
  case flushThenEnd
  /// A request pad is released, or else the peer of a source pad goes, in mid stream.
  case padGone
  /// One buffer in mid stream has a third of its bytes.
  case shortBuffer
  /// From mid stream on the pictures are of another size, the sound of other channels.
  case capsChange
  /// A tag comes in mid stream.
  case lateTag
  /// A neighbour cannot start, so that the pipeline falls back; then all is well.
  case failedStart
  /// The peers' answers to ALLOCATION lack GstVideoMeta.
  case noVideoMeta
  /// Four play at once, each in a pipeline of its own.
  case fourAtOnce
  /// All of the project's elements have the highest rank.
  case raisedRank
  /// Streams that end before their first buffer.
  case endWithoutData
  /// A gap comes before the segment that it belongs to.
  case gapBeforeSegment
  /// No buffer says when it is shown.
  case noTimestamps
  /// Up to PLAYING and down again twenty times, at any moment of being fed.
  case upAndDown
}

/// What must be seen of an element where it is acted upon.
enum Seen: Sendable {
  /// The end of the stream, with this number of pictures at each source pad or in the file.
  case pictures(Int)
  /// The end of the stream, and no more than all pictures.
  case end
  /// An error of the element's that has this in it, in whatever case.
  case failure(String)
  /// The one or the other: it is a matter of time.
  case endOrFailure(String)
  /// Who feeds the element is told so; the element says nothing.
  case flow(FlowReturn)
}

extension HostileAct {
  static let all = Seen.pictures(HostileActor.pictures)

  /// What must be seen, by the elements' names; an element that is not named cannot be acted upon
  /// so.
  var seen: [String: Seen] {
    switch self {
    case .seek:
      .every(Self.all, ["stereotestsrc": .end, "mvhevchlssink": nil, "mvctsdemux": nil])
    case .failedStart, .noVideoMeta, .fourAtOnce, .upAndDown:
      .every(Self.all, ["stereotestsrc": .end])
    case .raisedRank: .every(Self.all, ["stereotestsrc": .end])
    case .lateTag:
      .every(Self.all, ["stereotestsrc": .end, "mvhevcdemux": nil])
    case .flushThenEnd:
      .every(
        .end,
        ["mvhevcdemux": .failure("ended before"), "mvctsdemux": .failure("no video")])
    case .padGone:
      .every(
        .flow(.notLinked),
        [
          "sbssplit": Self.all, "mvhevcdec": Self.all, "mvhevcdemux": Self.all,
          "mvhevcmux": Self.all, "mvcdec": Self.all, "mvcautodec": .end,
          // A source that has not ended by then can only report to the application.
          "stereotestsrc": .endOrFailure("internal data stream error"),
          // These are at their end before they could notice.
          "mvhevcenc": .end, "mvhevcsbsenc": .end, "mvhevchlssink": .end, "mvcflatten": .end,
          "mvctsdemux": .end,
        ])
    case .shortBuffer:
      .every(
        .failure("small"),
        [
          "stereotestsrc": nil, "stereotagger": Self.all, "picturerange": Self.all,
          "mvhevcdec": .end, "mvhevcdemux": .end,
          "mvhevchlssink": .end, "mvcdec": .end, "mvcautodec": .end, "mvcflatten": .end,
          "mvctsdemux": .end,
        ])
    case .capsChange:
      .every(
        Self.all,
        [
          "stereotestsrc": nil,
          "mvhevcmux": .failure("changed mid-stream"),
        ])
    case .endWithoutData:
      .every(
        .pictures(0),
        [
          "mvhevchlssink": .failure("ended before"),
          "mvhevcenc": .failure("ended before"), "mvhevcsbsenc": .failure("ended before"),
          "mvhevcmux": .failure("ended before"), "mvhevcdemux": .failure("end"),
          "mvctsdemux": .failure("ended before"),
        ])
    case .gapBeforeSegment: .every(Self.all, ["stereotestsrc": nil])
    case .noTimestamps:
      .every(
        Self.all,
        [
          "mvhevchlssink": .failure("timestamp"),
          "stereotestsrc": nil,
          "mvhevcmux": .failure("timestamp"),
        ])
    }
  }
}

extension [String: Seen] {
  /// The same for all elements but some.
  fileprivate static func every(
    _ seen: Seen, _ others: [String: Seen?] = [:]
  ) -> [String: Seen] {
    var table = Dictionary(uniqueKeysWithValues: PluginTests.elements.map { ($0, seen) })
    // Nothing comes out of a sink.
    if case .pictures(let count) = seen, count > 0 {
      table["mvhevchlssink"] = .end
      // Each eye's pictures are pictures of its own.
      table["mvcflatten"] = .pictures(2 * count)
    }
    for (name, other) in others { table[name] = other }
    table["mvhevcautodemux"] = table["mvhevcdemux"]
    table["mvctsautodemux"] = table["mvctsdemux"]
    return table
  }
}
