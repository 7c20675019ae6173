// SPDX-License-Identifier: MPL-2.0

internal import Foundation
internal import Glibc
internal import Synchronization
public import Testing

/// Has ``StreamRules`` check every stream of HLS that a test writes: the playlists each time that
/// they change, and all that the multivariant playlist names at the end of the test.
public struct CheckedStreams: TestTrait, SuiteTrait, TestScoping {
  public let isRecursive = true

  public func provideScope(
    for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
  ) async throws {
    let watches = StreamWatches()
    try await StreamWatches.$current.withValue(watches) { try await function() }
    for violation in watches.finish() { Issue.record("\(violation)") }
  }
}

extension Trait where Self == CheckedStreams {
  /// Every stream of HLS in a watched folder keeps the rules.
  public static var checkedStreams: CheckedStreams { CheckedStreams() }
}

/// The folders that the running test writes streams into.
public final class StreamWatches: Sendable {
  @TaskLocal public static var current: StreamWatches?

  private let watches = Mutex<[StreamWatch]>([])

  /// Watches a folder that is there or will be, until the end of the test.
  public func watch(_ place: String, in temporary: TemporaryFolder) {
    watches.withLock { $0.append(StreamWatch(place, temporary)) }
  }

  fileprivate func finish() -> [String] { watches.withLock { $0.flatMap { $0.finish() } } }
}

/// Reads the playlists of a folder whenever they change.
private final class StreamWatch: Sendable {
  private struct State {
    var rules = StreamRules()
    /// The watched folders by their numbers.
    var folders: [Int32: String] = [:]
    var hasFinished = false
  }

  private let place: URL
  private let temporary: TemporaryFolder
  private let state = Mutex(State())
  private let descriptor = inotify_init1(Int32(IN_NONBLOCK | IN_CLOEXEC))

  init(_ place: String, _ temporary: TemporaryFolder) {
    (self.place, self.temporary) = (URL(filePath: place), temporary)
    Thread.detachNewThread { [self] in
      while !isOver {
        var wait = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        // The folder itself may not be there yet.
        poll(&wait, 1, 50)
        look()
      }
      close(descriptor)
    }
  }

  private var isOver: Bool { state.withLock { $0.hasFinished } }

  /// Checks all that is there at the end; returns the rules that were broken.
  func finish() -> [String] {
    look()
    return state.withLock { state in
      state.hasFinished = true
      let files: StreamRules.Files = { self.bytes($0) }
      let lists = playlists()
      let isComplete = lists.allSatisfy { !$0.isMedia || $0.text.contains("\n#EXT-X-ENDLIST\n") }
      for list in lists where !list.isMedia {
        state.rules.check(presentation: list.path, isComplete: isComplete, files: files)
      }
      return state.rules.violations
    }
  }

  private func look() {
    state.withLock { state in
      guard !state.hasFinished else { return }
      for path in removedPlaylists(state.folders) { state.rules.forget(path) }
      watchFolders(&state.folders)
      for list in playlists() where list.isMedia {
        let before = state.rules
        state.rules.reload(list.path, list.text) { self.bytes($0) }
        // Files may be gone as the playlist is not the newest any more.
        guard bytes(list.path) != Array(list.text.utf8) else { continue }
        state.rules = before
        state.rules.reload(list.path, list.text)
      }
    }
  }

  private func bytes(_ path: String) -> [UInt8]? {
    (try? Data(contentsOf: place.appending(path: path))).map { Array($0) }
  }

  private func playlists() -> [(path: String, text: String, isMedia: Bool)] {
    let names = (try? FileManager.default.subpathsOfDirectory(atPath: place.path)) ?? []
    return names.filter { $0.hasSuffix(".m3u8") }.sorted().compactMap { path in
      bytes(path).map { bytes in
        let text = String(decoding: bytes, as: UTF8.self)
        return (path, text, !text.contains("#EXT-X-STREAM-INF"))
      }
    }
  }

  // MARK: Changes

  private func watchFolders(_ folders: inout [Int32: String]) {
    let names = (try? FileManager.default.subpathsOfDirectory(atPath: place.path)) ?? []
    for name in [""] + names.filter({ !$0.contains(".") }) {
      let number = inotify_add_watch(
        descriptor, place.appending(path: name).path,
        UInt32(IN_MOVED_TO | IN_CLOSE_WRITE | IN_DELETE | IN_CREATE))
      if number >= 0 { folders[number] = name }
    }
  }

  /// Takes the pending events.
  private func removedPlaylists(_ folders: [Int32: String]) -> [String] {
    var removed: [String] = []
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while true {
      let count = read(descriptor, &buffer, buffer.count)
      guard count > 0 else { return removed }
      buffer.withUnsafeBytes { bytes in
        var place = 0
        while place + 16 <= count {
          let number = bytes.loadUnaligned(fromByteOffset: place, as: Int32.self)
          let mask = bytes.loadUnaligned(fromByteOffset: place + 4, as: UInt32.self)
          let length = Int(bytes.loadUnaligned(fromByteOffset: place + 12, as: UInt32.self))
          let name = String(
            decoding: bytes[(place + 16)..<(place + 16 + length)].prefix { $0 != 0 }, as: UTF8.self)
          if mask & UInt32(IN_DELETE) != 0, let folder = folders[number] {
            removed.append(folder.isEmpty ? name : folder + "/" + name)
          }
          place += 16 + length
        }
      }
    }
  }
}
