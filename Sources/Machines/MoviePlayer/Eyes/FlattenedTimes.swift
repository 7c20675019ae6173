// SPDX-License-Identifier: MPL-2.0

/// When the pictures of a flattened eye are decoded and shown.
///
/// A picture of the eye is decoded up to sixteen access units later than the base picture of its own
/// access unit, and yet not after it is shown. So either all timestamps of the stream are moved to
/// later ones, its segments with them, or pictures are decoded earlier than their access units say.
/// Decode times rise strictly, and no two pictures behind each other have one presentation time:
/// parsers take such for one picture.
struct FlattenedTimes: Sendable {
  /// A dependent picture waits for fewer access units than there are picture buffers.
  private static let longestWait: Nanoseconds = 16
  /// The frame duration where nothing says one.
  private static let usualFrame = Nanoseconds.second / 25

  private var last: Nanoseconds?
  private var frame = Self.usualFrame

  /// By how much later the timestamps of a flattened stream have to be than those of its access
  /// units, with frames of this duration (nil where it is not known).
  static func shift(frameDuration: Nanoseconds?) -> Nanoseconds {
    let frame = frameDuration.flatMap { $0 > 0 ? $0 : nil } ?? usualFrame
    return min(frame, .second) * longestWait
  }

  /// Decode times of pictures that are coded one behind the other.
  ///
  /// - Parameters:
  ///   - pictures: the access units that they are of.
  ///   - base: which of them is the base picture of the access unit `unit`; nil where there is none.
  ///   - shift: by how much the timestamps of the stream are later.
  mutating func decodeTimes(
    of pictures: [LayeredSample], base: Int?, of unit: LayeredSample?, shift: Nanoseconds
  ) -> [Nanoseconds?] {
    if let own = unit?.frameDuration, own > 0 { frame = own }
    let isTimed = unit.map { $0.decodeTime != nil } ?? (last != nil)
    guard isTimed else { return pictures.map { _ in nil } }
    let early = shift > 0 ? 0 : min(frame, .second) * Self.longestWait
    let due = unit?.decodeTime.map { $0 - min($0, early) } ?? last ?? 0
    let before = base ?? 0
    let start = min(last ?? due, due)
    let behind = pictures.count - before
    return pictures.enumerated().map { index, picture in
      var time = due
      if index < before {
        time = start + (due - start) / Nanoseconds(before + 1) * Nanoseconds(index + 1)
      } else if base == nil || index > before {
        let step = frame / 2 / Nanoseconds(behind + 1)
        time = saturatingSum(due, step * Nanoseconds(index - before + (base == nil ? 1 : 0)))
      }
      if let shown = picture.presentationTime { time = min(time, saturatingSum(shown, shift)) }
      if let last { time = max(time, saturatingSum(last, 1)) }
      last = time
      return time
    }
  }

  /// Says that the pictures of an access unit were given as they are: what comes later is decoded
  /// later.
  mutating func pass(_ unit: LayeredSample) {
    if let time = unit.decodeTime { last = time }
  }

  /// Whether nothing has come yet.
  var isAtStart: Bool { last == nil }

  /// The time between a picture that is shown and the base picture of its access unit, which is
  /// not: half a frame, but not beyond the end of the segment, where muxers would leave it out. The
  /// very first has the time of the one that is shown, which muxers take for that of the whole stream,
  /// but for a nanosecond: where keyframes alone are in a stream, the two come one behind the other.
  static func distance(
    in unit: LayeredSample, at time: Nanoseconds, before stop: Nanoseconds?, isFirst: Bool
  ) -> Nanoseconds {
    if isFirst { return 1 }
    let half = max((unit.frameDuration ?? 2) / 2, 1)
    guard let stop, stop > time else { return half }
    return max(min(half, (stop - time) / 2), 1)
  }
}
