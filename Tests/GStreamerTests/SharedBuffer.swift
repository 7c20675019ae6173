// SPDX-License-Identifier: MPL-2.0

import GStreamer

// The macros of the tests take copyable values alone.

extension Buffer {
  /// `region(offset:size:)`
  func sharedRegion(offset: Int, size: Int) -> Buffer? {
    shared(region(offset: offset, size: size))
  }

  /// `merged()`
  func sharedMerge() -> Buffer? { shared(merged()) }

  private func shared(_ buffer: consuming UniqueBuffer?) -> Buffer? {
    switch consume buffer {
    case .some(let buffer): Buffer(buffer)
    case .none: nil
    }
  }
}
