// SPDX-License-Identifier: MPL-2.0

import GStreamer
import StereoVideo

/// When data comes from a source, by the clock of the pipeline.
struct Arrival {
  /// Current running time; nil without a clock.
  let time: RunningTime?
  /// Whether the source is live. It asks upstream.
  let isLive: () -> Bool

  /// Whether data of this running time has come from a live source so long before that time that
  /// the clock of the source must have jumped.
  func isEarly(_ time: RunningTime, by limit: RunningTime = TimestampMender.farthest) -> Bool {
    guard let now = self.time, time - now >= limit else { return false }
    return isLive()
  }

  /// Returns for how long a live source has given nothing; 0 for less than a second.
  func silence(since last: RunningTime?) -> RunningTime {
    guard let time, let last, time - last >= RunningTime(clamping: .second), isLive() else {
      return 0
    }
    return time - last
  }
}

extension AggregatorPad {
  /// When the pad's next data comes: now.
  var arrival: Arrival {
    Arrival(
      time: currentRunningTime.map(RunningTime.init(clamping:)),
      isLive: { self.peerLatency?.isLive ?? false })
  }
}
