// SPDX-License-Identifier: MPL-2.0

internal import Synchronization

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Darwin)
  internal import Darwin
#endif

/// Threads that share the work of a frame, and wait between frames.
final class WorkerPool {
  /// Threads that work, the caller's among them.
  let count: Int
  private let shared: Shared
  private var threads: [pthread_t] = []

  /// As many threads as can be had, up to `count`.
  init(_ count: Int) {
    shared = Shared()
    for worker in 1..<max(1, count) {
      var thread = pthread_t(bitPattern: 0)
      let start = Unmanaged.passRetained(Start(shared, worker))
      let result = pthread_create(&thread, nil, workerBody, start.toOpaque())
      guard result == 0 else {
        start.release()
        break
      }
      threads.append(thread)
    }
    self.count = threads.count + 1
  }

  deinit {
    shared.stop()
    for thread in threads { pthread_join(thread, nil) }
  }

  /// Runs `body` once for each of `jobs`, and waits for all of them. The first argument is the
  /// number of the thread, below ``count``; the second that of the job.
  func run(_ jobs: Int, _ body: (Int, Int) -> Void) {
    guard !threads.isEmpty, jobs > 1 else {
      for job in 0..<jobs { body(0, job) }
      return
    }
    withoutActuallyEscaping(body) { body in
      shared.begin(jobs, workers: threads.count, body)
      shared.work(0)
      shared.finish()
    }
  }

  /// What all threads see.
  final class Shared: @unchecked Sendable {
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private let changed: UnsafeMutablePointer<pthread_cond_t>
    /// Guarded by the mutex: which round of work it is, and how many threads are still at it.
    private var round = 0, working = 0, isStopped = false
    /// Written before a round begins and read during it.
    private var jobs = 0
    private var body: ((Int, Int) -> Void)?
    private let next = Atomic<Int>(0)

    init() {
      mutex = .allocate(capacity: 1)
      changed = .allocate(capacity: 1)
      pthread_mutex_init(mutex, nil)
      pthread_cond_init(changed, nil)
    }

    deinit {
      pthread_mutex_destroy(mutex)
      pthread_cond_destroy(changed)
      mutex.deallocate()
      changed.deallocate()
    }

    func begin(_ jobs: Int, workers: Int, _ body: @escaping (Int, Int) -> Void) {
      pthread_mutex_lock(mutex)
      (self.jobs, self.body) = (jobs, body)
      next.store(0, ordering: .relaxed)
      working = workers
      round += 1
      pthread_cond_broadcast(changed)
      pthread_mutex_unlock(mutex)
    }

    func work(_ worker: Int) {
      while case let job = next.wrappingAdd(1, ordering: .relaxed).oldValue, job < jobs {
        body?(worker, job)
      }
    }

    /// Waits for the other threads.
    func finish() {
      pthread_mutex_lock(mutex)
      while working > 0 { pthread_cond_wait(changed, mutex) }
      body = nil
      pthread_mutex_unlock(mutex)
    }

    func stop() {
      pthread_mutex_lock(mutex)
      isStopped = true
      pthread_cond_broadcast(changed)
      pthread_mutex_unlock(mutex)
    }

    func serve(_ worker: Int) {
      var seen = 0
      pthread_mutex_lock(mutex)
      while !isStopped {
        guard round != seen else {
          pthread_cond_wait(changed, mutex)
          continue
        }
        seen = round
        pthread_mutex_unlock(mutex)
        work(worker)
        pthread_mutex_lock(mutex)
        working -= 1
        if working == 0 { pthread_cond_broadcast(changed) }
      }
      pthread_mutex_unlock(mutex)
    }
  }

  final class Start {
    let shared: Shared
    let worker: Int

    init(_ shared: Shared, _ worker: Int) {
      (self.shared, self.worker) = (shared, worker)
    }
  }
}

private func workerBody(_ argument: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
  guard let argument else { return nil }
  let start = Unmanaged<WorkerPool.Start>.fromOpaque(argument).takeRetainedValue()
  start.shared.serve(start.worker)
  return nil
}
