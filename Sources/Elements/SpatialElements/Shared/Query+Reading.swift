// SPDX-License-Identifier: MPL-2.0

import GStreamer

extension Query {
  /// Answers the CAPS, ACCEPT_CAPS and ALLOCATION queries on a sink pad of an element that reads
  /// frames in place. Returns false for any other query.
  ///
  /// - Parameters:
  ///   - all: all caps that the pad accepts.
  ///   - possible: the caps that it accepts in its current state.
  ///   - held: number of frames kept while the next ones arrive. A source with few buffers, such as
  ///     a camera, starves unless its pool has that many more.
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
