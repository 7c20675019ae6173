// SPDX-License-Identifier: MPL-2.0

internal import Dispatch
internal import Glibc
internal import Synchronization

/// Notifies waiting tasks of changed files in a set of folders (inotify).
final class FolderWatch: Sendable {
  private struct State {
    /// Number of changes so far.
    var generation: UInt64 = 0
    var waiting: [UInt64: CheckedContinuation<Void, Never>] = [:]
    var nextID: UInt64 = 0
  }

  private let state = Mutex(State())
  private let descriptor: Int32
  nonisolated(unsafe) private let source: (any DispatchSourceRead)?

  /// Maximum wait before files are checked again, as some file systems do not report changes.
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

  /// Starts watching a folder, unless it is already watched.
  func watch(_ folder: String) {
    guard descriptor >= 0 else { return }
    _ = inotify_add_watch(descriptor, folder, UInt32(IN_MOVED_TO | IN_CLOSE_WRITE))
  }

  var generation: UInt64 { state.withLock { $0.generation } }

  /// Waits for a change since `generation`, or for a time after which the files should be checked
  /// again.
  ///
  /// - Returns: false if the deadline has passed or the task is cancelled.
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

  /// Discards the events: waiting tasks check their files themselves.
  private static func drain(_ descriptor: Int32) {
    withUnsafeTemporaryAllocation(byteCount: 8192, alignment: 8) {
      while read(descriptor, $0.baseAddress, $0.count) > 0 {}
    }
  }
}
