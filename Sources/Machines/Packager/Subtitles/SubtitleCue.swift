// SPDX-License-Identifier: MPL-2.0

/// A text of a subtitle rendition with its times, in nanoseconds on the presentation's timeline.
public struct SubtitleCue: Equatable, Sendable {
  /// The time from which it is shown.
  public var start: Int64
  /// The time until which it is shown.
  public var end: Int64
  /// The text, one or more lines in WebVTT's syntax; see ``WebVTT``.
  public var text: String
  /// The settings of the cue in WebVTT's syntax, such as `line:10%`; empty for none.
  public var settings: String

  /// Creates a cue.
  public init(start: Int64, end: Int64, text: String, settings: String = "") {
    (self.start, self.end, self.text, self.settings) = (start, end, text, settings)
  }

  /// Whether any of it is shown between two times.
  func isShown(from time: Int64, to end: Int64) -> Bool { start < end && self.end > time }
}

/// The cues of a subtitle rendition that may be shown in the open segment or later.
struct PendingCues: Sendable {
  /// A cue with a number, which tells it apart from others with the same text.
  typealias Numbered = (number: Int32, cue: SubtitleCue)

  /// In the order of their starts.
  private var cues: [Numbered] = []
  private var count: Int32 = 0
  /// Time up to which all cues have come, in nanoseconds.
  private(set) var reached = Int64.min

  /// Maximum number of cues that are kept: no viewer reads more at a time.
  private static var capacity: Int { 1000 }

  /// Adds a cue, whose start all earlier ones have come before.
  mutating func append(_ cue: SubtitleCue) {
    reach(cue.start)
    guard cue.end > cue.start, !cue.text.isEmpty else { return }
    count = count &+ 1
    let place = cues.lastIndex { $0.cue.start <= cue.start }.map { $0 + 1 } ?? 0
    cues.insert((count, cue), at: place)
    if cues.count > Self.capacity { cues.removeFirst() }
  }

  /// Notes that all cues up to a time have come.
  mutating func reach(_ time: Int64) { reached = max(reached, time) }

  /// Forgets the cues that end before a time.
  mutating func remove(before time: Int64) { cues.removeAll { $0.cue.end <= time } }

  /// Returns the cues that are shown at some time between two times.
  func shown(from time: Int64, to end: Int64) -> [SubtitleCue] {
    cues.map(\.cue).filter { $0.isShown(from: time, to: end) }
  }

  /// Returns the periods between two times in which the same cues are shown, without gaps: the
  /// samples of a track.
  func states(from time: Int64, to end: Int64) -> [(time: Int64, cues: [Numbered])] {
    let shown = cues.filter { $0.cue.isShown(from: time, to: end) }
    let changes = shown.flatMap { [$0.cue.start, $0.cue.end] }.filter { $0 > time && $0 < end }
    return ([time] + Set(changes).sorted()).map { change in
      (change, shown.filter { $0.cue.start <= change && $0.cue.end > change })
    }
  }
}
