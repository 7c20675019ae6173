// SPDX-License-Identifier: MPL-2.0

/// The starts of segments, which all renditions share: decides at which keyframes of the leading
/// rendition a segment starts, and numbers those that are still open in some rendition.
///
/// A segment starts at the first keyframe that is at least a segment duration after the previous
/// start, or at an earlier one if the next keyframe would come too late for the target duration
/// that the playlists promise.
struct SegmentStarts: Sendable {
  private let settings: PackagerSettings
  /// The starts of segments that are still open in some rendition, in order.
  private var open: [SegmentStart] = []
  /// The segment number of the first open start.
  private(set) var firstNumber: UInt64 = 0
  /// Latest time of the leading rendition: later segments do not start before it.
  private(set) var frontier = Int64.min
  /// The leading rendition, and its latest keyframe.
  private var leader: Int?
  private var lastSync: Int64?
  /// Time from which the next keyframe starts a discontinuity, because a rendition other than the
  /// leader has changed or come back.
  private var nextDiscontinuity: Int64?
  /// Whether the next keyframe starts a segment, however short the open one is.
  private var isDue = false
  /// Times from which on the next keyframe starts a segment, in order.
  private var cuts: [Int64] = []
  /// Time before which no segment starts, as an earlier leader has got there.
  private var floor = Int64.min
  /// The number of the key of segments that start from now on.
  private(set) var key = 0
  /// Times at which encoders should make keyframes.
  private var requests: [Int64] = []
  /// The time of the last keyframe that was requested for the next segment.
  private var awaited = Int64.max
  /// How long after its time a keyframe is requested again, in nanoseconds: its source has made it,
  /// but its times have stepped back since.
  private static let patience: Int64 = 1_000_000_000

  init(_ settings: PackagerSettings) { self.settings = settings }

  /// Continues with a segment number, before the first start.
  mutating func begin(with number: UInt64) { firstNumber = number }

  /// The time at which the latest segment starts; nil before the first.
  var last: Int64? { open.last?.time }

  /// Number of segments that have started and that are open in some rendition.
  var count: Int { open.count }

  subscript(position: Int) -> SegmentStart { open[position] }

  /// Returns the position of an open segment; nil if it has not started.
  func position(of number: UInt64) -> Int? {
    guard number >= firstNumber else { return nil }
    let position = Int(clamping: number - firstNumber)
    return position < open.count ? position : nil
  }

  /// Whether a discontinuity starts at a time or later.
  func hasDiscontinuity(from time: Int64) -> Bool {
    open.contains { $0.startsDiscontinuity && $0.time >= time }
  }

  /// Whether a discontinuity starts after the segment with this number.
  func hasDiscontinuity(after number: UInt64) -> Bool {
    open.dropFirst((position(of: number) ?? -1) + 1).contains { $0.startsDiscontinuity }
  }

  /// Forgets the first open segment, which all renditions have closed.
  mutating func removeFirst() {
    open.removeFirst()
    firstNumber += 1
  }

  /// Returns the times at which keyframes are to be requested, and forgets them.
  mutating func takeRequests() -> [Int64] {
    defer { requests = [] }
    return requests
  }

  /// Encrypts the segments that start from now on by another key, and returns its number.
  mutating func changeKey() -> Int {
    key += 1
    return key
  }

  // MARK: Deciding

  /// Makes the leader's next keyframe from this time on start a discontinuity.
  mutating func startDiscontinuity(from time: Int64) {
    nextDiscontinuity = nextDiscontinuity ?? time
  }

  /// Makes the first keyframe from a time on start a segment, and asks encoders for one there.
  mutating func cut(at time: Int64) {
    guard last.map({ time > $0 &+ 1_000_000 }) ?? true, cuts.count < 1000 else { return }
    cuts.insert(time, at: cuts.firstIndex { $0 > time } ?? cuts.endIndex)
    if settings.requestsKeyframes { requests.append(time) }
  }

  /// Makes the next keyframe start a segment, after all that the leader has given: another one is
  /// to lead.
  mutating func endSegmentSoon() {
    floor = frontier
    isDue = true
  }

  /// Takes the times of a sample of the leading rendition.
  ///
  /// - Parameters:
  ///   - leader: the rendition.
  ///   - isChange: whether the format changes with the sample.
  ///   - isRest: whether the rendition only leads because others have ended. It does not get
  ///     another segment for outlasting them a little.
  mutating func lead(
    _ time: Int64, isSync: Bool, leader: Int, isChange: Bool = false, isRest: Bool = false
  ) {
    defer {
      frontier = max(frontier, time)
      requestAgain(at: time)
    }
    if leader != self.leader { (self.leader, lastSync) = (leader, nil) }
    defer { if isSync { lastSync = time } }
    guard var last else { return start(at: time) }
    guard isSync else { return }
    guard time > last, time > floor else { return }
    // Times of renditions from one source may differ by rounding.
    if isChange || nextDiscontinuity.map({ time >= $0 &- 1_000_000 }) ?? false {
      nextDiscontinuity = nil
      return start(at: time, isDiscontinuity: true)
    }
    let half: Int64 = 500_000_000
    let limit = settings.target &+ half
    // The segment would have had to end at the keyframe before. Where there are parts, those after
    // it may be listed already.
    if let lastSync, lastSync > last, time &- last >= limit, settings.partDuration == 0 {
      start(at: lastSync)
      last = lastSync
    }
    let next = time &+ (time &- (lastSync ?? time))
    let wished = settings.segment + (isRest ? half * 4 / 5 : -1_000_000)
    let isCut = cuts.first.map { time >= $0 &- 1_000_000 } ?? false
    if isDue || isCut || time &- last >= wished || next &- last >= limit { start(at: time) }
  }

  /// Starts segments up to a time at which no rendition gives anything.
  mutating func pass(to time: Int64) {
    guard let last else { return }
    frontier = max(frontier, time)
    if isDue, time > last { return start(at: time) }
    // A clock that jumps must not cost more than a while.
    var next = last &+ settings.target
    for _ in 0..<100 where next <= time {
      start(at: next)
      next = next &+ settings.target
    }
  }

  private mutating func start(at time: Int64, isDiscontinuity: Bool = false) {
    isDue = false
    cuts.removeAll { $0 <= time &+ 1_000_000 }
    // Key systems expect another key with another initialization section; manifests, in a period.
    let isNewKey = open.last.map { $0.key != key } ?? false
    open.append(
      SegmentStart(time: time, startsDiscontinuity: isDiscontinuity || isNewKey, key: key))
    awaited = time &+ settings.segment
    if settings.requestsKeyframes { requests.append(awaited) }
  }

  /// Requests a keyframe again if the one for the next segment has not come.
  private mutating func requestAgain(at time: Int64) {
    guard settings.requestsKeyframes, time &- Self.patience >= awaited, awaited < time else {
      return
    }
    awaited = time
    requests.append(time)
  }
}

/// The common start of a segment in all renditions.
struct SegmentStart: Equatable, Sendable {
  /// Presentation time in nanoseconds.
  var time: Int64
  /// Whether the format of a rendition or the key changes here, or a rendition comes back.
  var startsDiscontinuity = false
  /// The number of the key.
  var key = 0
}
