// SPDX-License-Identifier: MPL-2.0

import GStreamer
package import StereoVideo

/// Keeps the coded pictures of two live eyes in step.
///
/// Later pictures refer to one that was lost on the way, so that both eyes are left out from there
/// up to keyframes of both at one time, with those pictures after them that are shown before them:
/// these may refer to what is missing (H.265 3.136, RASL pictures).
package struct CodedPairs {
  /// The next coded picture of an eye.
  package struct Picture {
    /// Running time; nil if unknown.
    let time: RunningTime?
    let isKeyframe: Bool

    package init(time: RunningTime?, isKeyframe: Bool) {
      (self.time, self.isKeyframe) = (time, isKeyframe)
    }
  }

  package enum Decision: Equatable {
    case pair
    /// The next pictures of these eyes are left out.
    case drop([Eye])
  }

  private enum State {
    case whole
    /// Up to the next keyframes.
    case lost
    /// After keyframes shown at this time, up to the first pictures that are shown after them.
    case leading(RunningTime)
  }

  private var state = State.whole
  private(set) var lostCount = 0

  package init() {}

  /// Whether pictures are being left out.
  package var isLost: Bool { if case .lost = state { true } else { false } }

  /// Notes that a picture has been dropped.
  package mutating func lose() {
    guard !isLost else { return }
    lostCount += 1
    state = .lost
  }

  /// Decides what to do with the next pictures, which do or do not have the same time.
  package mutating func decide(
    _ paired: PairedFrames.Decision, left: Picture, right: Picture
  ) -> Decision {
    if case .leading(let start) = state {
      let early = [(Eye.left, left), (.right, right)].filter {
        $0.1.time.map { $0 < start } ?? false
      }
      // The times of a keyframe may have jumped.
      let isOver = left.isKeyframe || right.isKeyframe
      guard early.isEmpty || isOver else { return .drop(early.map(\.0)) }
      state = .whole
    }
    switch paired {
    case .drop(let eye):
      lose()
      return .drop([eye])
    case .pair where !isLost: return .pair
    case .pair where left.isKeyframe && right.isKeyframe:
      state = .leading(max(left.time ?? .min, right.time ?? .min))
      return .pair
    case .pair: return .drop([.left, .right])
    }
  }
}
