// SPDX-License-Identifier: MPL-2.0

internal import StereoVideo
internal import Synchronization

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Darwin)
  internal import Darwin
#endif

/// Threads that share the work of a frame and wait between frames.
final class WorkerPool {
  /// Number of threads, including the caller's.
  let count: Int
  private let shared: Shared
  private var threads: [pthread_t] = []

  /// Creates up to `count - 1` threads; fewer if the system refuses more.
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

  /// Runs `body` once for each job and waits for all of them. Its first argument is the thread
  /// number, below ``count``; the second is the job number.
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

  /// State shared by all threads.
  final class Shared: @unchecked Sendable {
    private struct Round {
      /// The number of the round of work.
      var number = 0
      /// How many threads are still working on it, without the caller's.
      var working = 0
      var isStopped = false
    }

    private let round = Monitor(Round())
    // Written before a round begins and read during it.
    private var jobs = 0
    private var body: ((Int, Int) -> Void)?
    private let next = Atomic<Int>(0)

    func begin(_ jobs: Int, workers: Int, _ body: @escaping (Int, Int) -> Void) {
      (self.jobs, self.body) = (jobs, body)
      next.store(0, ordering: .relaxed)
      round.change {
        $0.working = workers
        $0.number += 1
      }
    }

    func work(_ worker: Int) {
      while case let job = next.wrappingAdd(1, ordering: .relaxed).oldValue, job < jobs {
        body?(worker, job)
      }
    }

    /// Waits for the other threads.
    func finish() {
      round.wait { $0.working == 0 ? () : nil }
      body = nil
    }

    func stop() {
      round.change { $0.isStopped = true }
    }

    /// Works on each round until the pool is stopped.
    func serve(_ worker: Int) {
      var seen = 0
      while let number = round.wait(until: { round -> Int?? in
        if round.isStopped { return .some(nil) }
        guard round.number != seen else { return nil }
        return .some(round.number)
      }) {
        seen = number
        work(worker)
        let isLast = round.withLock {
          $0.working -= 1
          return $0.working == 0
        }
        if isLast { round.change { _ in } }
      }
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
