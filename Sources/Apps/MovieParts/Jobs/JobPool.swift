// SPDX-License-Identifier: MPL-2.0

internal import Glibc

/// A number of jobs at a time, each in a process of its own.
package enum JobPool {
  /// The exit code of ``PartError/Kind/final``, and of mistakes: trying again mends nothing.
  private static let finalStatus: Int32 = 2
  private static let existsStatus: Int32 = 3
  /// The exit code of wrong usage.
  private static let usageStatus: Int32 = 64

  /// The number of conversions that suit this machine: one for each 8 cores, up to 1080p an eye, or
  /// for each 4 GiB of memory, whichever is less.
  ///
  /// One conversion cannot keep more than 16 cores busy at 1080p, and about half of that in
  /// practice.
  package static var suitableCount: Int {
    let cores = Int(sysconf(Int32(_SC_NPROCESSORS_ONLN)))
    let pages = sysconf(Int32(_SC_PHYS_PAGES))
    let size = sysconf(Int32(_SC_PAGESIZE))
    let memory = pages.multipliedReportingOverflow(by: size).partialValue >> 32
    return max(1, min(cores / 8, Int(memory)))
  }

  /// Runs jobs in order, and waits for all of them.
  ///
  /// - Parameters:
  ///   - count: the number of jobs.
  ///   - limit: how many run at a time.
  ///   - tries: how often a job is tried whose process says that trying again may help.
  ///   - stopsAtFailure: whether no further job starts after one that has failed.
  ///   - arguments: returns the command line of a job; nil if there is nothing to do for it.
  ///   - ended: called with each result, one at a time.
  package static func run(
    count: Int, limit: Int, tries: Int, stopsAtFailure: Bool,
    arguments: @escaping @Sendable (Int) -> [String]?,
    ended: @escaping @Sendable (Int, Result<ChildProcess.Result, PartError>) -> Void
  ) async {
    let state = JobState(count: count)
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<max(1, min(limit, count)) {
        group.addTask {
          while let job = await state.next() {
            guard let line = arguments(job) else { continue }
            let result = await run(line, tries: tries)
            let hasFailed = (try? result.get().status) != 0
            if hasFailed, stopsAtFailure { await state.stop() }
            await state.report { ended(job, result) }
          }
        }
      }
    }
  }

  private static func run(
    _ line: [String], tries: Int
  ) async -> Result<ChildProcess.Result, PartError> {
    var last: Result<ChildProcess.Result, PartError> = .failure(
      PartError(.repeatable, "the process was not started"))
    for _ in 0..<tries {
      do throws(PartError) {
        let result = await (try ChildProcess(line)).result()
        last = .success(result)
        // What a signal has ended is not tried again: a person or the system wants it to end.
        let isOver = [0, finalStatus, existsStatus, usageStatus].contains(result.status)
        if isOver || result.status > 128 { return last }
      } catch {
        last = .failure(error)
      }
    }
    return last
  }
}

/// Which job is next.
private actor JobState {
  private let count: Int
  private var position = 0
  private var isStopped = false

  init(count: Int) { self.count = count }

  func next() -> Int? {
    guard !isStopped, position < count else { return nil }
    defer { position += 1 }
    return position
  }

  func stop() { isStopped = true }

  func report(_ body: () -> Void) { body() }
}
