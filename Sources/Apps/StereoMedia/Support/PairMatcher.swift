// SPDX-License-Identifier: MPL-2.0

internal import GStreamer

/// Brings together what belongs to the same time, of eyes that come one behind the other or in threads of
/// their own.
package struct PairMatcher<Sample> {
  private var waiting: [[(time: ClockTime, sample: Sample)]]
  /// How many found no partner.
  package private(set) var unpairedCount = 0

  /// An eye that is so many ahead of the other one waits no longer.
  private static var limit: Int { 3 }

  package init(eyeCount: Int) {
    waiting = Array(repeating: [], count: eyeCount)
  }

  /// Takes the next sample of an eye; gives one of each eye where this one makes them complete.
  package mutating func add(_ sample: Sample, at time: UInt64, of eye: Int) -> [Sample]? {
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

  /// Whether samples of an eye wait for their partners.
  func isWaiting(_ eye: Int) -> Bool { !waiting[eye].isEmpty }

  /// Forgets all that waits.
  package mutating func clear() {
    for eye in waiting.indices { waiting[eye] = [] }
  }

  private mutating func drop(_ count: Int, of eye: Int) {
    waiting[eye].removeFirst(count)
    unpairedCount += count
  }
}
