// SPDX-License-Identifier: MPL-2.0

internal import Dispatch
internal import Glibc
internal import Synchronization

/// Keeps a server's copy of a folder in which a stream grows: new segments are written first, then
/// the playlists that list them, and files that have left the folder are deleted.
///
/// The folder is the queue: whatever writes it never waits for the server, and a server that is
/// away for a while gets all that is still there. Segments that left the folder in the meantime,
/// and those that the server does not take, are gaps in its playlists.
///
/// ```swift
/// let push = try StreamPush(folder: "live", to: [HTTPPushServer("https://example.org/live")])
/// await push.run { event in print(event) }
/// ```
public final class StreamPush: Sendable {
  /// The files and requests since the start.
  public struct Counts: Equatable, Sendable {
    /// Files written, playlists included.
    public var files = 0
    /// Their size.
    public var bytes = 0
    /// Files deleted.
    public var deleted = 0
    /// Requests that failed and were made again.
    public var retries = 0
    /// Segments and parts that the server never gets.
    public var lost = 0
    /// Segments and parts that wait for the server at present.
    public var waiting = 0
    /// Whether the server takes nothing at present.
    public var isInterrupted = false

    /// Creates counts of nothing.
    public init() {}
  }

  /// Something to tell the user.
  public enum Event: Equatable, Sendable {
    /// The server takes nothing at present; it is tried again.
    case interrupted(reason: String)
    /// It takes files again.
    case resumed
    /// The server never gets a segment.
    case lost(path: String, reason: String)
    /// A playlist cannot be written, or a file not deleted.
    case refused(path: String, reason: String)
    /// The folder cannot be read.
    case missingFolder
    /// The stream has parts, so the server must hold requests for them.
    case hasParts
  }

  /// The outcome of a round.
  package enum Round: Equatable {
    /// The server has everything.
    case complete
    /// The server has everything, and the stream is over.
    case ended
    /// A file has left the folder during the round, so its lists are old.
    case outdated
    case failed
  }

  /// The absolute path of the folder.
  public let folder: String
  private let servers: [any PushServer]
  private let state = Mutex(State())
  private let shared = Mutex(Shared())
  private let watch = FolderWatch()

  /// The state of rounds.
  private struct State {
    /// Tags of the media files that the server has, by path.
    var sent: [[String]: String] = [:]
    /// Tags of those that it never gets.
    var lost: [[String]: String] = [:]
    /// How often a file was answered with a failure; five times as much if the server took others.
    var failures: [[String]: Int] = [:]
    /// Media files that have been seen, and not been sent.
    var waiting: Set<[String]> = []
    /// The lists that the server has.
    var lists: [[String]: String] = [:]
    /// Lists that the server does not take.
    var refused: [[String]: String] = [:]
    var hasMissed = false
    var hasToldParts = false
  }

  private struct Shared {
    var counts = Counts()
    var isStopping = false
  }

  /// The failures after which a file is given up: 12 rounds, for more than a minute, if the server
  /// takes others, and 60 if it does not, as a proxy answers while its server starts again.
  private static let patience = 60
  private static let otherwise = 5
  /// Number of failures in a row after which no further file is tried in a round.
  private static let longestRow = 4
  /// The longest time between rounds after failures, in milliseconds.
  private static let longestPause = 8000
  /// Maximum size of a file, in bytes, as each is in memory while it is sent.
  private static let largestFile: UInt64 = 1 << 30

  /// Prepares to follow a folder.
  ///
  /// - Parameters:
  ///   - folder: The path of a folder.
  ///   - servers: Connections to the server, which are used at the same time; at least one.
  /// - Throws: A ``FileError`` if there is no such folder.
  public init(folder: String, to servers: [any PushServer]) throws(FileError) {
    guard let path = realpath(folder, nil) else { throw FileError(code: errno) }
    defer { free(path) }
    self.folder = String(cString: path)
    self.servers = servers
    guard PushedFolder(self.folder) != nil else { throw FileError(code: ENOTDIR) }
  }

  /// The numbers at present.
  public var counts: Counts { shared.withLock { $0.counts } }

  /// Ends ``run(report:)`` after the files that are there.
  public func stop() { shared.withLock { $0.isStopping = true } }

  private var isStopping: Bool { shared.withLock { $0.isStopping } }

