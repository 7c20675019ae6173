// SPDX-License-Identifier: MPL-2.0

import GStreamer

extension Query {
  /// Answers what a sink pad answers by itself whose element reads frames where they lie: CAPS,
  /// ACCEPT_CAPS and ALLOCATION. False for any other query.
  ///
  /// - Parameters:
  ///   - all: every caps that the pad takes.
  ///   - possible: those that it takes as things are.
  borrowing func answerAsReader(of all: Caps, possible: @autoclosure () -> Caps) -> Bool {
    switch kind {
    case .caps: answerCaps(possible())
    case .acceptCaps(let caps): answerAcceptCaps(caps.isSubset(of: all))
    case .allocation: offerVideoMeta()
    default: return false
    }
    return true
  }
}
