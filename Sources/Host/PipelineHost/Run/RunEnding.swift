// SPDX-License-Identifier: MPL-2.0

/// How a run that was stopped or has failed comes to its end: its sources are told to end the
/// stream; where that does not get through, its muxers and sinks are; and where that does not help
/// either, the run ends without.
struct RunEnding {
  enum Reason {
    case stopped
    case failed(RunFailure)
  }

  enum Step {
    /// The stream ends behind the sources, which take no word because the graph has not started.
    case endBehindSources
    /// The stream ends at the muxers' inputs that nothing comes to, so that the others go on.
    case endWhereNothingComes
    /// The stream ends at the muxers, without what is held up before them.
    case endAtMuxers
    case giveUp
  }

  private(set) var reason: Reason
  /// How many steps have been taken.
  private var step = 0
  /// In seconds.
  private var rest = 0.0
  private var standstill = 0.0
  private var elapsed = 0.0
  private var hasEndedBehindSources = false

  /// An encoder that looks far ahead works for long before anything comes out of it.
  private static let longPatience = 60.0
  /// How long a graph has to start before its sources can be told to end, in seconds.
  private static let startPatience = 0.8

  /// How long what has come through may be worked off where an input hangs, in seconds.
  private static let hangPatience = 2.6

  init(_ reason: Reason) {
    self.reason = reason
  }

  /// The stream did not end by itself.
  var isCut: Bool { step > 0 }

  /// How long nothing may happen before each step, in seconds. What was stopped is to be finished
  /// within five seconds even where its input hangs.
  private var patience: [(Step, Double)] {
    var (first, second, last) = (1.2, 0.8, 1.2)
    if case .failed(let failure) = reason {
      switch failure.kind {
      case .frozen: first = 0
      case .aborted: (first, second, last) = (0, 0, 0.8)
      case .wouldOverwrite, .notBuilt, .failed: first = 0.4
      }
    }
    return [(.endWhereNothingComes, first), (.endAtMuxers, second), (.giveUp, last)]
  }

  /// The first failure is the one to be told.
  mutating func fail(_ failure: RunFailure) {
    if case .failed(let first) = reason, first.kind == .aborted || failure.kind != .aborted {
      return
    }
    reason = .failed(failure)
    (rest, standstill) = (0, 0)
  }

  /// What is to be done next, after `interval` seconds more.
  ///
  /// - Parameter hasTold: whether the sources have been told.
  mutating func next(_ state: Activity.State, interval: Double, hasTold: Bool) -> Step? {
    elapsed += interval
    if !hasTold, !hasEndedBehindSources, elapsed >= Self.startPatience {
      hasEndedBehindSources = true
      return .endBehindSources
    }
    if case .stopped = reason, hasEndedBehindSources || isCut, step < 2,
      elapsed >= Self.hangPatience
    {
      (rest, standstill, step) = (0, 0, 2)
      return .endAtMuxers
    }
    standstill = state == .moves ? 0 : standstill + interval
    rest = state == .rests ? rest + interval : 0
    let (next, patience) = patience[min(step, 2)]
    guard rest >= patience || standstill >= Self.longPatience else { return nil }
    (rest, standstill) = (0, 0)
    step += 1
    return next
  }
}