  /// Follows the folder until the stream is over or the run is stopped.
  ///
  /// - Parameter report: Called with each event, from one thread at a time.
  /// - Returns: Whether the server has everything.
  public func run(report: @escaping @Sendable (Event) -> Void) async -> Bool {
    var pause = 0
    while true {
      let generation = watch.generation
      let isLast = isStopping
      let round = await Self.blocking { self.round(report: report) }
      if round == .outdated { continue }
      if round == .ended || isLast { return round != .failed }
      pause = round == .failed ? min(max(pause * 2, 250), Self.longestPause) : 0
      let deadline = ContinuousClock.now + .milliseconds(max(pause, 2000))
      if pause > 0 {
        shared.withLock { $0.counts.retries += 1 }
        let end = ContinuousClock.now + .milliseconds(pause)
        while ContinuousClock.now < end, !isStopping {
          try? await Task.sleep(for: .milliseconds(50))
        }
      } else {
        while watch.generation == generation, !isStopping,
          await watch.change(since: generation, until: deadline)
        {}
      }
    }
  }

  /// Runs blocking calls in a thread of their own.
  private static func blocking<Result: Sendable>(
    _ body: @escaping @Sendable () -> Result
  ) async -> Result {
    await withCheckedContinuation { continuation in
      DispatchQueue.global().async { continuation.resume(returning: body()) }
    }
  }

  // MARK: A round

  /// Brings the server up to date with the folder as it is now.
  package func round(report: (Event) -> Void) -> Round {
    state.withLock { state in
      // Lists are read before the folder is looked at, so that what they list is there.
      let lists = PushedFolder(folder)?.lists.compactMap(playlist)
      guard let lists, let now = PushedFolder(folder) else {
        if !state.hasMissed { report(.missingFolder) }
        state.hasMissed = true
        return .failed
      }
      state.hasMissed = false
      for path in now.folders { watch.watch(path) }
      if !state.hasToldParts, lists.contains(where: \.hasParts) {
        state.hasToldParts = true
        report(.hasParts)
      }
      let (problem, isOutdated) = sendMedia(now.media, &state, report)
      guard !isOutdated else { return .outdated }
      let failure =
        problem ?? sendLists(lists, &state, report) ?? deleteOthers(now, &state, report)
      tell(failure, waiting: state.waiting.count, report)
      guard failure == nil else { return .failed }
      let segments = lists.filter { $0.rank == 0 }
      return !segments.isEmpty && segments.allSatisfy(\.hasEnded) ? .ended : .complete
    }
  }

  private func tell(_ failure: String?, waiting: Int, _ report: (Event) -> Void) {
    let before = shared.withLock { shared in
      defer {
        shared.counts.isInterrupted = failure != nil
        shared.counts.waiting = waiting
      }
      return shared.counts.isInterrupted
    }
    if let failure, !before { report(.interrupted(reason: failure)) }
    if failure == nil, before { report(.resumed) }
  }

  /// Sends segments, parts and initialization sections that the server does not have.
  ///
  /// - Returns: The reason why some of them have to be sent again; whether one has left the folder.
  private func sendMedia(
    _ files: [PushedFolder.File], _ state: inout State, _ report: (Event) -> Void
  ) -> (failure: String?, isOutdated: Bool) {
    func lose(_ path: [String], _ reason: String) {
      state.waiting.remove(path)
      state.failures[path] = nil
      shared.withLock { $0.counts.lost += 1 }
      report(.lost(path: path.joined(separator: "/"), reason: reason))
    }
    let paths = Set(files.map(\.path))
    for path in state.waiting.subtracting(paths).sorted(by: { $0.lexicographicallyPrecedes($1) }) {
      lose(path, "it left the folder before the server took it")
    }
    state.lost = state.lost.filter { paths.contains($0.key) }
    let new = files.filter { state.sent[$0.path] != $0.tag && state.lost[$0.path] != $0.tag }
    state.waiting.formUnion(new.map(\.path))
    shared.withLock { $0.counts.waiting = state.waiting.count }
    var failure: String?
    var isOutdated = false
    let answers = send(new.map(\.path))
    let weight = answers.contains(.done) ? Self.otherwise : 1
    for (file, answer) in zip(new, answers) {
      switch answer {
      case .done:
        state.sent[file.path] = file.tag
        state.waiting.remove(file.path)
        state.failures[file.path] = nil
      case .failed(let reason, let isAnswered):
        let count = state.failures[file.path, default: 0] + (isAnswered ? weight : 0)
        state.failures[file.path] = count
        guard count >= Self.patience else {
          failure = failure ?? reason
          continue
        }
        state.lost[file.path] = file.tag
        lose(file.path, reason)
      case .refused(let reason):
        state.lost[file.path] = file.tag
        lose(file.path, reason)
      case nil where access(([folder] + file.path).joined(separator: "/"), F_OK) == 0:
        state.lost[file.path] = file.tag
        lose(file.path, "it cannot be read, or is larger than 1 GiB")
      // The next round counts it.
      case nil: isOutdated = true
      }
    }
    return (failure, isOutdated)
  }

