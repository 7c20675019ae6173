// SPDX-License-Identifier: MPL-2.0

import GStreamer

extension Query {
  /// Answers what a sink pad answers by itself whose element reads frames where they lie: CAPS,
  /// ACCEPT_CAPS and ALLOCATION. False for any other query.
  ///
  /// - Parameters:
  ///   - all: every caps that the pad takes.
  ///   - possible: those that it takes as things are.
  ///   - held: how many frames may be kept while the next ones come. A source with few buffers, such
  ///     as a camera, starves unless its pool has as many more.
  borrowing func answerAsReader(
    of all: Caps, possible: @autoclosure () -> Caps, keeping held: @autoclosure () -> Int = 0
  ) -> Bool {
    switch kind {
    case .caps: answerCaps(possible())
    case .acceptCaps(let caps): answerAcceptCaps(caps.isSubset(of: all))
    case .allocation(let caps):
      offerVideoMeta()
      if let caps { requireFrames(held(), caps) }
    default: return false
    }
    return true
  }
}
