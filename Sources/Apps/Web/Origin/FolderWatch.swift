// SPDX-License-Identifier: MPL-2.0

internal import Dispatch
internal import Glibc
internal import Synchronization

/// Tells when files of some folders have got new content.
final class FolderWatch: Sendable {
  private struct State {
    /// How many times something has changed.
    var generation: UInt64 = 0
    var waiting: [UInt64: CheckedContinuation<Void, Never>] = [:]
    var nextID: UInt64 = 0
  }

  private let state = Mutex(State())
  private let descriptor: Int32
  nonisolated(unsafe) private let source: (any DispatchSourceRead)?

  /// The longest wait for news, since not all file systems tell any.
  private static let pause = Duration.milliseconds(250)

  init() {
    let descriptor = inotify_init1(Int32(IN_NONBLOCK | IN_CLOEXEC))
    self.descriptor = descriptor
    source = descriptor < 0 ? nil : DispatchSource.makeReadSource(fileDescriptor: descriptor)
    source?.setEventHandler { [weak self] in
      Self.drain(descriptor)
      self?.tell()
    }
    source?.setCancelHandler { close(descriptor) }
    source?.resume()
  }

  deinit { source?.cancel() }

  /// Watches a folder from now on, if it is not watched already.
  func watch(_ folder: String) {
    guard descriptor >= 0 else { return }
    _ = inotify_add_watch(descriptor, folder, UInt32(IN_MOVED_TO | IN_CLOSE_WRITE))
  }

  var generation: UInt64 { state.withLock { $0.generation } }

  /// Waits until something has changed since `generation` was that, or may have.
  ///
  /// - Returns: false when the time is over.
  func change(since generation: UInt64, until deadline: ContinuousClock.Instant) async -> Bool {
    guard ContinuousClock.now < deadline, !Task.isCancelled else { return false }
    let limit = min(deadline, .now + Self.pause)
    await withTaskGroup(of: Void.self) { group in
      group.addTask { await self.wait(since: generation) }
      group.addTask { try? await Task.sleep(until: limit, clock: .continuous) }
      await group.next()
      group.cancelAll()
    }
    return !Task.isCancelled
  }

  private func wait(since generation: UInt64) async {
    let id = state.withLock { state in
      state.nextID += 1
      return state.nextID
    }
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let isOver = state.withLock { state in
          guard state.generation == generation, !Task.isCancelled else { return true }
          state.waiting[id] = continuation
          return false
        }
        if isOver { continuation.resume() }
      }
    } onCancel: {
      state.withLock { $0.waiting.removeValue(forKey: id) }?.resume()
    }
  }

  private func tell() {
    let waiting = state.withLock { state in
      state.generation += 1
      defer { state.waiting = [:] }
      return state.waiting
    }
    for continuation in waiting.values { continuation.resume() }
  }

  /// What happened where is of no interest: who waits, looks.
  private static func drain(_ descriptor: Int32) {
    withUnsafeTemporaryAllocation(byteCount: 8192, alignment: 8) {
      while read(descriptor, $0.baseAddress, $0.count) > 0 {}
    }
  }
}
