// SPDX-License-Identifier: MPL-2.0

internal import Dispatch
internal import Glibc
internal import Synchronization

/// Another process of this program, which ends when this one does, in whatever way.
///
/// Its standard input is a pipe, and only this process has the other end: see ``Lifeline``. The
/// signal that Linux sends for a parent's death (`PR_SET_PDEATHSIG`) comes at the end of the thread
/// that started the child, and threads of Swift's pool end at any time.
package struct ChildProcess: Sendable {
  /// How a process has ended.
  package struct Result: Sendable {
    /// Its exit code, or 128 and the number of the signal that ended it.
    package let status: Int32
    /// The end of its standard error.
    package let errors: String
  }

  /// The most that is kept of a child's messages, in bytes.
  private static let limit = 1 << 16

  /// Held while a process is started: one that is started between the calls for a pipe and for its
  /// flag would keep the pipe open.
  private static let starting = Mutex(())

  private let process: pid_t
  private let lifeline: Int32
  private let messages: Int32

  /// Starts this program.
  ///
  /// - Throws: a ``PartError`` if the system refuses another process.
  package init(_ arguments: [String]) throws(PartError) {
    (process, lifeline, messages) = try Self.starting.withLock { _ throws(PartError) in
      try Self.start(arguments)
    }
  }

  /// Returns the process, the end of its standard input, and that of its standard error.
  private static func start(
    _ arguments: [String]
  ) throws(PartError) -> (process: pid_t, lifeline: Int32, messages: Int32) {
    var (input, errors): ([Int32], [Int32]) = ([-1, -1], [-1, -1])
    guard pipe(&input) == 0 else { throw failure(errno) }
    guard pipe(&errors) == 0 else {
      let code = errno
      for end in input { close(end) }
      throw failure(code)
    }
    for end in input + errors { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_adddup2(&actions, input[0], STDIN_FILENO)
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0)
    posix_spawn_file_actions_adddup2(&actions, errors[1], STDERR_FILENO)
    var words = (["gst-spatial"] + arguments).map { strdup($0) } + [nil]
    defer { for word in words { free(word) } }
    var settings = environment.map { strdup($0) } + [nil]
    defer { for setting in settings { free(setting) } }
    // A group of its own: Ctrl-C would let a conversion end early, as if it were complete.
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETPGROUP))
    var process = pid_t()
    let code = posix_spawn(
      &process, "/proc/self/exe", &actions, &attributes, &words, &settings)
    close(input[0])
    close(errors[1])
    guard code == 0 else {
      close(input[1])
      close(errors[0])
      throw failure(code)
    }
    return (process, input[1], errors[0])
  }

  /// The environment of this process, with the variable that makes a child watch its lifeline.
  private static var environment: [String] {
    var settings: [String] = []
    var place = environ
    while let setting = place.pointee {
      settings.append(String(cString: setting))
      place += 1
    }
    return settings.filter { !$0.hasPrefix(Lifeline.variable + "=") } + ["\(Lifeline.variable)=1"]
  }

  private static func failure(_ code: Int32) -> PartError {
    PartError(.repeatable, "another process cannot be started: \(String(cString: strerror(code)))")
  }

  /// Waits until the process has ended. Call it once.
  package func result() async -> Result {
    await withCheckedContinuation { continuation in
      DispatchQueue.global().async { continuation.resume(returning: wait()) }
    }
  }

  private func wait() -> Result {
    var text: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 4096)
    while true {
      let count = read(messages, &chunk, chunk.count)
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { break }
      text += chunk[..<count]
      if text.count > Self.limit { text.removeFirst(text.count - Self.limit) }
    }
    close(messages)
    var status: Int32 = 0
    while waitpid(process, &status, 0) < 0, errno == EINTR {}
    close(lifeline)
    let signal = status & 0x7F
    return Result(
      status: signal == 0 ? status >> 8 & 0xFF : 128 + signal,
      errors: String(decoding: text, as: UTF8.self))
  }
}

/// The end of a child together with the process that started it.
package enum Lifeline {
  /// The variable of the environment that says that standard input is a lifeline.
  static let variable = "GST_SPATIAL_LIFELINE"

  /// Whether a ``ChildProcess`` started this process: it is then ended, never asked to end early.
  package static let isChild = getenv(variable) != nil

  /// Ends this process when its parent has ended, if a ``ChildProcess`` started it.
  package static func watch() {
    guard isChild else { return }
    unsetenv(variable)
    var thread = pthread_t()
    let code = pthread_create(
      &thread, nil,
      { _ in
        var byte: UInt8 = 0
        while true {
          let count = read(STDIN_FILENO, &byte, 1)
          if count > 0 || count < 0 && errno == EINTR { continue }
          // What is being written keeps the name of an incomplete file.
          _exit(128 + SIGHUP)
        }
      }, nil)
    if code == 0 { pthread_detach(thread) }
  }
}