  /// Sends files over all connections, until it is clear that the server takes none; the answers
  /// are nil for those that are not there any more.
  private func send(_ paths: [[String]]) -> [PushAnswer?] {
    struct Work {
      var next = 0
      var answers: [PushAnswer?]
      var isOver = false
      /// Number of failures since a file was taken.
      var row = 0
    }
    let work = Mutex(Work(answers: Array(repeating: nil, count: paths.count)))
    DispatchQueue.concurrentPerform(iterations: min(servers.count, paths.count)) { index in
      while true {
        let next = work.withLock { work -> Int? in
          guard !work.isOver, work.next < paths.count else { return nil }
          defer { work.next += 1 }
          return work.next
        }
        guard let next else { return }
        let answer = read(paths[next]).map { put($0, to: paths[next], by: servers[index]) }
        work.withLock { work in
          work.answers[next] = answer
          guard case .failed(_, let isAnswered) = answer else {
            work.row = 0
            return
          }
          work.row += 1
          if !isAnswered || work.row >= Self.longestRow { work.isOver = true }
        }
      }
    }
    return work.withLock { work in
      guard work.isOver else { return work.answers }
      // The reason for all others is that of the first one that failed.
      let reason = work.answers.lazy.compactMap {
        if case .failed(let reason, _) = $0 { reason } else { nil }
      }.first
      return work.answers.map { $0 ?? .failed(reason: reason ?? "", isAnswered: false) }
    }
  }

  private func put(_ bytes: [UInt8], to path: [String], by server: any PushServer) -> PushAnswer {
    let answer = server.put(bytes, to: path)
    guard answer == .done else { return answer }
    shared.withLock { shared in
      shared.counts.files += 1
      shared.counts.bytes += bytes.count
    }
    return answer
  }

  /// Sends the lists that have changed; returns why one has to be sent again.
  private func sendLists(
    _ lists: [PushedPlaylist], _ state: inout State, _ report: (Event) -> Void
  ) -> String? {
    guard let server = servers.first else { return nil }
    for list in lists.sorted(by: { $0.rank < $1.rank }) {
      let text = list.marked { state.sent[$0] != nil }
      guard state.lists[list.path] != text, state.refused[list.path] != text else { continue }
      switch put(Array(text.utf8), to: list.path, by: server) {
      case .done: state.lists[list.path] = text
      case .failed(let reason, _): return reason
      case .refused(let reason):
        // Of a list that grows, once.
        if state.refused[list.path] == nil {
          report(.refused(path: list.path.joined(separator: "/"), reason: reason))
        }
        state.refused[list.path] = text
      }
    }
    return nil
  }

  /// Deletes the files that have left the folder; returns why that has to be tried again.
  private func deleteOthers(
    _ now: PushedFolder, _ state: inout State, _ report: (Event) -> Void
  ) -> String? {
    guard let server = servers.first else { return nil }
    let (media, lists) = (Set(now.media.map(\.path)), Set(now.lists.map(\.path)))
    let gone =
      state.lists.keys.filter { !lists.contains($0) }
      + state.sent.keys.filter { !media.contains($0) }
    for path in gone.sorted(by: { $0.lexicographicallyPrecedes($1) }) {
      switch server.delete(path) {
      case .done: shared.withLock { $0.counts.deleted += 1 }
      case .failed(let reason, let isAnswered):
        let count = state.failures[path, default: 0] + (isAnswered ? Self.otherwise : 0)
        state.failures[path] = count
        guard count >= Self.patience else { return reason }
        report(.refused(path: path.joined(separator: "/"), reason: reason))
      case .refused(let reason):
        report(.refused(path: path.joined(separator: "/"), reason: reason))
      }
      state.failures[path] = nil
      state.lists[path] = nil
      state.sent[path] = nil
    }
    return nil
  }

  private func read(_ path: [String]) -> [UInt8]? {
    guard let file = OpenFile(path, in: folder), file.size <= Self.largestFile else { return nil }
    return try? file.read(0..<file.size)
  }

  private func playlist(_ file: PushedFolder.File) -> PushedPlaylist? {
    read(file.path).map {
      PushedPlaylist(path: file.path, text: String(decoding: $0, as: UTF8.self))
    }
  }
}
