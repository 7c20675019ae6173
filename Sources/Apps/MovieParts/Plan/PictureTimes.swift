// SPDX-License-Identifier: MPL-2.0

package import StereoVideo

/// The stream times of all pictures of a movie, in the order in which they are shown.
package struct PictureTimes: Equatable, Sendable {
  /// Rising, in nanoseconds.
  package let times: [UInt64]
  /// The difference of running time and stream time, which audio is placed by.
  package let runningTimeShift: Int64

  /// - Throws: a ``PartError`` if there are no pictures, or if their times do not rise.
  package init(_ times: [ClockTime], runningTimeShift: Int64, of path: String) throws(PartError) {
    let times = times.map(\.nanoseconds)
    guard !times.isEmpty else { throw PartError(.final, "'\(path)' has no pictures") }
    for (index, pair) in zip(times, times.dropFirst()).enumerated() where pair.0 >= pair.1 {
      throw PartError(
        .final,
        "'\(path)' cannot be converted in parts: its picture \(index + 1) has the same time as the "
          + "one before it",
        help: "remux it to MP4 or Matroska, or convert it in one piece, without --work")
    }
    (self.times, self.runningTimeShift) = (times, runningTimeShift)
  }

  /// Returns the times that two movies have, one for each eye, without what only one of them has
  /// at its end.
  ///
  /// - Parameter path: the path of the other movie.
  /// - Throws: a ``PartError`` if the times of a picture differ by more than `picturerange` allows.
  package func shared(with other: PictureTimes, of path: String) throws(PartError) -> PictureTimes {
    let pairs = zip(times, other.times)
    if let place = pairs.enumerated().first(where: {
      max($0.element.0, $0.element.1) - min($0.element.0, $0.element.1) > Self.tolerance
    }) {
      func seconds(_ time: UInt64) -> Double { Double(time / 1000) / 1e6 }
      throw PartError(
        .final,
        "the eyes' movies cannot be converted in parts: picture \(place.offset) is at "
          + "\(seconds(place.element.0)) s, and that of '\(path)' at "
          + "\(seconds(place.element.1)) s", help: "convert them in one piece, without --work")
    }
    let count = min(times.count, other.times.count)
    return PictureTimes(Array(times[..<count]), runningTimeShift)
  }

  /// As of `picturerange`, in nanoseconds.
  private static let tolerance: UInt64 = 100_000

  private init(_ times: [UInt64], _ shift: Int64) {
    (self.times, runningTimeShift) = (times, shift)
  }

  /// Reads the bytes of a list.
  ///
  /// - Returns: nil if they are not 8 for each picture, or if the times do not rise.
  package init?(_ bytes: [UInt8], runningTimeShift: Int64) {
    guard !bytes.isEmpty, bytes.count.isMultiple(of: 8) else { return nil }
    var times: [UInt64] = []
    times.reserveCapacity(bytes.count / 8)
    for start in stride(from: 0, to: bytes.count, by: 8) {
      let time = bytes[start..<start + 8].reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
      guard times.last.map({ $0 < time }) ?? true, time < 1 << 62 else { return nil }
      times.append(time)
    }
    (self.times, self.runningTimeShift) = (times, runningTimeShift)
  }

  /// The bytes of the list, as `picturerange` reads them.
  package var bytes: [UInt8] {
    times.flatMap { time in (0..<8).map { UInt8(truncatingIfNeeded: time >> (8 * UInt64($0))) } }
  }

  /// The average number of pictures in a second; nil if there is only one.
  package var rate: Double? {
    guard let first = times.first, let last = times.last, last > first else { return nil }
    return Double(times.count - 1) * 1e9 / Double(last - first)
  }

  /// Returns the number of the first picture at or after a time.
  package func first(from time: UInt64) -> Int {
    var (low, high) = (0, times.count)
    while low < high {
      let middle = low + (high - low) / 2
      if times[middle] < time { low = middle + 1 } else { high = middle }
    }
    return low
  }
}
