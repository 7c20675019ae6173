// SPDX-License-Identifier: MPL-2.0

/// Gives coded pictures their timestamps back, and a decoding time each.
///
/// With reorder depth d, and t the input's timestamps, which rise strictly, the picture at place n
/// of the coding order decodes at
/// - t[n - d], from n = d on;
/// - t[n] - (t[d] - t[0]) before that: the first d pictures decode before the first timestamp.
///   A stream of d pictures or fewer takes its last timestamp for t[d].
///
/// These times rise strictly, and none is after its picture's own time, however irregular the input.
package struct Timeline {
  private let reorderDepth: Int64
  /// Those of frame `firstFrame` and of all after it.
  private var timestamps: [Int64] = []
  private var firstFrame: Int64 = 0
  private var latest: Int64?
  /// The place of the next coded picture in coding order.
  private var place: Int64 = 0
  /// t[d] - t[0].
  private var lead: Int64 = 0

  package init(reorderDepth: Int) {
    self.reorderDepth = Int64(reorderDepth)
  }

  /// The number, in display order, of the next picture that `append` takes.
  package var nextFrame: Int64 { firstFrame + Int64(timestamps.count) }

  /// Throws where `timestamp` does not come after the one before it.
  package func check(_ timestamp: Int64) throws(StereoEncoderError) {
    if let latest, timestamp <= latest {
      throw .timestamp(previous: latest, given: timestamp)
    }
  }

  /// Takes a timestamp that passes `check`.
  package mutating func append(_ timestamp: Int64) {
    timestamps.append(timestamp)
    latest = timestamp
  }

  /// The times of the next picture in coding order, which is picture `frame` in display order; nil
  /// where no such picture was put in, or it comes too late.
  package mutating func next(frame: Int64) -> (presentation: Int64, decoding: Int64)? {
    if place == 0, let first = timestamps.first,
      let last = timestamps.prefix(Int(reorderDepth) + 1).last
    {
      lead = last &- first
    }
    guard let presentation = timestamp(of: frame), let inOrder = timestamp(of: place) else {
      return nil
    }
    let decoding = place < reorderDepth ? inOrder &- lead : timestamp(of: place - reorderDepth)
    guard let decoding else { return nil }
    place += 1
    // No later picture is further back than the reorder depth.
    let unneeded = min(max(place - reorderDepth - firstFrame, 0), Int64(timestamps.count))
    timestamps.removeFirst(Int(unneeded))
    firstFrame += unneeded
    return (presentation, decoding)
  }

  private func timestamp(of frame: Int64) -> Int64? {
    let index = frame - firstFrame
    guard index >= 0, index < timestamps.count else { return nil }
    return timestamps[Int(index)]
  }
}
