// SPDX-License-Identifier: MPL-2.0

internal import CX265

#if canImport(Darwin)
  internal import Darwin
#else
  internal import Glibc

  /// The processors on which a thread may run.
  ///
  /// libx265 binds its threads to all processors of a NUMA node, also to those that the process was
  /// forbidden by `taskset`, a batch system or a container's `cpuset`.
  package struct ThreadAffinity: Equatable {
    /// A bit for each processor.
    private var words: [UInt]

    /// Enough for 65,536 processors; the kernel refuses less than it has.
    private static let wordCount = 65536 / UInt.bitWidth

    /// The affinity of the calling thread; nil if the system does not tell.
    package static var current: ThreadAffinity? { ThreadAffinity(thread: 0) }

    /// The affinity of a thread of this process, or of the calling one for 0; nil if there is no
    /// such thread.
    package init?(thread: Int32) {
      var words = [UInt](repeating: 0, count: Self.wordCount)
      let size = words.count * MemoryLayout<UInt>.size
      let result = words.withUnsafeMutableBytes { bytes in
        cx265_get_affinity(thread, bytes.baseAddress, size)
      }
      guard result == 0 else { return nil }
      self.words = words
    }

    /// The number of processors.
    package var count: Int { words.reduce(0) { $0 + $1.nonzeroBitCount } }

    /// Whether all processors are also in `other`.
    package func isSubset(of other: ThreadAffinity) -> Bool {
      zip(words, other.words).allSatisfy { $0 & ~$1 == 0 }
    }

    /// Binds a thread of this process; one that has ended is ignored.
    private func bind(thread: Int32) {
      words.withUnsafeBytes { bytes in
        _ = cx265_set_affinity(thread, bytes.baseAddress, bytes.count)
      }
    }

    /// The numbers of all threads of this process.
    package static var threads: Set<Int32> {
      guard let folder = opendir("/proc/self/task") else { return [] }
      defer { closedir(folder) }
      var threads: Set<Int32> = []
      while let entry = readdir(folder) {
        let name = withUnsafePointer(to: &entry.pointee.d_name) {
          $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
        }
        if let number = Int32(name) { threads.insert(number) }
      }
      return threads
    }

    /// Binds the threads that are not in `others` to these processors, unless they are bound to
    /// some of these already.
    package func bind(threadsBut others: Set<Int32>) {
      for thread in Self.threads.subtracting(others) {
        guard let bound = ThreadAffinity(thread: thread), !bound.isSubset(of: self) else {
          continue
        }
        bind(thread: thread)
      }
    }
  }
#endif

/// Keeps the threads of an encoder on the processors of the thread that opens it.
///
/// libx265's threads bind themselves to a NUMA node when they start. On a busy machine, that may be
/// long after the encoder was opened and the first pictures are coded: they are put back with the
/// first pictures, and then from time to time.
struct ThreadConfinement {
  #if !canImport(Darwin)
    private let affinity: ThreadAffinity
    private let others: Set<Int32>
  #endif
  /// How often `apply` was called.
  private var calls = 0

  /// Remembers the threads that are not the encoder's; nil if the calling thread may run
  /// everywhere.
  init?() {
    #if canImport(Darwin)
      return nil
    #else
      guard let affinity = ThreadAffinity.current,
        affinity.count < sysconf(Int32(_SC_NPROCESSORS_ONLN))
      else { return nil }
      self.affinity = affinity
      others = ThreadAffinity.threads
    #endif
  }

  /// Puts the encoder's threads back, at each of the first calls and every 16th after them.
  mutating func apply() {
    calls &+= 1
    guard calls <= 4 || calls % 16 == 0 else { return }
    #if !canImport(Darwin)
      affinity.bind(threadsBut: others)
    #endif
  }
}
