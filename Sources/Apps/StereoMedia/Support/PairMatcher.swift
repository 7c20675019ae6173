// SPDX-License-Identifier: MPL-2.0

internal import GStreamer

/// Pairs samples of the eyes by their times. The eyes may arrive one after the other or from
/// different threads.
package struct PairMatcher<Sample> {
  private var waiting: [[(time: ClockTime, sample: Sample)]]
  /// Number of samples that were dropped without a partner.
  package private(set) var unpairedCount = 0

  /// Maximum number of samples that wait for each eye; older ones are dropped.
  private static var limit: Int { 3 }

  package init(eyeCount: Int) {
    waiting = Array(repeating: [], count: eyeCount)
  }

  /// Adds the next sample of an eye; returns one sample of each eye if this one completes a pair.
  package mutating func add(_ sample: Sample, at time: ClockTime, of eye: Int) -> [Sample]? {
    waiting[eye].append((time, sample))
    let places = waiting.map { samples in samples.firstIndex { $0.time == time } }
    guard !places.contains(nil) else {
      if waiting[eye].count > Self.limit { drop(1, of: eye) }
      return nil
    }
    return places.enumerated().compactMap { eye, place in
      guard let place else { return nil }
      drop(place, of: eye)
      return waiting[eye].removeFirst().sample
    }
  }

  /// Returns whether samples of an eye wait for their partners.
  func isWaiting(_ eye: Int) -> Bool { !waiting[eye].isEmpty }

  /// Drops all waiting samples.
  package mutating func clear() {
    for eye in waiting.indices { waiting[eye] = [] }
  }

  private mutating func drop(_ count: Int, of eye: Int) {
    waiting[eye].removeFirst(count)
    unpairedCount += count
  }
}
