// SPDX-License-Identifier: MPL-2.0

import GStreamer
import StereoVideo

/// The pictures of a range, by their stream times, and how many of them have come.
struct WantedPictures {
  /// The number of the first picture in the movie.
  let first: Int
  private let times: [ClockTime]
  /// The time of the picture before the first one; nil if there is none.
  private let previous: ClockTime?
  private let tolerance: ClockTime
  /// The number of pictures that have been accepted.
  private(set) var count = 0

  /// The most that is read of a list: more pictures than 40 hours at 120 a second.
  private static let limit = 8 << 24

  /// Reads the times of a range.
  ///
  /// - Parameter count: the number of pictures; 0 for all from the first one on.
  /// - Throws: an ``ElementError`` if the list cannot be read, or does not have these pictures.
  init(path: String, first: UInt32, count: UInt32, tolerance: ClockTime) throws {
    guard let bytes = try SmallFile.bytes(of: path, limit: Self.limit) else {
      throw ElementError(.notFound, "The list of times '\(path)' does not exist.")
    }
    guard bytes.count.isMultiple(of: 8) else {
      throw ElementError(
        .settings,
        "'\(path)' is no list of times: its \(bytes.count) bytes are not 8 for each picture.")
    }
    let available = bytes.count / 8
    let first = Int(first)
    let wanted = count > 0 ? Int(count) : max(1, available - first)
    guard first < available, wanted <= available - first else {
      throw ElementError(
        .settings,
        "'\(path)' has \(available) pictures, so that there are no \(wanted) from picture \(first) "
          + "on.")
    }
    let times = (max(0, first - 1)..<first + wanted).map { picture in
      ClockTime(
        nanoseconds: bytes[picture * 8..<picture * 8 + 8].reversed()
          .reduce(UInt64(0)) { $0 << 8 | UInt64($1) })
    }
    guard zip(times, times.dropFirst()).allSatisfy({ $0 < $1 }) else {
      throw ElementError(.settings, "The times in '\(path)' do not rise from picture to picture.")
    }
    self.first = first
    self.tolerance = tolerance
    previous = first > 0 ? times.first : nil
    self.times = first > 0 ? Array(times.dropFirst()) : times
  }

  /// The stream time to seek to: half a picture before the first one.
  var seekPosition: ClockTime {
    guard let start = times.first, let previous else { return 0 }
    return start - (start - previous) / 2
  }

  /// The time from the first picture of the range to the end of its last one, if that lasts as long
  /// as the one before it.
  var duration: ClockTime {
    guard let start = times.first, let end = times.last else { return 0 }
    let beforeEnd = times.dropLast().last ?? previous
    return end - start + (beforeEnd.map { end - $0 } ?? 0)
  }

  /// Whether all pictures have come.
  var isComplete: Bool { count == times.count }

  /// Whether a picture has come.
  var hasBegun: Bool { count > 0 }

  /// Whether the first picture of the range is at a time.
  func begins(at time: ClockTime) -> Bool {
    guard let start = times.first else { return false }
    return max(time, start) - min(time, start) <= tolerance
  }

  /// Begins again, after a flush.
  mutating func reset() { count = 0 }

  /// Returns whether the next decoded picture is the next of the range; false if it comes before
  /// the range.
  ///
  /// - Throws: an ``ElementError`` if it is neither.
  mutating func accept(_ time: ClockTime) throws -> Bool {
    guard count < times.count else { return false }
    let wanted = times[count]
    if count == 0, time + tolerance < wanted { return false }
    guard max(time, wanted) - min(time, wanted) <= tolerance else {
      throw ElementError(
        .failedStream,
        "Picture \(first + count) is at \(Self.text(time)) where the list of times has "
          + "\(Self.text(wanted)): the demuxer or the decoder lost or doubled pictures, or the "
          + "list is that of another movie.",
        debug: "\(time.nanoseconds) ns, not \(wanted.nanoseconds) ns")
    }
    count += 1
    return true
  }

  /// The error if the stream ends before the range.
  var endedEarly: ElementError {
    let next = count < times.count ? Self.text(times[count]) : "the end"
    return ElementError(
      .failedStream,
      "The movie ends after \(count) of the \(times.count) pictures from picture \(first) on; "
        + "picture \(first + count) at \(next) is missing.")
  }

  private static func text(_ time: ClockTime) -> String {
    let micro = time.nanoseconds / 1000
    let fraction = String(micro % 1_000_000)
    return "\(micro / 1_000_000)."
      + String(repeating: "0", count: 6 - fraction.count) + "\(fraction) s"
  }
}
