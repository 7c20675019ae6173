// SPDX-License-Identifier: MPL-2.0

/// The time after which a test gives up what does not come, in seconds. It is for hangs alone, and
/// no limit of speed.
public let hangLimit = 300.0 * machineSlowness

/// Returns when `isTrue` holds, which is looked at again and again. It is for what tells nobody
/// when it changes: files, other processes, the kernel's counts.
///
/// - Throws: a `Failure` that names `what` after ``hangLimit``, and what `isTrue` throws.
public func eventually(
  _ what: @autoclosure () -> String, _ isTrue: () async throws -> Bool
) async throws {
  let end = ContinuousClock.now + .seconds(hangLimit)
  while try await !isTrue() {
    guard ContinuousClock.now < end else { throw Failure("this did not come: \(what())") }
    try await Task.sleep(for: .milliseconds(10))
  }
}
