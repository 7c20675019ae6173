// SPDX-License-Identifier: MPL-2.0

internal import CGStreamer

/// The state of an element's streaming thread, with exclusive access.
///
/// One call at a time has the state. A call from another thread waits, as for a pad's stream lock,
/// which such calls hold anyway. A call that re-enters the element from within another one (because
/// downstream seeks, or upstream flushes, in the pushing thread) finds the state taken.
final class StreamingSlot<State>: @unchecked Sendable {
  private let lock: UnsafeMutablePointer<GRecMutex>
  /// The state is modified in place: it can be large, and moving it into every call and back would
  /// cost more than the call itself.
  private var state: UnsafeMutablePointer<State>?
  private var isTaken = false
  /// Calls that have re-entered the element, to be run after the current call.
  private var deferred: [(inout State) -> Void] = []
  /// Whether `deferred` has any. This flag is cheaper to read on every call than the array, whose
  /// element type is only known at run time.
  private var hasDeferred = false

  init() {
    lock = .allocate(capacity: 1)
    lock.initialize(to: GRecMutex())
    g_rec_mutex_init(lock)
  }

  deinit {
    _ = takeState()
    g_rec_mutex_clear(lock)
    lock.deallocate()
  }

  func begin(with state: consuming State) {
    g_rec_mutex_lock(lock)
    defer { g_rec_mutex_unlock(lock) }
    guard !isTaken else { return }
    _ = takeState()
    self.state = Self.box(state)
  }

  /// Removes and returns the state, after waiting for calls in other threads; nil if there is none.
  func end() -> State? {
    g_rec_mutex_lock(lock)
    defer { g_rec_mutex_unlock(lock) }
    return isTaken ? nil : takeState()
  }

  private static func box(_ state: consuming State) -> UnsafeMutablePointer<State> {
    let box = UnsafeMutablePointer<State>.allocate(capacity: 1)
    box.initialize(to: state)
    return box
  }

  private func takeState() -> State? {
    guard let box = state.take() else { return nil }
    defer { box.deallocate() }
    return box.move()
  }

  /// Calls `body` unless a thread has the state. Other threads wait in the meantime.
  func whileIdle(_ body: () -> Void) {
    guard g_rec_mutex_trylock(lock) != 0 else { return }
    defer { g_rec_mutex_unlock(lock) }
    if !isTaken { body() }
  }

  /// Calls `body` with the state; throws `.flushing` between `end` and `begin`, and when
  /// re-entered.
  func call<Result: ~Copyable>(_ body: (inout State) throws -> Result) throws -> Result {
    var hasRunDeferred = false
    return try call(hasRunDeferred: &hasRunDeferred, body)
  }

  /// As ``call(_:)``.
  ///
  /// - Parameter hasRunDeferred: Set to true if calls that re-entered the element have been run
  ///   after `body`.
  func call<Result: ~Copyable>(
    hasRunDeferred: inout Bool, _ body: (inout State) throws -> Result
  ) throws -> Result {
    g_rec_mutex_lock(lock)
    defer { g_rec_mutex_unlock(lock) }
    guard let state, !isTaken else { throw FlowReturn.flushing }
    isTaken = true
    defer {
      while hasDeferred {
        hasRunDeferred = true
        let next = deferred.removeFirst()
        hasDeferred = !deferred.isEmpty
        next(&state.pointee)
      }
      isTaken = false
    }
    return try body(&state.pointee)
  }

  /// Calls `body` with the state for a serialized event. When re-entered, `body` is called after
  /// the current call instead, `failed` receives any error, and the event counts as handled.
  func callOrDefer(
    _ body: @escaping (inout State) throws -> Bool, failed: @escaping (any Error) -> Void
  ) throws -> Bool {
    g_rec_mutex_lock(lock)
    defer { g_rec_mutex_unlock(lock) }
    guard isTaken else { return try call(body) }
    hasDeferred = true
    deferred.append { state in
      do {
        _ = try body(&state)
      } catch {
        failed(error)
      }
    }
    return true
  }

  /// Puts the state back while `body` runs, which re-enters the element.
  func lend<Result>(_ taken: inout State, during body: () -> Result) -> Result {
    let own = state
    state = Self.box(taken)
    isTaken = false
    defer {
      if let returned = takeState() { taken = returned }
      state = own
      isTaken = true
    }
    return body()
  }
}
