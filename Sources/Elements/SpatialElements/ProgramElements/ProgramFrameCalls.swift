// SPDX-License-Identifier: MPL-2.0

import GStreamer

/// The calls of one element: one at a time, for which the streaming thread waits.
final class ProgramFrameCalls<Input>: Sendable {
  /// What became of the input of a call.
  enum Outcome {
    case frame(left: RawEye, right: RawEye)
    /// The function shows nothing.
    case skipped
    /// Nobody waits for it any more.
    case unlocked
  }

  private struct State {
    var isUnlocked = false
    var call: (any ProgramFrameCall)?
  }

  private let begin: ProgramElements.Begin<Input>
  private let state = Locked(State())

  init(_ begin: @escaping ProgramElements.Begin<Input>) {
    self.begin = begin
  }

  func apply(_ input: Input) throws -> Outcome {
    guard !state.current.isUnlocked else { return .unlocked }
    let call = begin(input)
    let isLate = state.withLock { state in
      state.call = call
      return state.isUnlocked
    }
    if isLate { call.giveUp() }
    defer { state.withLock { $0.call = nil } }
    do {
      guard let eyes = try call.wait() else { return .skipped }
      return .frame(left: eyes.left, right: eyes.right)
    } catch {
      guard state.current.isUnlocked else { throw error }
      return .unlocked
    }
  }

  /// Gives up the call under way, and those to come until `unlockStop`.
  func unlock() {
    let call = state.withLock { state in
      state.isUnlocked = true
      return state.call
    }
    call?.giveUp()
  }

  func unlockStop() { state.withLock { $0.isUnlocked = false } }
}
