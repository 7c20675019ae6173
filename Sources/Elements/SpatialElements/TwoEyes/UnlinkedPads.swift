// SPDX-License-Identifier: MPL-2.0

import GStreamer
import StereoVideo

/// Looks after sink pads that nobody feeds: those that are not linked, or that have only elements
/// before them which are not. GstAggregator would wait for them for ever.
struct UnlinkedPads {
  /// How long links may take that are made while data flows, as those behind a demuxer are.
  private static let patience = ClockTime.second * 5

  private var timer: Timer?

  /// Call it when a stream begins at a pad of the element. Some seconds later, an eye that nobody feeds
  /// is an error, and any other pad is taken for one that has ended.
  mutating func watch(_ element: some AggregatorImplementation) {
    guard timer == nil, !element.unlinkedPads.isEmpty else { return }
    timer = Timer(after: Self.patience, for: element) {
      for pad in element.unlinkedPads {
        guard let eye = Eye(rawValue: pad.name) else {
          element.postWarning(
            ElementError(
              .pad, "Nothing is linked to the pad \(pad.name), so it is taken for ended."))
          pad.end()
          continue
        }
        element.post(
          ElementError(
            .pad,
            "Nothing is linked to the pad of the \(eye) eye; both eyes are needed. Link a source "
              + "of video to the pad \(pad.name)."))
      }
    }
  }
}

extension AggregatorImplementation {
  /// The sink pads that nothing has come to, and nothing can come to.
  fileprivate var unlinkedPads: [AggregatorPad] {
    sinkPads.filter { $0.streamStart == nil && !$0.hasSource }
  }
}
